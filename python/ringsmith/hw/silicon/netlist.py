# SPDX-License-Identifier: Apache-2.0
"""A flat netlist of standard cells: read from Yosys's JSON, its large nets buffered, written as Verilog, evaluated.

Evaluation is bit-parallel: a net's values in 64 samples are one word, all cells of one kind and depth one operation.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ringsmith.errors import InputError, ToolError
from ringsmith.hw.silicon.library import Cell, Library
from ringsmith.hw.silicon.mapping import FANOUT, Mapped

Words = npt.NDArray[np.uint64]
# Nets of the constants.
LOW, HIGH = 0, 1
_CONSTANTS = {"0": LOW, "x": LOW, "z": LOW, "1": HIGH}
_FLATTENED = re.compile(r"\$flatten|\\")
MOST_LEVELS = 5000


@dataclass
class Instances:
    """All cells of one kind: places in the netlist's order, nets by pin."""

    cell: Cell
    places: npt.NDArray[np.int64]
    nets: dict[str, npt.NDArray[np.int64]]


@dataclass
class Box:
    """A memory, or an instance of a module mapped apart: path, module, nets of ports, lowest bit first, outputs."""

    path: str
    module: str
    ports: dict[str, list[int]]
    outputs: frozenset[str]


@dataclass
class Netlist:
    """Cells `kinds[i]` at `paths[i]` with nets `pins[i]`; nets are numbers below `nets`, the first two constants.

    `names` gives nets of the design's own names: name -> nets, lowest bit first.
    """

    top: str
    ports: dict[str, tuple[str, list[int]]]
    kinds: list[str]
    paths: list[str]
    pins: list[dict[str, int]]
    boxes: list[Box]
    names: dict[str, list[int]]
    nets: int
    library: Library
    by_kind: dict[str, Instances] = field(default_factory=dict)

    def group(self) -> dict[str, Instances]:
        """Cells by kind; call it when the netlist no longer changes."""
        if not self.by_kind:
            places: dict[str, list[int]] = defaultdict(list)
            for place, kind in enumerate(self.kinds):
                places[kind].append(place)
            for kind, listed in places.items():
                cell = self.library.cells[kind]
                pins = [*cell.inputs, *cell.functions]
                nets = {pin: np.array([self.pins[i].get(pin, LOW) for i in listed]) for pin in pins}
                # An output that leads nowhere has a net of its own, written and never read.
                for pin in cell.functions:
                    missing = [at for at, i in enumerate(listed) if pin not in self.pins[i]]
                    nets[pin][missing] = np.arange(self.nets, self.nets + len(missing))
                    self.nets += len(missing)
                self.by_kind[kind] = Instances(cell, np.array(listed), nets)
        return self.by_kind

    def count(self) -> Counter[str]:
        """Cells by kind."""
        return Counter(self.kinds)

    def sources(self) -> set[int]:
        """Nets that no gate drives: inputs of the top, flip-flops, outputs of memories."""
        found = {net for direction, bits in self.ports.values() if direction == "input" for net in bits}
        for box in self.boxes:
            found.update(net for port in box.outputs for net in box.ports[port])
        for kind, pins in zip(self.kinds, self.pins, strict=True):
            cell = self.library.cells[kind]
            if cell.sequential:
                found.update(pins[pin] for pin in cell.functions if pin in pins)
        return found - {LOW, HIGH}

    def evaluate(self, values: Words) -> None:
        """Fill in the nets of gates in `values` (nets by words of samples) from those of the sources.

        Raises:
            ToolError: gates go in a circle.
        """
        values[LOW], values[HIGH] = 0, ~np.uint64(0)
        for kind, chosen in self._order():
            found = self.group()[kind]
            inputs = {pin: values[found.nets[pin][chosen]] for pin in found.cell.inputs}
            for pin, text in found.cell.functions.items():
                values[found.nets[pin][chosen]] = evaluated(text, inputs)

    def _order(self) -> list[tuple[str, npt.NDArray[np.int64]]]:
        """Kinds of gates with the indices of those that come at the same depth, by depth."""
        gates = {kind: found for kind, found in self.group().items() if not found.cell.sequential}
        depth = np.zeros(self.nets, dtype=np.int64)
        own: dict[str, npt.NDArray[np.int64]] = {}
        for _ in range(MOST_LEVELS):
            changed = False
            for kind, found in gates.items():
                inputs = [depth[nets] for pin, nets in found.nets.items() if pin in found.cell.inputs]
                level = 1 + np.max(inputs, axis=0) if inputs else np.ones(len(found.places), dtype=np.int64)
                if kind not in own or not np.array_equal(own[kind], level):
                    own[kind], changed = level, True
                    for pin in found.cell.functions:
                        depth[found.nets[pin]] = level
            if not changed:
                break
        else:
            raise ToolError(f"{self.top}: gates of the netlist go in a circle")
        steps = [(int(level), kind) for kind, levels in own.items() for level in np.unique(levels)]
        return [(kind, np.flatnonzero(own[kind] == level)) for level, kind in sorted(steps)]

    def buffer_large_nets(self) -> int:
        """Split every net that more than FANOUT pins load, clocks apart, by a tree of buffers; returns their number."""
        cell = self.library.buffer()
        if cell is None:
            return 0
        (entry,), (exit_,) = cell.inputs, cell.functions
        loads: dict[int, list[tuple[int, str]]] = defaultdict(list)
        clocks = {self.pins[i][edge] for i, kind in enumerate(self.kinds) if (edge := self.library.cells[kind].edge[0])}
        for place, (kind, pins) in enumerate(zip(self.kinds, self.pins, strict=True)):
            for pin in self.library.cells[kind].inputs:
                if pins[pin] not in clocks:
                    loads[pins[pin]].append((place, pin))
        before = len(self.kinds)
        for net, listed in loads.items():
            if net in (LOW, HIGH):
                continue
            while len(listed) > FANOUT:
                above = []
                for start in range(0, len(listed), FANOUT):
                    group = listed[start : start + FANOUT]
                    for place, pin in group:
                        self.pins[place][pin] = self.nets
                    self.kinds.append(cell.name)
                    self.paths.append(self.paths[group[0][0]])
                    self.pins.append({entry: net, exit_: self.nets})
                    above.append((len(self.kinds) - 1, entry))
                    self.nets += 1
                listed = above
        return len(self.kinds) - before


