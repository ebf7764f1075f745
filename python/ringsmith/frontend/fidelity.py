# SPDX-License-Identifier: Apache-2.0
"""Polynomials held against the functions that they stand for, on the values of a run in the clear.

`watching` notes how far each polynomial is from its function on the very values that it gets; `functions_themselves`
computes with the functions instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Function = Callable[[Array], Array]

# A stated error is the largest on many points; between them, beside a kink, it may be up to twice as large.
_BETWEEN = 2.0
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Use:
    """One evaluation of a polynomial: its stated error, and the largest found on `values` values.

    `in_gap` counts those inside the gap of a function with a jump, where nothing is stated.
    """

    name: str
    values: int
    stated: float
    found: float
    holds: bool
    in_gap: int

    def json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return dict(vars(self))


@dataclass
class _Watch:
    uses: list[Use]
    themselves: bool


_WATCH: ContextVar[_Watch | None] = ContextVar("fidelity", default=None)


@contextmanager
def watching() -> Iterator[list[Use]]:
    """Note every evaluation of a polynomial on known numbers."""
    uses: list[Use] = []
    token = _WATCH.set(_Watch(uses, themselves=False))
    try:
        yield uses
    finally:
        _WATCH.reset(token)


@contextmanager
def functions_themselves() -> Iterator[None]:
    """Evaluate functions instead of their polynomials on known numbers.

    Arguments that leave the interval, which the errors of polynomials before may bring about, are cut to it.
    """
    token = _WATCH.set(_Watch([], themselves=True))
    try:
        yield
    finally:
        _WATCH.reset(token)


def instead(function: Function | None, x: Array, low: float, high: float) -> Array | None:
    """Return a function's own values where they are asked for, else None."""
    watch = _WATCH.get()
    return function(np.clip(x, low, high)) if function is not None and watch is not None and watch.themselves else None


def note(name: str, function: Function | None, stated: float, x: Array, polynomial: Array, gap: float = 0.0) -> None:
    """Hold a polynomial's values against its function's, where a run watches."""
    watch = _WATCH.get()
    if watch is None or function is None or not x.size:
        return
    own, held = function(x), np.abs(x) >= gap
    found = float(np.abs(own - polynomial)[held].max(initial=0.0))
    room = _BETWEEN * stated + _ROUNDING * max(1.0, float(np.abs(own).max()))
    watch.uses.append(Use(name, x.size, stated, found, found <= room, int((~held).sum())))
