# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces in their protobuf encoding, written directly.

A `Trace` is a list of `TracePacket`s (field 1): track descriptors (field 60), and begins and ends of slices (field 11).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

_SEQUENCE = 1
_BEGIN, _END = 1, 2


def trace(packets: Iterable[bytes]) -> bytes:
    """Return the bytes of a trace."""
    return b"".join(_message(1, packet) for packet in packets)


def process(uuid: int, name: str) -> bytes:
    """Return the packet of a process, which is a group of tracks."""
    return _descriptor(uuid, _text(2, name), _message(3, _number(1, uuid) + _text(6, name)))


def track(uuid: int, name: str, parent: int) -> bytes:
    """Return the packet of a track in a process."""
    return _descriptor(uuid, _text(2, name), _number(5, parent))


def part(
    uuid: int,
    name: str,
    kind: str,
    start_ns: float,
    end_ns: float,
    numbers: Mapping[str, int] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Iterator[bytes]:
    """Yield begin and end of a slice of a track, with its annotations."""
    notes = [_message(4, _text(10, key) + _number(3, value)) for key, value in (numbers or {}).items()]
    notes += [_message(4, _text(10, key) + _text(6, value)) for key, value in (texts or {}).items()]
    body = _number(9, _BEGIN) + _number(11, uuid) + _text(23, name) + _text(22, kind)
    yield _event(start_ns, body + b"".join(notes))
    yield _event(end_ns, _number(9, _END) + _number(11, uuid))


def _event(time_ns: float, body: bytes) -> bytes:
    return _number(8, round(time_ns)) + _number(10, _SEQUENCE) + _message(11, body)


def _descriptor(uuid: int, *fields: bytes) -> bytes:
    return _number(10, _SEQUENCE) + _message(60, _number(1, uuid) + b"".join(fields))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())
