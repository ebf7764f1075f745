# SPDX-License-Identifier: Apache-2.0
"""The order of an adder's operands, in Yosys's RTLIL text.

A Xilinx carry cell takes one operand of its adder as it stands (DI, from port A) and the other through a LUT (S). Logic
in front of A costs LUTs of its own, in front of B none as long as it fits into that LUT. Addition commutes, so an
operand that a multiplexer or a gate computes belongs on B; Yosys leaves the order to chance.
"""

from __future__ import annotations

import re

# Bitwise cells: their output bit is a function of few bits, which a LUT behind them can take in.
_GATES = frozenset(f"${name}" for name in ("mux", "pmux", "bmux", "and", "or", "xor", "xnor", "not"))
_CELL = re.compile(r"^  cell (\S+) \S+$")
_OUTPUT = re.compile(r"^    connect \\Y (.*)$")
_OPERAND = re.compile(r"^    connect \\(A|B|BI) (.*)$")
_WIDTHS = re.compile(r"^    parameter \\([AB])_(WIDTH|SIGNED) (.*)$")
_WIRE = re.compile(r"[\\$]\S+")


def gates_behind_luts(text: str) -> str:
    """RTLIL in which no adder ($alu without inversion) has a computed operand on A beside a plain one on B."""
    lines = text.splitlines()
    computed: set[str] = set()
    start = 0
    for number, line in enumerate(lines):
        if line.startswith("module "):
            computed = set()
            start = number
        elif line == "end":
            _swap_in(lines, start, number, computed)
        elif match := _CELL.match(line):
            kind = match[1]
            for inner in _body(lines, number):
                if kind in _GATES and (output := _OUTPUT.match(lines[inner])):
                    computed.update(_WIRE.findall(output[1]))
    return "\n".join([*lines, ""])


def _body(lines: list[str], cell: int) -> range:
    """Line numbers of a cell's parameters and connections."""
    end = cell + 1
    while lines[end] != "  end":
        end += 1
    return range(cell + 1, end)


def _swap_in(lines: list[str], start: int, end: int, computed: set[str]) -> None:
    """Swap the operands of the adders of one module where it saves LUTs."""
    for number in range(start, end):
        match = _CELL.match(lines[number])
        if match is None or match[1] != "$alu":
            continue
        body = _body(lines, number)
        operands = {found[1]: found[2] for i in body if (found := _OPERAND.match(lines[i]))}
        if operands["BI"] == "1'0" and computed & _wires(operands["A"]) and not computed & _wires(operands["B"]):
            for i in body:
                lines[i] = _swapped(lines[i])


def _wires(signal: str) -> set[str]:
    return set(_WIRE.findall(signal))


def _swapped(line: str) -> str:
    other = {"A": "B", "B": "A"}
    if found := _WIDTHS.match(line):
        return f"    parameter \\{other[found[1]]}_{found[2]} {found[3]}"
    if (found := _OPERAND.match(line)) and found[1] in other:
        return f"    connect \\{other[found[1]]} {found[2]}"
    return line
