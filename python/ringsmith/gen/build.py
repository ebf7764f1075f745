# SPDX-License-Identifier: Apache-2.0
"""`spec/build.yaml` read into checked values: the knobs of each top, what follows from them, their rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from ringsmith.errors import FormatError
from ringsmith.gen import expr

_RANGE = re.compile(r"(power of two )?(\d+)\.\.(\S+)")
_BRACES = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True)
class Legal:
    """Legal values: `holds` over one, `text` for a person; `names` of numbers if it is chosen by name."""

    holds: ast.expr | None
    text: str
    least: int
    # None: a formula.
    most: int | None = None
    names: Mapping[str, int] = field(default_factory=dict)
    boolean: bool = False

    @property
    def type(self) -> str:
        """The value's type in Python."""
        return "str" if self.names else "bool" if self.boolean else "int"


@dataclass(frozen=True)
class Held:
    """A parameter or a field: its name, and the formula of what it holds."""

    name: str
    formula: ast.expr


@dataclass(frozen=True)
class Value:
    """A knob, or what follows from knobs by the formula `follows`."""

    name: str
    doc: str
    legal: Legal | None
    when: ast.expr | None
    parameter: Held | None
    register: Held | None
    follows: ast.expr | None = None
    # Of a knob that a preset may leave out.
    default: int | str | None = None
    # The host whose top alone has the parameter; empty for every top.
    only: str = ""


@dataclass(frozen=True)
class Key:
    """A key of a preset that is no hardware: its meaning, type in Python and default, None where it has none."""

    name: str
    doc: str
    type: str
    default: float | str | None


@dataclass(frozen=True)
class Rule:
    """A condition, the value to blame, and the message; formulas in braces within the text."""

    value: str
    holds: ast.expr
    must: str

    def pieces(self) -> Iterable[str | ast.expr]:
        """The text of `must`, formulas parsed."""
        for number, piece in enumerate(_BRACES.split(self.must)):
            if piece:
                yield expr.parse(piece, self.must) if number % 2 else piece


@dataclass(frozen=True)
class Build:
    """The knobs of one top in `spec/build.yaml`."""

    knobs: tuple[Value, ...]
    derived: tuple[Value, ...]
    rules: tuple[Rule, ...]
    keys: tuple[Key, ...] = ()
    # Numbers of the knobs of a small build.
    small: Mapping[str, int] = field(default_factory=dict)

    @property
    def values(self) -> tuple[Value, ...]:
        """Knobs, then what follows from them."""
        return self.knobs + self.derived

    @property
    def choices(self) -> dict[str, int]:
        """The number of each name that a knob can be set to."""
        return {name: number for value in self.values if value.legal for name, number in value.legal.names.items()}

    def parameters(self, knobs: Mapping[str, int]) -> dict[str, int]:
        """Every parameter by name, of a build with these numbers of its knobs."""
        values = {**self.choices, **knobs}
        for value in self.derived:
            if value.follows:
                values[value.name] = expr.evaluate(value.follows, values, {})
        held = [value.parameter for value in self.values if value.parameter]
        return {parameter.name: expr.evaluate(parameter.formula, values, {}) for parameter in held}

    def checks(self, known: Iterable[str]) -> list[Rule]:
        """The rules over known values alone: what is legal for each knob, what knobs owe each other, what follows."""
        seen = {*known, *self.choices}

        def over_known(rule: Rule) -> bool:
            formulas = [rule.holds, *(piece for piece in rule.pieces() if isinstance(piece, ast.expr))]
            return {rule.value}.union(*map(expr.names, formulas)) <= seen

        def alone(values: Iterable[Value]) -> Iterable[Rule]:
            for value in values:
                whole = _whole(value)
                if whole and value.legal:
                    yield Rule(value.name, whole, value.legal.text)

        rules = (*alone(self.knobs), *self.rules, *alone(self.derived))
        return [rule for rule in rules if over_known(rule)]


def _whole(value: Value) -> ast.expr | None:
    """Condition on a value alone: it is legal, or 0 where it is unused."""
    if value.legal is None or value.legal.holds is None:
        return None
    if value.when is None:
        return value.legal.holds
    legal, when = ast.unparse(value.legal.holds), ast.unparse(value.when)
    return expr.parse(f"({legal}) if {when} else {value.name} == 0", value.name)


def load(path: Path, top: str = "") -> Build:
    """Read and check the knobs of the co-processor or another top; a mistake raises `FormatError` naming the entry."""
    data = yaml.safe_load(path.read_text())
    if top:
        whole, data = data, data[top]
        for part in ("knobs", "keys"):
            data[part] = {name: {**whole[part].get(name, {}), **entry} for name, entry in data[part].items()}
    knobs = tuple(_value(name, entry, path) for name, entry in data["knobs"].items())
    derived = tuple(_value(name, entry, path) for name, entry in data.get("derived", {}).items())
    rules = tuple(
        Rule(entry["knob"], expr.parse(entry["holds"], f"{path}: {entry['knob']}"), entry["must"])
        for entry in data.get("rules", [])
    )
    keys = tuple(_key(name, entry, path) for name, entry in data["keys"].items())
    build = Build(knobs, derived, rules, keys)
    _check_names(build, path)
    return replace(build, small=_small(build, data["small"], path)) if "small" in data else build


def _small(build: Build, entries: Mapping[str, Any], path: Path) -> dict[str, int]:
    """The number of every knob of the small build: the defaults, and what entries set."""
    defaults = {knob.name: knob.default for knob in build.knobs if knob.default is not None}
    for name in {knob.name for knob in build.knobs} ^ {*defaults, *entries}:
        raise FormatError(f"{path}: small: {name} is {'no knob' if name in entries else 'missing'}")
    for name, value in entries.items():
        if value == defaults.get(name):
            raise FormatError(f"{path}: small: {name} is the default, {value}: leave it out")
    whole = {**defaults, **entries}
    return {knob.name: number(build, whole[knob.name]) for knob in build.knobs}


