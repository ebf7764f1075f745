# SPDX-License-Identifier: Apache-2.0
"""Limits of untrusted files and bytes: degree and memory.

What a file holds can be counted before it is read: a part of this machine's memory is the limit. What bytes only claim
(tables of a set, an archive unpacked) is held to a fixed one, whatever the machine has.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from ringsmith import _native
from ringsmith.errors import InputError

#: Largest ring degree of a parameter set that is read from bytes.
MAX_DEGREE = _native.MAX_DEGREE
#: Most bytes that the tables of one parameter set may take, and what a small archive may unpack to.
MAX_MEMORY = _native.MAX_MEMORY
#: Sets every memory limit: a number of bytes.
VARIABLE = "RINGSMITH_MAX_MEMORY"
#: A file may take the machine's memory divided by this: what is made of it stands beside its bytes.
_PARTS = 2
#: An archive may unpack to its bytes times this.
_UNPACKED = 4
#: Where Linux says what a container may take.
_CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def max_memory() -> int:
    """Return the limit of what a few bytes can ask for: $RINGSMITH_MAX_MEMORY bytes, or 256 MiB."""
    return _asked() or MAX_MEMORY


def max_file() -> int:
    """Return the limit for the bytes of a file: $RINGSMITH_MAX_MEMORY, or half of the memory that this machine, or the
    container, has, and never below 256 MiB."""
    return _asked() or max(MAX_MEMORY, _machine() // _PARTS)


def max_unpacked(length: int) -> int:
    """Return the limit of what `length` bytes of an archive unpack to: $RINGSMITH_MAX_MEMORY, or four times as much
    within the limit for files, and never below 256 MiB."""
    return _asked() or max(MAX_MEMORY, min(_UNPACKED * length, max_file()))


def _asked() -> int | None:
    """Return what the environment asks for."""
    text = os.environ.get(VARIABLE)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) > 0):
        raise InputError(f"{VARIABLE}={text[:40]!r}: a number of bytes, such as {MAX_MEMORY}")
    return int(text)


@cache
def _machine() -> int:
    """Return the bytes of memory that this machine, or the container, has; 0 where the system does not say."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
    for path in _CONTAINER:
        with suppress(OSError, ValueError):
            found = min(found, int(path.read_text("ascii")))
    return max(found, 0)
