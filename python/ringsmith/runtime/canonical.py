# SPDX-License-Identifier: Apache-2.0
"""One string of bytes for a value, whatever process, hash seed, numpy version or machine it comes from; and its hash.

```
value   tag and content                         value   tag and content
None    n                                       str     s, length, UTF-8
bool    b, one byte                             bytes   y, length, bytes
int     i, length, decimal digits               tuple   t, count, items (lists alike)
float   f, 8 bytes (IEEE, little-endian)        dict    d, count, key and value, keys rising
array   a, its shape as a tuple, then its elements: F and 8 bytes each, or I and 8 bytes each, or a tuple of integers
```
Lengths and counts take 8 bytes, little-endian.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes of a hash.
DIGEST_BYTES = 16


def digest(value: Any) -> bytes:
    """Return the hash of a value."""
    state = hashlib.sha256()
    for chunk in chunks(value):
        state.update(chunk)
    return state.digest()[:DIGEST_BYTES]


def chunks(value: Any) -> Iterator[bytes]:
    """Return the value's bytes, piece by piece."""
    match value:
        case None:
            yield b"n"
        case bool() | np.bool_():
            yield b"b" + bytes([bool(value)])
        case int() | np.integer():
            yield _counted(b"i", str(int(value)).encode())
        case float() | np.floating():
            yield b"f" + struct.pack("<d", value)
        case str():
            yield _counted(b"s", value.encode())
        case bytes():
            yield _counted(b"y", value)
        case tuple() | list():
            yield from _items(b"t", value)
        case Mapping():
            yield from _items(b"d", [part for key in sorted(value) for part in (key, value[key])])
        case np.ndarray():
            yield b"a"
            yield from chunks(value.shape)
            yield from _elements(value)
        case _:
            raise TypeError(f"a {type(value).__name__} has no canonical bytes")


def _counted(tag: bytes, content: bytes) -> bytes:
    return tag + struct.pack("<Q", len(content)) + content


def _items(tag: bytes, items: tuple[Any, ...] | list[Any]) -> Iterator[bytes]:
    yield tag + struct.pack("<Q", len(items))
    for item in items:
        yield from chunks(item)


def _elements(array: NDArray[Any]) -> Iterator[bytes]:
    """Return the elements row by row: doubles, or integers of 64 bits where all fit, or one by one."""
    if array.dtype.kind == "f":
        yield b"F" + np.ascontiguousarray(array, dtype="<f8").tobytes()
    elif _fits(array):
        yield b"I" + np.ascontiguousarray(array, dtype="<i8").tobytes()
    else:
        yield from chunks(array.reshape(-1).tolist())


def _fits(array: NDArray[Any]) -> bool:
    """Return whether every element is an integer of 64 bits."""
    if array.dtype.kind in "bi":
        return True
    return all(isinstance(item, int) and -(2**63) <= item < 2**63 for item in array.reshape(-1).tolist())
