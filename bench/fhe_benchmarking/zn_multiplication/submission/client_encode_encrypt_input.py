# SPDX-License-Identifier: Apache-2.0
"""Encrypt the remainders of the factors: `client_encode_encrypt_input SIZE`."""

import numpy as np
from layout import stage
from product import MESSAGE, PRIMES, SIZES, messages
from sizes import PAIRS

import ringsmith as rs

if __name__ == "__main__":
    with stage(SIZES) as folders:
        split = np.load(folders.between / "remainders.npy", mmap_mode="r")
        pairs = PAIRS[folders.size]
        for number in range(len(PRIMES)):
            client = rs.load(folders.secret / f"{number}.rsc")
            for place, part in enumerate(messages(pairs)):
                values = np.zeros((2, min(pairs, MESSAGE)), np.int64)
                values[:, : part.stop - part.start] = split[number, :, part]
                client.encrypt(x=values[0], y=values[1]).save(folders.upload / f"{number}-{place}.ct")