def evaluated(text: str, pins: Mapping[str, Words]) -> Words:
    """The value of a cell's function, a text of `library.expression`, at the words of its pins."""
    result: Words = eval(text, {"__builtins__": {}}, {**pins, "K0": np.uint64(0), "K1": ~np.uint64(0)})
    return result


def read_netlist(mapped: Mapped, library: Library) -> Netlist:
    """The flat netlist of a mapped design.

    Raises:
        ToolError: it holds a cell that the library has not.
    """
    return read_module(mapped.folder / "netlist.json", mapped.top, mapped.memories, library)


def read_module(file: Path, top: str, boxes: Container[str], library: Library) -> Netlist:
    """A netlist of Yosys; modules in `boxes` are boxes of it.

    Raises:
        ToolError: it holds a cell that the library has not.
    """
    module: dict[str, Any] = json.loads(file.read_text())["modules"][top]
    numbers: dict[int | str, int] = dict(_CONSTANTS.items())

    def net(bit: int | str) -> int:
        return numbers.setdefault(bit, len(numbers) - len(_CONSTANTS) + 2)

    ports = {name: (port["direction"], [net(bit) for bit in port["bits"]]) for name, port in module["ports"].items()}
    found = Netlist(top, ports, [], [], [], [], {}, 0, library)
    for name, cell in module["cells"].items():
        nets = {port: [net(bit) for bit in bits] for port, bits in cell["connections"].items()}
        kind = cell["type"]
        path = _FLATTENED.sub("", name)
        if kind in boxes:
            outputs = frozenset(p for p, direction in cell["port_directions"].items() if direction == "output")
            found.boxes.append(Box(path, kind, nets, outputs))
        elif kind in library.cells:
            found.kinds.append(kind)
            found.paths.append(path)
            found.pins.append({pin: bits[0] for pin, bits in nets.items() if bits})
        else:
            raise ToolError(f"{top}: cell {kind} at {path} is not in library {library.name}")
    for name, wire in module["netnames"].items():
        if not name.startswith("$"):
            found.names[name] = _without_padding([net(bit) for bit in wire["bits"]])
    found.nets = len(numbers) - len(_CONSTANTS) + 2
    return found


def _without_padding(bits: list[int]) -> list[int]:
    """The bits up to the highest that is no constant.

    An array that becomes registers has a power of two of words in its wire; the design's own has as many as it needs.
    """
    while bits and bits[-1] in (LOW, HIGH):
        bits.pop()
    return bits


