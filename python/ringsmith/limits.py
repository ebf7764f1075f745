# SPDX-License-Identifier: Apache-2.0
"""Limits of untrusted files and bytes: degree and memory. The numbers are the engine's."""

from __future__ import annotations

import os

from ringsmith import _native
from ringsmith.errors import InputError

#: Largest ring degree of a parameter set that is read from bytes.
MAX_DEGREE = _native.MAX_DEGREE
#: Most bytes that what is read from one file, or the tables of one parameter set, may take.
MAX_MEMORY = _native.MAX_MEMORY
#: Raises the memory limit for files: a number of bytes.
VARIABLE = "RINGSMITH_MAX_MEMORY"


def max_memory() -> int:
    """Return the memory limit for files: $RINGSMITH_MAX_MEMORY bytes, or the default."""
    text = os.environ.get(VARIABLE)
    if text is None:
        return MAX_MEMORY
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) > 0):
        raise InputError(f"{VARIABLE}={text[:40]!r}: a number of bytes, such as {MAX_MEMORY}")
    return int(text)
