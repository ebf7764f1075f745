# SPDX-License-Identifier: Apache-2.0
"""A user's packing function as data: an index map where it only places elements, else its answers to probes.

An index map needs no function when it is sent, stored or hashed, and what a closure captured cannot change it later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.geometry import Index

Array = NDArray[Any]

#: Digits behind the point that answers are compared by: those after them depend on the build of numpy.
_DIGITS = 9
_PROBES = 2


@dataclass(frozen=True, eq=False)
class Placement:
    """Entry e of the result is element `gather[e]` of the argument (-1: zero); or None, and `trace` tells it apart."""

    gather: Index | None
    trace: Array | None


def placement(
    place: Callable[[Array], Array], shape: tuple[int, ...], low: float, high: float, dtype: Any
) -> Placement:
    """Probe a function of arrays of a shape; `low` and `high` bound the values it is made for."""
    probes = [_probe(number, shape, low, high).astype(dtype) for number in range(_PROBES)]
    answers = [np.asarray(place(probe)) for probe in probes]
    gather = _numbered(place, shape, dtype)
    if gather is not None and all(
        np.array_equal(answer, taken(gather, probe)) for answer, probe in zip(answers, probes, strict=True)
    ):
        return Placement(gather, None)
    return Placement(None, np.round(np.stack(answers).astype(np.float64), _DIGITS) + 0.0)


def taken(gather: Index, values: Array) -> Array:
    """Return the elements that an index map picks, zeros where it picks none."""
    return np.where(gather >= 0, values.reshape(-1)[gather], 0)


def _probe(number: int, shape: tuple[int, ...], low: float, high: float) -> Array:
    """Return values from `low` to `high` in no order; RandomState draws the same ones in every version of numpy."""
    drawn = np.random.RandomState(number).random_sample(shape)
    values = low + (high - low) * drawn
    return np.asarray(np.round(values) if number else values)


def _numbered(place: Callable[[Array], Array], shape: tuple[int, ...], dtype: Any) -> Index | None:
    """Return where the elements 1, 2, ... of an argument go; None unless that is all the function does."""
    count = int(np.prod(shape))
    try:
        found = np.asarray(place(np.arange(1, count + 1, dtype=dtype).reshape(shape)))
    except Exception:  # Numbers beyond its bounds may be more than a user's function takes.
        return None
    numbers = found.astype(np.intp)
    if (numbers != found).any() or (numbers < 0).any() or (numbers > count).any():
        return None
    return np.asarray(numbers - 1)
