# SPDX-License-Identifier: Apache-2.0
"""What a liberty file says of its cells: area, pins, logic functions, flip-flops, whether it has power tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ringsmith.errors import InputError, ToolError
from ringsmith.files import read_text
from ringsmith.hw.synth.liberty import MAX_BYTES, check_liberty

# The open library that the figures rest on: 180 nm, 1.8 V, typical. A Debian package, as is the timing analyser.
OSU018 = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
PACKAGE = "qflow-tech-osu018"
_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|[(){};:,]|[^\s(){};:,"]+', re.S)
_WORD = re.compile(r"[A-Za-z_]\w*|[01]|[!'()&*|+^]|\s+|.", re.ASCII | re.S)


@dataclass
class Group:
    """A group of a liberty file: `kind(name) { … }`, attributes with their text, groups inside."""

    kind: str
    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)

    def all(self, kind: str) -> list[Group]:
        """The groups of a kind directly inside."""
        return [group for group in self.groups if group.kind == kind]


@dataclass(frozen=True)
class Cell:
    """A cell: area in the library's unit, inputs with their capacitance in its unit, functions of its outputs.

    `functions` are expressions of the inputs with `~ & | ^`, K0 and K1, which Python and Verilog read alike. A
    flip-flop has its function in `state` (the value after a clock edge), its output as `Q` or, inverted, `~Q`, and
    `edge` (the clock's pin, whether it rises); `asynchronous` names its set and reset expressions.
    """

    name: str
    area: float
    inputs: dict[str, float]
    functions: dict[str, str]
    state: str = ""
    edge: tuple[str, bool] = ("", True)
    asynchronous: tuple[str, str] = ("", "")
    drive: float = 0.0

    @property
    def sequential(self) -> bool:
        """Whether it is a flip-flop."""
        return bool(self.state)


@dataclass(frozen=True)
class Library:
    """A liberty file that is fit for power: name, voltage in V, cells by name, its unit of capacitance in F."""

    path: Path
    name: str
    voltage: float
    cells: dict[str, Cell]
    farad: float = 1e-12

    def buffer(self) -> Cell | None:
        """The buffer that drives most for its area, or None."""
        plain = [c for c in self.cells.values() if not c.sequential and list(c.functions.values()) == list(c.inputs)]
        return max(plain, key=lambda cell: cell.drive / max(cell.area, 1e-9), default=None)


def default_library() -> Path:
    """The open library, where its Debian package has put it.

    Raises:
        ToolError: it is not installed; the message names the package.
    """
    if not OSU018.is_file():
        raise ToolError(
            f"no cell library: install it (Debian and Ubuntu: apt install {PACKAGE}), or name --liberty FILE"
        )
    return OSU018


def load_library(path: Path) -> Library:
    """Read a liberty file and check that it serves for area, timing and power.

    Raises:
        InputError: it is no liberty file, or has no supply voltage, flip-flop, leakage or internal-power table.
    """
    check_liberty(path)
    top = _parse(read_text(path, MAX_BYTES), path)
    groups = top.all("cell")
    if not any(_has_power(group) for group in groups):
        raise InputError(f"{path}: no power tables: its cells have no internal_power group; take a library with power")
    if not any("cell_leakage_power" in group.attributes or group.all("leakage_power") for group in groups):
        raise InputError(f"{path}: no leakage: its cells have no cell_leakage_power; take a library with power")
    cells = {group.name: cell for group in groups if (cell := _cell(group, path)) is not None}
    if not any(cell.sequential for cell in cells.values()):
        raise InputError(f"{path}: no flip-flop among its {len(groups)} cells")
    voltage = top.attributes.get("nom_voltage", "")
    if not re.fullmatch(r"[0-9.]+", voltage) or not 0 < float(voltage) < 100:
        raise InputError(f"{path}: nom_voltage must be a voltage in V, got {voltage or 'nothing'}")
    return Library(
        path, top.name, float(voltage), cells, _farad(top.attributes.get("capacitive_load_unit", "1 , pf"), path)
    )


def _farad(text: str, path: Path) -> float:
    """The unit of capacitance, as in `1 , pf`."""
    match = re.fullmatch(r"([0-9.]+) , (ff|pf)", text.lower())
    if match is None or float(match[1]) <= 0:
        raise InputError(f"{path}: capacitive_load_unit must be as in (1,pf), got ({text})")
    return float(match[1]) * {"ff": 1e-15, "pf": 1e-12}[match[2]]


def _parse(text: str, path: Path) -> Group:
    tokens = [token for token in _TOKEN.findall(text) if not token.startswith(("/*", "//")) and token != "\\"]
    root = Group("", "")
    stack, at = [root], 0
    while at < len(tokens):
        token = tokens[at]
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        if token == "}":
            if len(stack) == 1:
                raise InputError(f"{path}: not a liberty file: a }} that nothing opens")
            stack.pop()
            at += 1
        elif after == ":":
            end = at + 2
            while end < len(tokens) and tokens[end] not in (";", "}"):
                end += 1
            stack[-1].attributes[token] = " ".join(tokens[at + 2 : end]).strip('"')
            at = end + 1 if end < len(tokens) and tokens[end] == ";" else end
        elif after == "(":
            end = tokens.index(")", at) if ")" in tokens[at : at + 100_000] else len(tokens)
            words = " ".join(word.strip('"') for word in tokens[at + 2 : end])
            at = end + 1
            if at < len(tokens) and tokens[at] == "{":
                stack.append(Group(token, words))
                stack[-2].groups.append(stack[-1])
                at += 1
            else:
                stack[-1].attributes[token] = words
        else:
            at += 1
    if len(stack) != 1 or not root.all("library"):
        raise InputError(f"{path}: not a whole liberty file: {len(stack) - 1} groups are not closed")
    return root.all("library")[0]


def _has_power(cell: Group) -> bool:
    return bool(cell.all("internal_power")) or any(pin.all("internal_power") for pin in cell.all("pin"))


def _cell(group: Group, path: Path) -> Cell | None:
    """The cell of a group, or None: latches, tristate cells and what has no function are not used."""
    pins = {pin.name: pin for pin in group.all("pin")}
    inputs = {
        name: float(pin.attributes.get("capacitance", "0"))
        for name, pin in pins.items()
        if pin.attributes.get("direction") == "input"
    }
    outputs = {name: pin for name, pin in pins.items() if pin.attributes.get("direction") == "output"}
    if group.all("latch") or not outputs or any("three_state" in pin.attributes for pin in outputs.values()):
        return None
    if any("function" not in pin.attributes for pin in outputs.values()):
        return None
    where = f"{path}: cell {group.name}"
    functions = {name: expression(pin.attributes["function"], where) for name, pin in outputs.items()}
    area = float(group.attributes.get("area", "0"))
    drive = max(float(pin.attributes.get("max_capacitance", "0")) for pin in outputs.values())
    states = group.all("ff")
    if not states:
        return Cell(group.name, area, inputs, functions, drive=drive)
    names = states[0].name.replace(",", " ").split()
    given = states[0].attributes
    clock = expression(given.get("clocked_on", ""), where)
    pin = clock.strip("()~")
    if pin not in inputs:
        return None
    forms = {names[0]: "Q", names[-1]: "~Q"} if len(names) > 1 else {names[0]: "Q"}
    return Cell(
        group.name,
        area,
        inputs,
        {name: forms[text] for name, text in functions.items() if text in forms},
        expression(given.get("next_state", ""), where),
        (pin, "~" not in clock),
        (expression(given.get("preset", "0"), where), expression(given.get("clear", "0"), where)),
        drive,
    )


def expression(text: str, where: str) -> str:
    """A liberty function as an expression of `~ & | ^`: `'` and `!` negate, `*`, `&` and a blank are and, `+` is or.

    Raises:
        InputError: it is none; the message begins with `where`.
    """
    words = [word for word in _WORD.findall(text) if not word.isspace()]

    def refuse() -> InputError:
        return InputError(f"{where}: {text!r} is no function of its pins")

    def either(at: int) -> tuple[str, int]:
        return chain(at, ("+", "|"), " | ", exclusive)

    def exclusive(at: int) -> tuple[str, int]:
        return chain(at, ("^",), " ^ ", both)

    def chain(at: int, marks: tuple[str, ...], sign: str, part: object) -> tuple[str, int]:
        first, at = part(at)  # type: ignore[operator]
        parts = [first]
        while at < len(words) and words[at] in marks:
            following, at = part(at + 1)  # type: ignore[operator]
            parts.append(following)
        return (f"({sign.join(parts)})" if len(parts) > 1 else parts[0]), at

    def both(at: int) -> tuple[str, int]:
        first, at = unary(at)
        parts = [first]
        while at < len(words) and words[at] not in (")", "+", "|", "^"):
            following, at = unary(at + 1 if words[at] in ("&", "*") else at)
            parts.append(following)
        return (f"({' & '.join(parts)})" if len(parts) > 1 else parts[0]), at

    def unary(at: int) -> tuple[str, int]:
        if at >= len(words):
            raise refuse()
        word = words[at]
        if word == "!":
            inner, at = unary(at + 1)
            return f"(~{inner})", at
        if word == "(":
            inner, at = either(at + 1)
            if at >= len(words) or words[at] != ")":
                raise refuse()
        elif word in ("0", "1"):
            inner = f"K{word}"
        elif re.fullmatch(r"[A-Za-z_]\w*", word, re.ASCII):
            inner = word
        else:
            raise refuse()
        at += 1
        while at < len(words) and words[at] == "'":
            inner, at = f"(~{inner})", at + 1
        return inner, at

    found, end = either(0)
    if end != len(words):
        raise refuse()
    return found


def pins_of(text: str) -> Iterator[str]:
    """The pins that an expression names."""
    return (name for name in re.findall(r"[A-Za-z_]\w*", text) if name not in ("K0", "K1"))
