# SPDX-License-Identifier: Apache-2.0
"""Read the images and straighten them: `client_preprocess_input SIZE`."""

import numpy as np
from layout import stage
from model import PIXELS, SIZES, straightened

if __name__ == "__main__":
    with stage(SIZES) as folders:
        pixels = np.loadtxt(folders.data / "intermediate" / "test_pixels.txt", np.float32).reshape(-1, PIXELS)
        np.save(folders.between / "images.npy", straightened(pixels))
