# SPDX-License-Identifier: Apache-2.0
"""Take the trained weights as the kernel's plain arguments: `server_preprocess_model SIZE`."""

import numpy as np
from layout import stage
from model import SIZES

if __name__ == "__main__":
    with stage(SIZES) as folders:
        weights = np.load(folders.root / "model.npz")
        names = ("first", "shifts", "second", "offsets")
        plain = {name: weights[f"arr_{number}"].astype(np.float64) for number, name in enumerate(names)}
        np.savez(folders.prepared / "weights.npz", **plain)
