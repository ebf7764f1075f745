# SPDX-License-Identifier: Apache-2.0
"""Encrypt the query, each coordinate in every slot: `client_encode_encrypt_query SIZE`."""

import numpy as np
from layout import stage
from similarity import BLOCK, SIZES
from sizes import RECORDS

import ringsmith as rs

if __name__ == "__main__":
    with stage(SIZES) as folders:
        query = np.fromfile(folders.data / "query.bin", np.float32).clip(-1, 1).astype(np.float64)
        everywhere = np.tile(query, (min(RECORDS[folders.size][0], BLOCK), 1))
        rs.load(folders.secret / "block.rsc").encrypt_part(query=everywhere).save(folders.upload / "query.bin")
