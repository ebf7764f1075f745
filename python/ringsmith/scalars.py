# SPDX-License-Identifier: Apache-2.0
"""Kinds of single numbers. Python's and JSON's `true` is an int to `isinstance`, and is no number here."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import numpy as np

from ringsmith.errors import InputError


def is_int(value: Any) -> TypeGuard[int]:
    """Return whether a value is one of Python's whole numbers, as JSON and TOML have them."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_whole(value: Any) -> TypeGuard[int]:
    """Return whether a value is a whole number of Python or numpy."""
    return is_int(value) or isinstance(value, np.integer)


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a finite real number of Python or numpy."""
    return is_whole(value) or (isinstance(value, float | np.floating) and math.isfinite(value))


def whole(what: str, value: Any) -> int:
    """Return a whole number as Python's; InputError names what it is of."""
    if not is_whole(value):
        raise InputError(f"{what} {value!r}: a whole number is needed")
    return int(value)


def count(what: str, value: Any) -> int:
    """Return how many of something, 0 to 2^63 − 1; InputError names what it is of."""
    if not 0 <= whole(what, value) < 1 << 63:
        raise InputError(f"{what} {value!r}: a whole number from 0 to 2^63 − 1 is needed")
    return int(value)


def seconds(what: str, value: Any) -> float:
    """Return a duration, at least 0; InputError names what it is of."""
    if not is_number(value) or value < 0:
        raise InputError(f"{what} {value!r}: seconds, at least 0")
    return float(value)
