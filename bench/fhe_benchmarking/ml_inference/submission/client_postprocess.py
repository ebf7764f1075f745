# SPDX-License-Identifier: Apache-2.0
"""Write the digit with the largest score of each image: `client_postprocess SIZE`."""

import numpy as np
from layout import stage
from model import SIZES

if __name__ == "__main__":
    with stage(SIZES) as folders:
        digits = np.load(folders.between / "scores.npy").argmax(axis=1)
        np.savetxt(folders.io / "encrypted_model_predictions.txt", digits, fmt="%d")
