# SPDX-License-Identifier: Apache-2.0
"""Routed netlists as cells that simulate: levels of pins without a wire, inverters, pads, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ringsmith.errors import InputError
from ringsmith.hw.board.routed import is_routed, read_netlist, unpacked


def _netlist(**cells: dict[str, Any]) -> dict[str, Any]:
    return {"modules": {"top": {"ports": {}, "cells": cells, "netnames": {"a": {"bits": [2, 3, 9]}}}}}


def _cell(kind: str, inputs: dict[str, list[Any]], outputs: dict[str, list[Any]], **parameters: str) -> dict[str, Any]:
    ways = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
    return {"type": kind, "parameters": parameters, "connections": inputs | outputs, "port_directions": ways}


def _only(cell: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = unpacked(_netlist(c=cell), "board")["modules"]["board"]["cells"]["c"]
    return made


def test_a_lut_reads_one_where_nothing_is_connected_and_the_others_zero() -> None:
    made = _only(
        _cell("TRELLIS_COMB", {"A": [2], "B": [], "D": [], "M": [], "FCI": []}, {"F": [3], "OFX": []}, INITVAL="1")
    )
    assert made["connections"] == {"A": [2], "B": ["1"], "D": ["1"], "M": ["0"], "FCI": ["0"], "F": [3]}
    assert made["parameters"]["Wide"] == "0"
    assert _only(_cell("TRELLIS_COMB", {"FXA": [2], "FXB": [3]}, {"OFX": [9]}))["parameters"]["Wide"] == "1"


def test_levels_and_inverters_are_said_by_parameters() -> None:
    ram = _cell(
        "DP16KD", {"CEA": [], "OCEA": [], "RSTA": [], "ADA0": [], "DIA0": [], "CLKA": [2], "CLKB": [3]}, {},
        CEAMUX="CEA", OCEAMUX="1 ", RSTAMUX="INV", ADA0MUX="0 ", CLKBMUX="INV", REGMODE_A="NOREG",
    )  # fmt: skip
    netlist = unpacked(_netlist(ram=ram), "board")["modules"]["board"]["cells"]
    pins = netlist["ram"]["connections"]
    (inverter,) = (cell for cell in netlist.values() if cell["type"] == "$_NOT_")
    assert inverter["connections"] == {"A": [3], "Y": [4]}
    assert pins == {
        "CEA": ["1"], "OCEA": ["1"], "RSTA": ["0"], "ADA0": ["0"], "DIA0": ["0"], "CLKA": [2], "CLKB": [4],
    }  # fmt: skip
    assert netlist["ram"]["parameters"] == {"REGMODE_A": "NOREG"}


@pytest.mark.parametrize(("choice", "wire"), [("0 ", [3]), ("1 ", [2])])
def test_a_flip_flop_reads_the_pin_that_its_slice_selects(choice: str, wire: list[int]) -> None:
    flip_flop = _cell("TRELLIS_FF", {"DI": [2], "M": [3], "CLK": [9], "LSR": []}, {"Q": [4]}, SD=choice, REGSET="SET")
    flip_flop["parameters"] |= {"CEMUX": "1 ", "LSRMUX": "LSR"}
    made = _only(flip_flop)
    assert made["connections"]["DI"] == wire
    assert (made["connections"]["CE"], made["connections"]["LSR"]) == (["1"], ["0"])
    assert made["parameters"] == {"REGSET": "SET", "CEMUX": "CE"}


def test_pads_and_global_buffers_are_wires() -> None:
    cells = unpacked(
        _netlist(
            i=_cell("TRELLIS_IO", {"I": []}, {"O": [3], "B": [2]}, DIR="INPUT"),
            o=_cell("TRELLIS_IO", {"I": [9]}, {"O": [], "B": [5]}, DIR="OUTPUT"),
            g=_cell("DCCA", {"CLKI": [3], "CE": []}, {"CLKO": [4]}),
            w=_cell("TRELLIS_COMB", {}, {}, MODE="RAMW_BLOCK"),
        ),
        "board",
    )["modules"]["board"]["cells"]
    assert {cell["type"] for cell in cells.values()} == {"$_BUF_"}
    assert sorted((cell["connections"]["A"][0], cell["connections"]["Y"][0]) for cell in cells.values()) == [
        (2, 3), (3, 4), (9, 5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (_cell("TRELLIS_COMB", {}, {}, MODE="NEW"), "the cell c is in the mode 'NEW'"),
        (_cell("TRELLIS_IO", {"I": [2]}, {"B": [3]}, DIR="BIDIR"), "the pad c is neither input nor output"),
    ],
)
def test_a_mode_without_a_model_is_refused(cell: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        unpacked(_netlist(c=cell), "board")


def test_several_modules_are_refused() -> None:
    cell = _cell("TRELLIS_COMB", {"A": [2]}, {"F": [3]})
    netlist = {"modules": {name: {"ports": {}, "cells": {"c": cell}} for name in "ab"}}
    with pytest.raises(InputError, match="one module, and here are 2"):
        unpacked(netlist, "board")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"modules": []}', '{"modules": {"a": 1}}'])
def test_a_file_that_is_no_netlist(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match="no netlist"):
        read_netlist(path)
    with pytest.raises(InputError, match="no such netlist"):
        read_netlist(tmp_path / "b.json")


def test_what_nextpnr_packed_is_told_from_what_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(_netlist(c=_cell("LUT4", {"A": [2]}, {"Z": [3]}))))
    assert not is_routed(read_netlist(path))
    assert is_routed(_netlist(c=_cell("TRELLIS_COMB", {"A": [2]}, {"F": [3]})))
