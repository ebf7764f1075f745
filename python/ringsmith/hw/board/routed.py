# SPDX-License-Identifier: Apache-2.0
"""The netlist that nextpnr writes once it is routed, as one that simulates: what is packed into slices, and how.

Constants are in it as parameters (`CEMUX = "1 "`), inverters too (`RSTAMUX = "INV"`), pads and global buffers as cells.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError

Cell = dict[str, Any]
#: Cells that only pass a signal on: input and output.
_PASSED = {"DCCA": ("CLKI", "CLKO")}
#: Inputs of a LUT; one without a wire reads 1 on the device, which nextpnr counts on.
_LUT_INPUTS = ("A", "B", "C", "D")
#: What nextpnr's LUTs may be besides plain ones.
_MODES = ("LOGIC", "CCU2", "DPRAM", "RAMW_BLOCK")


def is_routed(netlist: dict[str, Any]) -> bool:
    """Return whether a netlist in JSON has nextpnr's packed cells."""
    cells = (cell for module in netlist["modules"].values() for cell in module.get("cells", {}).values())
    return any(cell["type"] == "TRELLIS_COMB" for cell in cells)


def read_netlist(path: Path) -> dict[str, Any]:
    """Read a netlist in JSON, Yosys's or nextpnr's. Raises InputError for any other file."""
    try:
        netlist = json.loads(path.read_text())
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such netlist; `ringsmith bitstream` writes NAME.json") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no netlist: {error}") from None
    modules = netlist.get("modules") if isinstance(netlist, dict) else None
    if not isinstance(modules, dict) or not all(isinstance(module, dict) for module in modules.values()):
        raise InputError(f"{path}: no netlist: it has no modules")
    return {"modules": modules}


def unpacked(netlist: dict[str, Any], top: str) -> dict[str, Any]:
    """Return a routed netlist with a module `top` of cells that have models (hw/harness/ecp5_slices.sv).

    Raises:
        InputError: it has several modules, or a cell in a mode that no netlist of ours has.
    """
    modules = [module for module in netlist["modules"].values() if module.get("cells")]
    if len(modules) != 1:
        raise InputError(f"a routed netlist is one module, and here are {len(modules)}")
    module, cells = modules[0], dict[str, Cell]()
    made = _Wires(1 + _last_wire(module), cells)
    for name, cell in module["cells"].items():
        if cell["type"] in _PASSED:
            source, target = _PASSED[cell["type"]]
            made.buffer(cell["connections"][source], cell["connections"][target])
        elif cell["type"] == "TRELLIS_IO":
            made.pad(name, cell)
        elif cell["parameters"].get("MODE") != "RAMW_BLOCK":
            cells[name] = made.modelled(name, cell)
    return {"modules": {top: {"attributes": {}, "ports": module["ports"], "cells": cells, "netnames": {}}}}


def _last_wire(module: dict[str, Any]) -> int:
    """Return the largest number of a wire."""
    wires = (bit for cell in module["cells"].values() for wire in cell["connections"].values() for bit in wire)
    return max((bit for bit in wires if isinstance(bit, int)), default=0)


class _Wires:
    """Buffers and inverters that are added to the cells of a netlist."""

    def __init__(self, first: int, cells: dict[str, Cell]) -> None:
        self._next = first
        self._cells = cells

    def buffer(self, source: list[Any], target: list[Any]) -> None:
        """Let a wire follow another."""
        self._gate("$_BUF_", source, target)

    def inverted(self, source: list[Any]) -> list[Any]:
        """Return the inverse of a wire."""
        target = [self._next]
        self._next += 1
        self._gate("$_NOT_", source, target)
        return target

    def _gate(self, kind: str, source: list[Any], target: list[Any]) -> None:
        self._cells[f"{kind}{len(self._cells)}"] = {
            "type": kind, "parameters": {}, "attributes": {}, "port_directions": {"A": "input", "Y": "output"},
            "connections": {"A": source, "Y": target},
        }  # fmt: skip

    def pad(self, name: str, cell: Cell) -> None:
        """Join a pin and what reads or drives it."""
        pins, way = cell["connections"], cell["parameters"].get("DIR")
        if way not in ("INPUT", "OUTPUT"):
            raise InputError(f"the pad {name} is neither input nor output but {way!r}: it has no model")
        self.buffer(*((pins["B"], pins["O"]) if way == "INPUT" else (pins["I"], pins["B"])))

    def modelled(self, name: str, cell: Cell) -> Cell:
        """Return a cell whose inputs are all wires or levels, with the parameters that its model has."""
        kind, given = cell["type"], {key: _text(value) for key, value in cell["parameters"].items()}
        if given.get("MODE", "LOGIC") not in _MODES:
            raise InputError(f"the cell {name} is in the mode {given['MODE']!r}: it has no model")
        pins = {pin: self._driven(kind, pin, wire, given) for pin, wire in cell["connections"].items()
                if cell["port_directions"][pin] == "input" or wire}  # fmt: skip
        kept = {key: value for key, value in given.items() if not key.endswith("MUX")}
        if kind == "TRELLIS_FF":
            kept, pins = _flip_flop(kept | {"CEMUX": "CE"}, pins)
        elif kind == "TRELLIS_COMB":
            kept["Wide"] = "1" if cell["connections"].get("FXA") else "0"
            pins = {pin: wire for pin, wire in pins.items() if pin not in ("DI0", "DI1")}
        elif kind == "MULT18X18D":
            pins = {pin: wire for pin, wire in pins.items() if not pin.startswith(("SRI", "CLK", "CE", "RST"))
                    or pin in ("CLK0", "CE0", "RST0")}  # fmt: skip
        return cell | {"parameters": kept, "attributes": {}, "connections": pins}

    def _driven(self, kind: str, pin: str, wire: list[Any], given: dict[str, str]) -> list[Any]:
        """Return what a pin is driven by: its wire, its inverse, or the level of one without a wire."""
        choice = given.get(f"{pin}MUX", "")
        if choice in ("0", "1"):
            return [choice]
        if wire:
            return self.inverted(wire) if choice == "INV" else wire
        # A pin that its multiplexer selects reads 1, but for a flip-flop's reset.
        is_high = pin in _LUT_INPUTS if kind == "TRELLIS_COMB" else choice == pin and pin != "LSR"
        return ["1" if is_high else "0"]


def _flip_flop(given: dict[str, str], pins: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return a flip-flop that reads what its slice selects: the LUT beside it, or the pin M."""
    selected = pins["M"] if given.pop("SD", "1") == "0" else pins["DI"]
    return given, {"CE": ["1"], "LSR": ["0"], **pins, "DI": selected, "M": ["0"]}


def _text(value: Any) -> str:
    """Return a parameter without the blank that keeps a text of digits from being read as a number."""
    return str(value).rstrip(" ")
