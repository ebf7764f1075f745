# SPDX-License-Identifier: Apache-2.0
"""Frames of the serial host as bytes (rs_serial_pkg), by Python's own CRC-32."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from types import SimpleNamespace

from ringsmith.hw.serial_frames import constants

#: Markers, kinds and codes by their names in the package.
FRAME = SimpleNamespace(**constants())
HEADER = 11


def _crc(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def _frame(marker: int, code: int, sequence: int, length: int, address: int, data: bytes) -> bytes:
    fields = bytes([code, sequence, *length.to_bytes(2, "little"), *address.to_bytes(2, "little")])
    return bytes([marker]) + fields + _crc(fields) + (data + _crc(data) if data else b"")


def command(kind: int, sequence: int, *, address: int = 0, length: int = 0, data: bytes = b"") -> bytes:
    """A command; `length` of one without data."""
    return _frame(FRAME.Command, kind, sequence, len(data) or length, address, data)


def answer(code: int, sequence: int, data: bytes = b"") -> bytes:
    """An answer."""
    return _frame(FRAME.Answer, code, sequence, len(data), 0, data)


def entries(writes: list[tuple[int, int]]) -> bytes:
    """Data of a command that writes registers: address and value of each."""
    return b"".join(where.to_bytes(2, "little") + value.to_bytes(4, "little") for where, value in writes)


@dataclass(frozen=True)
class Reply:
    """An answer that was right to the bit."""

    code: int
    sequence: int
    data: bytes


def parse(raw: bytes) -> Reply:
    """Check an answer's bytes, marker first."""
    fields, tail = raw[1:7], raw[HEADER:]
    length = int.from_bytes(fields[2:4], "little")
    assert raw[:1] + raw[7:HEADER] == bytes([FRAME.Answer]) + _crc(fields), raw.hex(" ")
    assert fields[4:] == b"\0\0", raw.hex(" ")
    assert tail[length:] == (_crc(tail[:length]) if length else b""), raw.hex(" ")
    return Reply(fields[0], fields[1], tail[:length])


def answer_bytes(header: bytes) -> int:
    """Bytes of an answer, from its header's."""
    length = int.from_bytes(header[3:5], "little")
    return HEADER + (length + 4 if length else 0)
