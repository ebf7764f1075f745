# SPDX-License-Identifier: Apache-2.0
"""Layouts of packed structs are read from the RTL's packages: widths, order, structs within structs."""

from __future__ import annotations

import pytest

from dv.structs import MEMORY, Pins, layouts, pack, unpack


class Handle:
    """A module that does not run: only its name."""

    def __init__(self, name: str) -> None:
        self._name = name


def bits(kind: str) -> int:
    return sum(width for _, width in layouts()[kind])


def test_widths_are_those_of_the_packages():
    assert [bits(kind) for kind in ("source_t", "operands_t", "units_t", "word_addr_t", "error_e")] == [6, 18, 4, 15, 4]
    assert bits("decoded_t") == 5 + 4 + 4 + 1 + 4 * 32 + sum(
        bits(f"{kind}_t") for kind in ("compute", "memory", "conversion")
    )
    # Several elements of a type are one field; fields of a struct within one have its name before theirs.
    assert layouts()["slot_read_t"] == (("en", 2), ("addr", 28), ("first", 1))
    assert [name for name, _ in layouts()["select_t"]][:4] == ["from.v", "from.u", "from.w", "v_bank"]


def test_the_first_field_is_the_highest():
    word = pack(MEMORY, {"load": 1, "buf_idx": 5})
    assert word == 1 << bits("memory_t") - 1 | 5
    assert unpack(MEMORY, word) == dict.fromkeys((name for name, _ in MEMORY), 0) | {"load": 1, "buf_idx": 5}


def test_a_field_that_is_not_there_is_named():
    with pytest.raises(KeyError, match="read_i has no field word2; it has valid, pair, from"):
        Pins(Handle("rs_slot_ports"))["read_i.word2"]
