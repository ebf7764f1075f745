# SPDX-License-Identifier: Apache-2.0
"""Progress of a long compilation, told to whoever asked for it around the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Told in words what is being done now.
Told = Callable[[str], None]

_TOLD: ContextVar[Told | None] = ContextVar("told", default=None)


@contextmanager
def telling(told: Told | None) -> Iterator[None]:
    """Tell `told` what is done inside, in this thread; None: whoever was told before goes on being told."""
    token = _TOLD.set(told or _TOLD.get())
    try:
        yield
    finally:
        _TOLD.reset(token)


def tell(text: str) -> None:
    """Tell what is done now."""
    told = _TOLD.get()
    if told is not None:
        told(text)
