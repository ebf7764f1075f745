# SPDX-License-Identifier: Apache-2.0
"""The harness's side of Zn multiplication: random pairs, and a comparison word for word."""

from __future__ import annotations

import numpy as np
from layout import Folders
from sizes import PAIRS


def generate(folders: Folders, seed: int) -> None:
    """Write pairs of uniform integers of 64 bits and their products modulo 2^64."""
    rng = np.random.default_rng(seed)
    lhs, rhs = rng.integers(0, 2**64, (2, PAIRS[folders.size]), np.uint64)
    for name, values in (("lhs", lhs), ("rhs", rhs), ("expected", lhs * rhs)):
        np.savetxt(folders.data / f"{name}.txt", values, fmt="%u")


def verdict(folders: Folders) -> tuple[bool, str]:
    """Return whether every product is right, and the line that says so."""
    expected = np.loadtxt(folders.data / "expected.txt", np.uint64, ndmin=1)
    found = np.loadtxt(folders.io / "cleartext_output" / "out.txt", np.uint64, ndmin=1)
    if expected.shape != found.shape:
        return False, f"{len(found)} products in place of {len(expected)}"
    wrong = int((expected != found).sum())
    return wrong == 0, f"{len(expected) - wrong} of {len(expected)} products are right"
