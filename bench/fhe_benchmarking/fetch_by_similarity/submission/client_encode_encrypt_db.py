# SPDX-License-Identifier: Apache-2.0
"""Encrypt the records, and their payloads where they are fetched: `client_encode_encrypt_db SIZE [--count_only]`."""

import numpy as np
from layout import stage
from similarity import SCALE, SIZES, blocks, filled
from sizes import PAYLOAD, RECORDS

import ringsmith as rs

if __name__ == "__main__":
    with stage(SIZES) as folders:
        records = np.fromfile(folders.data / "db.bin", np.float32).reshape(-1, RECORDS[folders.size][1])
        payloads = np.fromfile(folders.data / "payloads.bin", np.int16).reshape(-1, PAYLOAD)
        client = rs.load(folders.secret / "block.rsc")
        for number, block in enumerate(blocks(folders.size)):
            # Rounded to single precision a unit vector's coordinate may be a little above 1.
            parts = {"records": filled(records[block].clip(-1, 1), folders.size)}
            if not folders.counted:
                parts["payloads"] = filled((payloads[block] + 1) / SCALE, folders.size)
            client.encrypt_part(**parts).save(folders.upload / f"db-{number}.ct")
