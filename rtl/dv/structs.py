# SPDX-License-Identifier: Apache-2.0
"""Packed structs of rs_core_pkg as the simulator shows them: one number, first field highest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Layout = Iterable[tuple[str, int]]

COMPUTE = (
    *((name, 1) for name in ("transform", "inverse", "cyclic", "crossed", "sub", "product", "constant", "first_work",
                             "stream")),
    *((name, 6) for name in ("v", "u", "w", "e")),
    ("dst", 5), ("high", 5), ("log2_n", 4), ("const_idx", 5),
)  # fmt: skip
MEMORY = (
    *((name, 1) for name in ("load", "store", "reverse", "table_dst", "stream")),
    ("src", 6), ("dst", 5), ("log2_n", 4), ("mod_idx", 4), ("buf_idx", 20),
)  # fmt: skip
CONVERSION = (
    ("moves", 1), ("automorphism", 1), ("x", 6), ("own", 6), ("dst", 5), ("log2_n", 4), ("entry", 5),
)  # fmt: skip
DECODED = (
    ("compute", 1), ("memory", 1), ("rns", 1), ("pointwise", 1), ("sync", 1), ("error", 4), ("mod_idx", 4),
    ("needs_table", 1),
    ("reads", 32), ("late", 32), ("writes", 32), ("works", 32),
    *((f"c.{name}", bits) for name, bits in COMPUTE),
    *((f"m.{name}", bits) for name, bits in MEMORY),
    *((f"r.{name}", bits) for name, bits in CONVERSION),
)  # fmt: skip

ZERO_SOURCE = 32
"""A source_t that reads as zero; below it, the slot's number."""


def pack(layout: Layout, values: Mapping[str, int]) -> int:
    """The number of a struct with the given fields, the others 0."""
    word, left = 0, dict(values)
    for name, bits in layout:
        value = int(left.pop(name, 0))
        assert value >> bits == 0, (name, value)
        word = word << bits | value
    assert not left, left
    return word


def unpack(layout: Layout, word: int) -> dict[str, int]:
    """The fields of a struct."""
    fields: dict[str, int] = {}
    for name, bits in reversed(list(layout)):
        fields[name] = word & (1 << bits) - 1
        word >>= bits
    assert word == 0
    return fields


def source(slot: int) -> int:
    """The source_t of a slot number of an instruction, 63 the zero slot."""
    return ZERO_SOURCE | 31 if slot == 63 else slot


def mask(*slots: int) -> int:
    """A mask with the bits of the slots, the zero slot left out."""
    return sum(1 << s for s in set(slots) if s < 32)