def write_structure(netlist: Netlist, path: Path, clock: str = "clk_i") -> None:
    """Verilog of instances g0, g1, … and nets n0, n1, …, for timing analysis.

    A memory is a flip-flop at each of its pins (s, t), and so is what drives an input (s), the clock apart, or a
    constant (c): OpenSTA 2.0.17 crashes over constant pins, and overwrites activities that it can compute from inputs.
    """
    flip_flop = next(c for c in netlist.library.cells.values() if c.sequential and c.edge[1] and len(c.inputs) == 2)
    clock_net = netlist.ports[clock][1][0]
    sources = {net for box in netlist.boxes for port in box.outputs for net in box.ports[port]}
    ties = []
    for name, (direction, bits) in netlist.ports.items():
        if direction == "input" and name != clock:
            sources.update(bits)
        else:
            ties.extend(_tied(name, direction, bits))
    sinks = {
        net for box in netlist.boxes for port, bits in box.ports.items() if port not in box.outputs for net in bits
    }
    (given,) = (pin for pin in flip_flop.inputs if pin != flip_flop.edge[0])
    output = next(iter(flip_flop.functions))
    lines = [_header(netlist, ",\n  input wire idle"), *(f"wire n{i};\n" for i in range(netlist.nets)), *ties]
    edge = f".{flip_flop.edge[0]}(n{clock_net})"
    lines.extend(f"{flip_flop.name} s{net} ({edge}, .{given}(idle), .{output}(n{net}));\n" for net in sorted(sources))
    constant = (LOW, HIGH)
    sinks -= {*constant, clock_net}
    lines.extend(f"{flip_flop.name} t{net} ({edge}, .{given}(n{net}));\n" for net in sorted(sinks))
    number = 0
    for place, (kind, pins) in enumerate(zip(netlist.kinds, netlist.pins, strict=True)):
        named = {pin: f"n{net}" for pin, net in pins.items()}
        for pin in [pin for pin, net in pins.items() if net in constant]:
            named[pin], number = f"k{number}", number + 1
            lines.append(f"wire {named[pin]};\n")
            lines.append(f"{flip_flop.name} c{number} ({edge}, .{given}(idle), .{output}({named[pin]}));\n")
        lines.append(f"{kind} g{place} ({', '.join(f'.{pin}({net})' for pin, net in named.items())});\n")
    path.write_text("".join([*lines, "endmodule\n"]))


def write_behaviour(netlist: Netlist, path: Path) -> None:
    """Verilog for simulation: a gate is its function, a flip-flop a register, a memory its module."""
    lines = [_header(netlist)]
    registers = []
    body = ["assign n0 = 1'b0;\nassign n1 = 1'b1;\n", _ties(netlist)]
    for kind, pins in zip(netlist.kinds, netlist.pins, strict=True):
        cell = netlist.library.cells[kind]
        named = {pin: f"n{net}" for pin, net in pins.items()}
        if not cell.sequential:
            for pin, text in cell.functions.items():
                if pin in named:
                    body.append(f"assign {named[pin]} = {_verilog(text, named)};\n")
            continue
        for pin, form in cell.functions.items():
            if pin in named:
                registers.append(named[pin])
                body.append(_register(cell, form, named, named[pin]))
    kept = set(registers)
    lines.extend(f"{'reg' if f'n{i}' in kept else 'wire'} n{i};\n" for i in range(netlist.nets))
    for place, box in enumerate(netlist.boxes):
        joined = ", ".join(
            f".{port}({{{', '.join(f'n{net}' for net in reversed(bits))}}})" for port, bits in box.ports.items() if bits
        )
        body.append(f"{box.module} m{place} ({joined});\n")
    path.write_text("".join([*lines, *body, "endmodule\n"]))


def _header(netlist: Netlist, extra: str = "") -> str:
    listed = (f"  {direction} wire [{len(bits) - 1}:0] {name}" for name, (direction, bits) in netlist.ports.items())
    return f"module {netlist.top} (\n" + ",\n".join(listed) + extra + "\n);\n"


def _ties(netlist: Netlist) -> str:
    """Ports and the nets of their bits."""
    return "".join(line for name, (way, bits) in netlist.ports.items() for line in _tied(name, way, bits))


def _tied(name: str, direction: str, bits: list[int]) -> list[str]:
    if direction == "input":
        return [f"assign n{net} = {name}[{at}];\n" for at, net in enumerate(bits)]
    return [f"assign {name}[{at}] = n{net};\n" for at, net in enumerate(bits)]


def _verilog(text: str, named: Mapping[str, str]) -> str:
    constants = {"K0": "1'b0", "K1": "1'b1"}
    return re.sub(r"[A-Za-z_]\w*", lambda m: constants.get(m[0]) or named.get(m[0], "1'b0"), text)


def _register(cell: Cell, form: str, named: Mapping[str, str], target: str) -> str:
    clock, rising = cell.edge
    inverted = "~" if form == "~Q" else ""
    edges = [f"{'posedge' if rising else 'negedge'} {named[clock]}"]
    branches = ""
    for text, value in zip(cell.asynchronous, ("1'b1", "1'b0"), strict=True):
        condition = _verilog(text, named)
        if re.fullmatch(r"[(~)]*1'b[01]\)*", condition):
            continue
        pin = re.fullmatch(r"\(?(~?)(n\d+)\)?", condition)
        if pin is None:
            raise InputError(f"cell {cell.name}: set and reset must be a pin or its inverse, got {text}")
        edges.append(f"{'negedge' if pin[1] else 'posedge'} {pin[2]}")
        branches += f"if ({condition}) {target} <= {inverted}{value}; else "
    state = f"{inverted}({_verilog(cell.state, named)})" if inverted else _verilog(cell.state, named)
    return f"always @({' or '.join(edges)}) {branches}{target} <= {state};\n"
