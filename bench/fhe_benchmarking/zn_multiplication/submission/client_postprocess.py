# SPDX-License-Identifier: Apache-2.0
"""Join the remainders to the products and write them modulo 2^64: `client_postprocess SIZE`."""

import numpy as np
from layout import stage
from product import SIZES, joined

if __name__ == "__main__":
    with stage(SIZES) as folders:
        answer = folders.io / "cleartext_output"
        answer.mkdir(exist_ok=True)
        np.savetxt(answer / "out.txt", joined(np.load(folders.between / "products.npy")), fmt="%u")
