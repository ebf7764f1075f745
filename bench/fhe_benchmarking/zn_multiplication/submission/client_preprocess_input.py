# SPDX-License-Identifier: Apache-2.0
"""Read the factors and write their remainders modulo each prime: `client_preprocess_input SIZE`."""

import numpy as np
from layout import stage
from product import PRIMES, SIZES, remainders

if __name__ == "__main__":
    with stage(SIZES) as folders:
        factors = [np.loadtxt(folders.data / f"{side}.txt", dtype=np.uint64, ndmin=1) for side in ("lhs", "rhs")]
        split = np.array([[remainders(values, prime) for values in factors] for prime in PRIMES])
        np.save(folders.between / "remainders.npy", split)
