# SPDX-License-Identifier: Apache-2.0
"""Decrypt the masked payloads or the number of each block: `client_decrypt_decode SIZE`."""

import numpy as np
from layout import stage
from similarity import SIZES, blocks

import ringsmith as rs

if __name__ == "__main__":
    with stage(SIZES) as folders:
        client = rs.load(folders.secret / "block.rsc")
        count = len(blocks(folders.size))
        answers = [client.decrypt(rs.load(folders.download / f"{number}.ct")) for number in range(count)]
        np.save(folders.between / "answers.npy", np.array(answers))
