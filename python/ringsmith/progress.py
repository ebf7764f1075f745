# SPDX-License-Identifier: Apache-2.0
"""Progress of a long call: to the function that `telling` was given around the call, else on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

#: Told in words what is being done now.
Told = Callable[[str], None]

_TOLD: ContextVar[Told | None] = ContextVar("told", default=None)
#: Seconds after which a call that is still running shows its line, and between two of its updates.
_QUIET, _UPDATE = 1.0, 0.5
_BACK, _CLEAR, _MOST = "\r", "\x1b[K", 100


@contextmanager
def telling(told: Told | None) -> Iterator[Told]:
    """Send the progress of this thread to `told` inside. None: to the enclosing `telling`, else to a line on standard
    error after one second, if that is a terminal."""
    told = told or _TOLD.get()
    if told is None and sys.stderr is not None and sys.stderr.isatty():
        with _line(sys.stderr) as told, _set(told):
            yield told
    else:
        with _set(told):
            yield told or _nothing


@contextmanager
def _set(told: Told | None) -> Iterator[None]:
    token = _TOLD.set(told)
    try:
        yield
    finally:
        _TOLD.reset(token)


def _nothing(_: str) -> None:
    pass


def tell(text: str) -> None:
    """Report what is done now to the reporter of this context, if there is one."""
    told = _TOLD.get()
    if told is not None:
        told(text)


@contextmanager
def _line(stream: TextIO) -> Iterator[Told]:
    """Show the last text and the seconds that passed, in one line that is cleared at the end."""
    now, done, start = [""], threading.Event(), time.monotonic()

    def show() -> None:
        wait = _QUIET
        while not done.wait(wait):
            stream.write(f"{_BACK}{now[0][:_MOST]}, {time.monotonic() - start:.0f} s{_CLEAR}")
            stream.flush()
            wait = _UPDATE
        if wait != _QUIET:
            stream.write(_BACK + _CLEAR)
            stream.flush()

    shown = threading.Thread(target=show, daemon=True)
    shown.start()
    try:
        yield lambda text: now.__setitem__(0, text)
    finally:
        done.set()
        shown.join()
