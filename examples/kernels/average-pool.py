# SPDX-License-Identifier: Apache-2.0
"""coxHE's benchmark i: average pooling of an encrypted 20x20 picture by an encrypted 4x4 window, stride 4.

The paper leaves packing and stride open. Here the picture lies row after row in 400 slots, and the window is repeated
over it (the value at row i, column j is window[i mod 4, j mod 4]), so that one multiplication weighs every pixel. Four
rotations (by 1 and 2 slots along a row, by 20 and 40 down the rows) sum each window into its upper left corner.
"""

from __future__ import annotations

import numpy as np
from data import picture

import ringsmith as rs

SIDE, WINDOW = 20, 4


def sample(_rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A mosaic of handwritten digits and the averaging window."""
    return {"image": picture(SIDE), "window": np.full((WINDOW, WINDOW), 1 / WINDOW**2)}


def tiled(window: np.ndarray, _slots: int) -> np.ndarray:
    """One ciphertext: the window repeated over the whole picture."""
    return np.tile(window, (SIDE // WINDOW, SIDE // WINDOW)).reshape(1, -1)


def flat(image: np.ndarray, _slots: int) -> np.ndarray:
    """One ciphertext: the picture row after row."""
    return image.reshape(1, -1)


def corners(slots: np.ndarray) -> np.ndarray:
    """The upper left slot of each window."""
    return slots[0, : SIDE * SIDE].reshape(SIDE, SIDE)[::WINDOW, ::WINDOW]


def reference(image: np.ndarray, window: np.ndarray) -> np.ndarray:
    """The weighted mean of each window in the clear."""
    blocks = SIDE // WINDOW
    return np.einsum("aibj,ij->ab", image.reshape(blocks, WINDOW, blocks, WINDOW), window)


@rs.kernel(
    scheme="ckks",
    mode="manual",
    name="average-pool",
    variant="published",
    params="coxhe-8192-210",
    failure_bits=40,  # the paper's primes and scale have room for no more
    image=rs.Encrypted(SIDE, SIDE, bound=1.0, packing=flat),
    window=rs.Encrypted(WINDOW, WINDOW, bound=1.0, packing=tiled),
    output=rs.Output(SIDE // WINDOW, SIDE // WINDOW, packing=corners),
    tolerance=1e-3,
    sample=sample,
    reference=reference,
)
def published(image, window):
    """One multiplication, one relinearisation, one rescale, four rotations: 5 key switches."""
    total = rs.rescale(rs.relinearize(image[0] * window[0]))
    for step in (1, 2, SIDE, 2 * SIDE):
        total = total + rs.rotate(total, step)
    return total
