# SPDX-License-Identifier: Apache-2.0
"""Designs with more pins than a package has, for placement on ECP5: a register at each pin, all of them one chain.

```
clock, reset ──────────────┐
chain in ── register of each input ── design ── register of each output ── chain out
```
A register of the chain at an output takes that output's parity with the register before it, so nothing of the design
is unused. Every path of the design then begins and ends in a register, as behind the logic that it will stand beside.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

#: Names of the ports that stay pins.
_KEPT = ("clk_i", "rst_ni")
_TOP = "chained"
#: Truth table of A xor B in a LUT of four inputs, C and D tied to zero.
_PARITY = "0110" * 4
# A word of zeros and ones is a number; the space makes it a word.
_FF = {
    "CEMUX": "1 ", "CLKMUX": "CLK", "GSR": "DISABLED", "LSRMUX": "LSR", "REGSET": "RESET", "SRMODE": "LSR_OVER_CE"
}  # fmt: skip


def top_of(netlist: dict[str, Any]) -> str:
    """Return the name of a netlist's top."""
    modules: dict[str, Any] = netlist["modules"]
    return next(name for name, module in modules.items() if int(module["attributes"].get("top", "0"), 2))


def pins_of(netlist: dict[str, Any]) -> int:
    """Return the bits of all ports of a netlist's top."""
    return sum(len(port["bits"]) for port in netlist["modules"][top_of(netlist)]["ports"].values())


class _Chain:
    """The module around a design: nets are numbers, and the chain grows by its last net."""

    def __init__(self) -> None:
        self.cells: dict[str, Any] = {}
        self._nets = 1
        self.clock = self.net()
        self.last = self.first = self.net()

    def net(self) -> int:
        self._nets += 1
        return self._nets

    def nets(self, count: int) -> list[int]:
        return [self.net() for _ in range(count)]

    def cell(
        self, kind: str, parameters: dict[str, str], inputs: dict[str, int | str], output: tuple[str, int]
    ) -> None:
        self.cells[f"chain_{len(self.cells)}"] = {
            "hide_name": 0, "type": kind, "parameters": parameters, "attributes": {},
            "port_directions": {**dict.fromkeys(inputs, "input"), output[0]: "output"},
            "connections": {**{name: [net] for name, net in inputs.items()}, output[0]: [output[1]]},
        }  # fmt: skip

    def register(self, data: int, net: int) -> None:
        self.cell("TRELLIS_FF", _FF, {"CLK": self.clock, "DI": data, "LSR": "0"}, ("Q", net))
        self.last = net

    def drive(self, nets: Iterable[int]) -> None:
        """Put registers at inputs of the design."""
        for net in nets:
            self.register(self.last, net)

    def observe(self, nets: Iterable[int]) -> None:
        """Put registers at outputs of the design."""
        for net in nets:
            parity = self.net()
            inputs: dict[str, int | str] = {"A": net, "B": self.last, "C": "0", "D": "0"}
            self.cell("LUT4", {"INIT": _PARITY}, inputs, ("Z", parity))
            self.register(parity, self.net())


def behind_registers(netlist: dict[str, Any]) -> dict[str, Any]:
    """Return a netlist whose top has clock, reset, and the two ends of a chain of registers at all other pins."""
    name = top_of(netlist)
    design = netlist["modules"][name]
    chain = _Chain()
    connections: dict[str, list[int]] = {}
    kept: dict[str, Any] = {}
    directions = {port: facts["direction"] for port, facts in design["ports"].items()}
    for port, facts in design["ports"].items():
        clock = port == _KEPT[0]
        connections[port] = [chain.clock] if clock else chain.nets(len(facts["bits"]))
        if port in _KEPT:
            kept[port] = {"direction": "input", "bits": connections[port]}
    for port, nets in connections.items():
        if port not in _KEPT and directions[port] == "input":
            chain.drive(nets)
    for port, nets in connections.items():
        if directions[port] == "output":
            chain.observe(nets)
    chain.cells["design"] = {
        "hide_name": 0, "type": name, "parameters": {}, "attributes": {}, "port_directions": directions,
        "connections": connections,
    }  # fmt: skip
    ends = {
        "chain_i": {"direction": "input", "bits": [chain.first]},
        "chain_o": {"direction": "output", "bits": [chain.last]},
    }
    inner = {**design, "attributes": {key: value for key, value in design["attributes"].items() if key != "top"}}
    outer = {"attributes": {"top": "1".zfill(32)}, "ports": {**kept, **ends}, "cells": chain.cells, "netnames": {}}
    return {**netlist, "modules": {**netlist["modules"], name: inner, _TOP: outer}}
