# SPDX-License-Identifier: Apache-2.0
"""Real inputs for the kernels, from data sets that ship inside scikit-learn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_digits

Array = npt.NDArray[np.float64]


def patients(rows: int, columns: int) -> Array:
    """Measurements of the first breast-cancer patients, each scaled to [-1, 1] over the whole set."""
    table: Array = load_breast_cancer().data[:, :columns]
    low, high = table.min(axis=0), table.max(axis=0)
    return 2 * (table[:rows] - low) / (high - low) - 1


def pixels(count: int) -> Array:
    """The pixels of the first handwritten digits in a row, scaled to [0, 1]."""
    images: Array = load_digits().data
    return images.reshape(-1)[:count] / 16


def picture(side: int) -> Array:
    """A mosaic of handwritten digits cut to side x side pixels, scaled to [0, 1]."""
    tiles = -(-side // 8)
    images: Array = load_digits().images[: tiles * tiles]
    mosaic = images.reshape(tiles, tiles, 8, 8).swapaxes(1, 2).reshape(8 * tiles, 8 * tiles)
    return mosaic[:side, :side] / 16


def weights(rng: np.random.Generator, count: int) -> Array:
    """Weights of a linear model: normal, clipped to [-1, 1]."""
    return np.clip(rng.normal(0, 0.4, count), -1, 1)
