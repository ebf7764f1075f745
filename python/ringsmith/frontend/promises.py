# SPDX-License-Identifier: Apache-2.0
"""Promises about ranges (`rs.within`) held against known numbers.

A traced kernel's promise is about every element, so a larger one is an error on the spot. A manual kernel's is about
the values that matter later: it is false if cutting what exceeds it changes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import KernelError
from ringsmith.ir.evaluate import broken_promise
from ringsmith.location import here


@dataclass
class _Manual:
    """Mode of a manual kernel: cut values, or only note which promises they exceed."""

    cut: bool
    broken: list[KernelError] = field(default_factory=list)


_MANUAL: ContextVar[_Manual | None] = ContextVar("manual", default=None)


def kept(x: Any, bound: float) -> Any:
    """Return x after holding the promise |x| <= bound against it."""
    broken = broken_promise(np.asarray(x), bound)
    if broken is None:
        return x
    error, manual = KernelError(broken, here()), _MANUAL.get()
    if manual is None:
        raise error
    manual.broken.append(error)
    return np.clip(x, -bound, bound) if manual.cut else x


def manual_result(compute: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Return a manual kernel's clear result; refuse it if it depends on a value that breaks a promise."""
    with _manual(cut=False) as noted:
        result = compute()
    if noted.broken:
        with _manual(cut=True):
            other = compute()
        if not np.array_equal(result, other):
            raise noted.broken[0]
    return result


@contextmanager
def _manual(*, cut: bool) -> Iterator[_Manual]:
    state = _Manual(cut)
    token = _MANUAL.set(state)
    try:
        yield state
    finally:
        _MANUAL.reset(token)
