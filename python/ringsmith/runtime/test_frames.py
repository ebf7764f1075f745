# SPDX-License-Identifier: Apache-2.0
"""Frames: what was framed is read, and what is no frame is refused wherever it is cut."""

from __future__ import annotations

import contextlib
import random

import pytest

from ringsmith.errors import FormatError
from ringsmith.runtime import frames

MANY = [("a", 0, b""), ("job-1", 200, b"result"), ("x" * 255, 507, bytes(300))]


def body_of(many: list[tuple[str, int, bytes]]) -> bytes:
    return b"".join(frames.head(name, status, len(data)) + data for name, status, data in many)


def test_what_was_framed_is_read() -> None:
    body = body_of(MANY)
    read = [(name, status, body[start : start + length]) for name, status, start, length in frames.places(body)]
    assert read == MANY
    assert list(frames.places(b"")) == []


def test_the_bytes_are_those_of_the_text_above() -> None:
    assert frames.head("ab", 404, 3) == bytes([2, 0x94, 1, 3, 0, 0, 0]) + b"ab"


def test_every_cut_is_refused_or_ends_a_frame() -> None:
    body = body_of(MANY)
    ends = {len(body_of(MANY[:count])) for count in range(len(MANY) + 1)}
    for length in range(len(body)):
        if length in ends:
            list(frames.places(body[:length]))
            continue
        with pytest.raises(FormatError, match=r"frame [0-2]: .* (needed|are there)"):
            list(frames.places(body[:length]))


@pytest.mark.parametrize("name", [b"", b"\xff", b"caf\xc3\xa9"])
def test_names_are_ascii(name: bytes) -> None:
    with pytest.raises(FormatError, match="frame 0: its name has to be"):
        list(frames.places(bytes([len(name), 0, 0, 0, 0, 0, 0]) + name))


def test_noise_is_read_or_refused() -> None:
    dice = random.Random(5)
    for _ in range(2000):
        body = dice.randbytes(dice.randrange(40))
        with contextlib.suppress(FormatError):
            assert all(start + length <= len(body) for _, _, start, length in frames.places(body))
