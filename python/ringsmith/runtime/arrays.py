# SPDX-License-Identifier: Apache-2.0
"""Arrays of numpy's file formats, from bytes that a stranger may have written: nothing is allocated on their word."""

from __future__ import annotations

import io
import math
import struct
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.limits import VARIABLE

Array = NDArray[Any]

#: Members of an archive, and bytes of its table of contents.
MAX_MEMBERS = 256
_MAX_CONTENTS = 1 << 16
_END_OF_CONTENTS = b"PK\x05\x06"


def array_of(data: bytes, name: str = "") -> Array:
    """Return the array of a .npy file's bytes, which must have exactly as many values as its header says.

    Raises:
        ValueError: it holds no numbers or another number of bytes; also whatever numpy says of a broken header.
    """
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)  # type: ignore[no-untyped-call]
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"format version {version[0]}.{version[1]}; 1.0 to 3.0 are read")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read(stream)  # type: ignore[no-untyped-call]
    label = f"{name}: " if name else ""
    if dtype.kind not in "bifuc":
        raise ValueError(f"{label}holds {dtype}, numbers are needed")
    held, wanted = len(data) - stream.tell(), math.prod(shape) * dtype.itemsize
    if held != wanted or min(shape, default=0) < 0:
        raise ValueError(f"{label}shape {shape} of {dtype} takes {wanted} bytes, the file has {held}")
    values = np.frombuffer(data, dtype, offset=stream.tell()) if held else np.empty(0, dtype)
    return values.reshape(shape, order="F" if by_columns else "C")


def archive_of(data: bytes, limit: int) -> dict[str, Array]:
    """Return the arrays of an .npz file's bytes by name; together they may take `limit` bytes unpacked.

    Raises:
        ValueError: too many members or bytes, or a member that `array_of` refuses; also what zipfile says of damage.
    """
    _check_contents(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        if len(members) > MAX_MEMBERS or size > limit:
            raise ValueError(
                f"{len(members)} arrays of {size} bytes unpacked; at most {MAX_MEMBERS} of {limit} are read; "
                f"raise {VARIABLE}"
            )
        names = [member.filename.removesuffix(".npy") for member in members]
        return {name: array_of(_unpacked(archive, member), name) for name, member in zip(names, members, strict=True)}


def _check_contents(data: bytes) -> None:
    """Refuse a table of contents whose entries alone would fill the memory."""
    end = data.rfind(_END_OF_CONTENTS)
    if end < 0 or len(data) < end + 22:
        raise ValueError("no table of contents")
    size = struct.unpack_from("<I", data, end + 12)[0]
    if size > _MAX_CONTENTS:
        raise ValueError(f"a table of contents of {size} bytes; at most {_MAX_CONTENTS} are read")


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a member's bytes; unpacking ends where its entry says that it should."""
    with archive.open(member) as file:
        data = file.read(member.file_size)
        if len(data) != member.file_size or file.read(1):
            raise ValueError(f"{member.filename}: unpacks to another size than its entry says")
    return data
