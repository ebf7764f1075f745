# SPDX-License-Identifier: Apache-2.0
"""Known numbers as what a polynomial in place of a function takes: reals, and nothing traced."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import KernelError
from ringsmith.frontend.partwise import Partwise
from ringsmith.frontend.refusals import Refusing
from ringsmith.location import here


def known_reals(x: Any, name: str) -> NDArray[np.float64]:
    """Return known numbers as reals; refuse traced values of other kinds."""
    if isinstance(x, Refusing) and not isinstance(x, Partwise):
        raise KernelError(f"{name}: in a manual kernel evaluate the polynomial yourself, level by level", here())
    if isinstance(x, Partwise) or np.iscomplexobj(x):
        raise KernelError(f"{name}: of reals only; apply it to real and imaginary part", here())
    return np.asarray(x, dtype=np.float64)
