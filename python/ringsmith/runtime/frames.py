# SPDX-License-Identifier: Apache-2.0
"""Many named byte strings one behind the other: the body of a request of many jobs, and of its answer.

```
length of the name (1 byte) | status (2) | length of the data (4) | name, ASCII | data          little-endian
```
`status` is 0 on the way to the server, and an HTTP status on the way back.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ringsmith.errors import FormatError

_HEAD = struct.Struct("<BHI")
#: Bytes of a frame beside its name and data.
OVERHEAD = _HEAD.size


def head(name: str, status: int, length: int) -> bytes:
    """Return what stands before `length` bytes of data. `name`: 1 to 255 ASCII characters."""
    return _HEAD.pack(len(name), status, length) + name.encode("ascii")


def places(body: bytes | memoryview) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, status, start and length of each frame's data; FormatError for one cut short, or without a name."""
    view, place, number = memoryview(body), 0, 0
    while place < len(view):
        if place + OVERHEAD > len(view):
            raise FormatError(f"frame {number}: {len(view) - place} bytes where {OVERHEAD} of its head are needed")
        letters, status, length = _HEAD.unpack_from(view, place)
        start = place + OVERHEAD + letters
        if start + length > len(view):
            left = len(view) - place - OVERHEAD
            raise FormatError(f"frame {number}: {letters} + {length} bytes are announced, {left} are there")
        name = bytes(view[place + OVERHEAD : start])
        if not name or not name.isascii():
            raise FormatError(f"frame {number}: its name has to be 1 to 255 ASCII characters")
        yield name.decode("ascii"), status, start, length
        place, number = start + length, number + 1