def number(build: Build, value: int | str) -> int:
    """Return the number that hardware has for a value of a knob."""
    return build.choices[value] if isinstance(value, str) else int(value)


def _key(name: str, entry: dict[str, Any], path: Path) -> Key:
    unknown, missing = entry.keys() - {"doc", "type", "default"}, {"doc", "type"} - entry.keys()
    if unknown or missing:
        what = f"unknown {min(unknown)}" if unknown else f"no {min(missing)}"
        raise FormatError(f"{path}: keys: {name}: {what}")
    return Key(name, entry["doc"], entry["type"], entry.get("default"))


def _value(name: str, entry: dict[str, Any], path: Path) -> Value:
    where = f"{path}: {name}"
    unknown = entry.keys() - {"doc", "legal", "when", "parameter", "register", "is", "default", "only"}
    if unknown or "doc" not in entry:
        raise FormatError(f"{where}: {f'unknown {sorted(unknown)[0]}' if unknown else 'no doc'}")
    when = expr.parse(entry["when"], where) if "when" in entry else None
    follows = expr.parse(entry["is"], where) if "is" in entry else None
    parameter, register = (_held(name, entry.get(key), where) for key in ("parameter", "register"))
    legal = _legal(name, entry["legal"], entry.get("when"), where) if "legal" in entry else None
    return Value(
        name,
        entry["doc"],
        legal,
        when,
        parameter,
        register,
        follows,
        entry.get("default"),
        entry.get("only", ""),
    )


def _held(name: str, entry: str | dict[str, str] | None, where: str) -> Held | None:
    if entry is None:
        return None
    if isinstance(entry, str):
        return Held(entry, expr.parse(name, where))
    [(held, formula)] = entry.items()
    return Held(held, expr.parse(formula, where))


def _legal(name: str, entry: Any, when: str | None, where: str) -> Legal:
    otherwise = f" where {when}, else 0" if when else ""
    if entry == "bool":
        return Legal(None, "true or false", 0, 1, boolean=True)
    if isinstance(entry, dict):
        *most, last = entry
        holds = expr.parse(f"{name} in ({', '.join(map(str, entry.values()))})", where)
        return Legal(holds, f"{', '.join(most)} or {last}", 0, max(entry.values()), entry)
    if isinstance(entry, list):
        *most, last = map(str, entry)
        holds = expr.parse(f"{name} in ({', '.join(map(str, entry))})", where)
        return Legal(holds, f"{', '.join(most)} or {last}", entry[0], entry[-1] if isinstance(entry[-1], int) else None)
    matched = _RANGE.fullmatch(str(entry))
    if not matched:
        raise FormatError(f"{where}: legal is {entry!r}; a..b, [values], names with numbers, or bool")
    power, low, high = matched.groups()
    inside = f"{name} >= {low} and {name} <= {high}"
    least, greatest = int(low), int(high) if high.isdigit() else None
    if power:
        inside += f" and pow2(log2({name})) == {name}"
        text = f"a power of two from {low} to {high}"
    else:
        text = f"{low}..{high}" + (f" = {{{high}}}" if greatest is None else "")
    return Legal(expr.parse(inside, where), text + otherwise, least, greatest)


def _check_names(build: Build, path: Path) -> None:
    known = {value.name for value in build.values} | build.choices.keys()
    numbers = [name for value in build.values if value.legal for name in value.legal.names]
    if len(known) != len(build.values) + len(numbers):
        raise FormatError(f"{path}: a name stands for two things")
    for value in build.knobs:
        _check_default(value, build, path)
    formulas = [(value.name, formula) for value in build.values
                for formula in (_whole(value), value.when, value.follows,
                                value.parameter and value.parameter.formula,
                                value.register and value.register.formula) if formula]  # fmt: skip
    for rule in build.rules:
        formulas += [(rule.value, rule.holds), *((rule.value, p) for p in rule.pieces() if isinstance(p, ast.expr))]
    for name, formula in formulas:
        unknown = (expr.names(formula) | {name}) - known
        if unknown or expr.calls(formula) - expr.BUILTINS.keys():
            raise FormatError(f"{path}: {name}: unknown name in {ast.unparse(formula)!r}")


def _check_default(knob: Value, build: Build, path: Path) -> None:
    """Hold a default, and the host that alone has a knob, against what is legal; what depends on knobs is not known."""
    legal, default = knob.legal, knob.default
    if knob.only and knob.only not in build.choices:
        raise FormatError(f"{path}: {knob.name}: only is {knob.only!r}, no host")
    if default is None or legal is None:
        return
    kind = str if legal.names else bool if legal.boolean else int
    fits = type(default) is kind and (not legal.names or default in legal.names)
    if fits and legal.holds and knob.when is None and expr.names(legal.holds) <= {knob.name}:
        fits = bool(expr.evaluate(legal.holds, {knob.name: number(build, default)}, {}))
    if not fits:
        raise FormatError(f"{path}: {knob.name}: default is {default!r}, must be {legal.text}")


def replaced(formula: ast.expr, by: Mapping[str, str]) -> ast.expr:
    """The formula with names replaced by formulas."""

    class Replace(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.Call:
            node.args = [self.visit(argument) for argument in node.args]
            return node

        def visit_Name(self, node: ast.Name) -> ast.expr:
            return expr.parse(by[node.id], node.id) if node.id in by else node

    found = Replace().visit(expr.parse(ast.unparse(formula), "formula"))
    assert isinstance(found, ast.expr)
    return found
