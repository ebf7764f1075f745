# SPDX-License-Identifier: Apache-2.0
"""Decrypt the remainders of the products: `client_decrypt_decode SIZE`."""

import numpy as np
from layout import stage
from product import PRIMES, SIZES, messages
from sizes import PAIRS

import ringsmith as rs

if __name__ == "__main__":
    with stage(SIZES) as folders:
        places = range(len(messages(PAIRS[folders.size])))
        parts = []
        for number in range(len(PRIMES)):
            client = rs.load(folders.secret / f"{number}.rsc")
            answers = [client.decrypt(rs.load(folders.download / f"{number}-{place}.ct")) for place in places]
            parts.append(np.concatenate(answers)[: PAIRS[folders.size]])
        np.save(folders.between / "products.npy", np.array(parts, np.int64))
