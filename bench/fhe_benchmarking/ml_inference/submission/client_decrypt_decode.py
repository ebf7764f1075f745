# SPDX-License-Identifier: Apache-2.0
"""Decrypt the scores: `client_decrypt_decode SIZE`."""

import numpy as np
from layout import stage
from model import DIGITS, SIZES, messages
from sizes import IMAGES

import ringsmith as rs

if __name__ == "__main__":
    with stage(SIZES) as folders:
        count = IMAGES[folders.size]
        client = rs.load(folders.secret / "scores.rsc")
        answers = [client.decrypt(rs.load(folders.download / f"{place}.ct")) for place in range(len(messages(count)))]
        np.save(folders.between / "scores.npy", np.concatenate(answers, axis=None).reshape(-1, DIGITS)[:count])
