# SPDX-License-Identifier: Apache-2.0
"""Encrypt the images, several in a message: `client_encode_encrypt_input SIZE`."""

import numpy as np
from layout import stage
from model import MESSAGE, PIXELS, SIZES, messages

import ringsmith as rs

if __name__ == "__main__":
    with stage(SIZES) as folders:
        images = np.load(folders.between / "images.npy").astype(np.float64)
        client = rs.load(folders.secret / "scores.rsc")
        for place, part in enumerate(messages(len(images))):
            block = np.zeros((MESSAGE, PIXELS))
            block[: part.stop - part.start] = images[part]
            client.encrypt(x=images[0] if len(images) == 1 else block).save(folders.upload / f"{place}.ct")
