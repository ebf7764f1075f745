# SPDX-License-Identifier: Apache-2.0
"""The header around every object of SEAL's, and the compression behind it.

| offset | bytes | field |
|---|---|---|
| 0 | 2 | magic 0xA15E |
| 2 | 1 | length of this header, 16 |
| 3 | 2 | version of SEAL: major, minor |
| 5 | 1 | compression of what follows: 0 none, 1 zlib, 2 zstd |
| 6 | 2 | 0 |
| 8 | 8 | length with this header |
"""

from __future__ import annotations

import importlib
import io
import struct
import zlib

from ringsmith.errors import FormatError, InputError
from ringsmith.extras import to_install
from ringsmith.interchange.cursor import Cursor
from ringsmith.limits import VARIABLE, max_unpacked

MAGIC = 0xA15E
SIZE = 16
#: The first version that is read, and the last major one. Written is 3.7, which every SEAL of 4 reads; one of 4.1 reads
#: no 4.0.
OLDEST, LAST_MAJOR = (3, 6), 4
WRITTEN = (3, 7)
LIBRARY = "SEAL"

_CHUNK = 1 << 20
#: Largest window of zstd that is taken, in bytes; SEAL's own limit is 2^23.
_WINDOW = 1 << 27


def is_seal(data: bytes) -> bool:
    """Whether bytes start as SEAL's do."""
    return len(data) >= SIZE and data[:3] == struct.pack("<HB", MAGIC, SIZE)


def opened(data: bytes | memoryview) -> Cursor:
    """Return the content of a file of one object, decompressed.

    Raises:
        FormatError: another version, a wrong length, damaged compression.
        InputError: zstd without its package, or more memory than may be taken.
    """
    cursor = Cursor(data, LIBRARY)
    version, compression, size = _header(cursor)
    body = cursor.take(size, "the object")
    cursor.finish()
    return _content(_decompressed(body, compression), version)


def nested(cursor: Cursor) -> Cursor:
    """Return the content of an object inside another one, which SEAL never compresses on its own."""
    version, compression, size = _header(cursor)
    if compression:
        raise cursor.fail("an object inside another one is compressed")
    return _content(cursor.take(size, "an object inside another one"), version)


def _content(body: bytes | memoryview, version: tuple[int, int]) -> Cursor:
    inner = Cursor(body, LIBRARY)
    inner.version = version
    return inner


def sealed(body: bytes) -> bytes:
    """Return an object of SEAL's, not compressed."""
    return struct.pack("<HBBBBHQ", MAGIC, SIZE, *WRITTEN, 0, 0, SIZE + len(body)) + body


def _header(cursor: Cursor) -> tuple[tuple[int, int], int, int]:
    """Return the version of SEAL, the compression and the bytes that follow."""
    magic, length, major, minor, compression, _, size = map(int, cursor.unpack("HBBBBHQ", "the header"))
    if (magic, length) != (MAGIC, SIZE):
        raise cursor.fail(f"no object of SEAL's: it starts with {magic:#06x}, not {MAGIC:#06x}")
    if not OLDEST <= (major, minor) < (LAST_MAJOR + 1, 0):
        raise cursor.fail(f"written by SEAL {major}.{minor}; those of SEAL 3.6 to {LAST_MAJOR} are read")
    if size < SIZE:
        raise cursor.fail(f"an object of {size} bytes, fewer than its header has")
    if compression > 2:
        raise cursor.fail(f"compression {compression}; allowed: 0 none, 1 zlib, 2 zstd")
    return (major, minor), compression, size - SIZE


def _decompressed(body: memoryview, compression: int) -> bytes | memoryview:
    match compression:
        case 0:
            return body
        case 1:
            return _inflated(body)
        case _:
            return _unzstd(body)


def _inflated(body: memoryview) -> bytes:
    limit = max_unpacked(len(body))
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(body, limit + 1)
    except zlib.error as error:
        raise FormatError(f"SEAL bytes: damaged zlib data: {error}") from None
    _check_size(len(data), limit)
    if not inflater.eof or inflater.unused_data:
        raise FormatError("SEAL bytes: damaged zlib data: it does not end where the object does")
    return data


def _unzstd(body: memoryview) -> bytes:
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        raise InputError(f"SEAL bytes compressed with zstd need the package zstandard: {to_install('seal')}") from None
    limit, parts, size = max_unpacked(len(body)), [], 0
    try:
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(io.BytesIO(body)) as reader:
            while part := reader.read(_CHUNK):
                parts.append(part)
                size += len(part)
                _check_size(size, limit)
    except zstandard.ZstdError as error:
        raise FormatError(f"SEAL bytes: damaged zstd data: {error}") from None
    return b"".join(parts)


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise InputError(f"SEAL bytes: more than the {limit} bytes that may be taken; raise {VARIABLE}")
