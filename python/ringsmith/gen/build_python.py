# SPDX-License-Identifier: Apache-2.0
"""The knobs of a build in Python: what a preset's fields are, what is wrong with them, the parameters of a top."""

from __future__ import annotations

import ast
import json

from ringsmith.gen import build_sv, build_top
from ringsmith.gen.build import Build, Key, Legal, Value

HEADER = '''\
# SPDX-License-Identifier: Apache-2.0
# Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
# ruff: noqa: E501, E713
# fmt: off
"""The knobs of a hardware build: docs/knobs.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


def _ceil_log2(x: int) -> int:
    return (x - 1).bit_length() if x > 1 else 0

'''
CLASS = '''

@dataclass(frozen=True, kw_only=True)
class {name}:
    """{doc}"""

'''


def render(core: Build, ntt8: Build) -> str:
    """Return the text of `python/ringsmith/knobs.py`."""
    tables = {knob.name: _table(knob.legal) for build in (core, ntt8) for knob in build.knobs if _chosen(knob)}
    names = "".join(f"{name.upper()} = {table}\n" for name, table in tables.items())
    classes = _class("Knobs", "The hardware knobs of a preset, and the values derived from them.", core)
    classes += _keys("Keys", "The keys of a preset that are no hardware.", core)
    classes += _class("Ntt8Knobs", "The hardware knobs of a preset of an 8-point accelerator.", ntt8)
    classes += _keys("Ntt8Keys", "The keys of a preset of an 8-point accelerator that are no hardware.", ntt8)
    only = f"AXI4_PARAMETERS = {_tuple(build_top.parameters_of(core, 'axi4'))}\n"
    alone = f"\n# Parameters that the top behind AXI4 alone has.\n{only}"
    return HEADER + "\n# Numbers of names.\n" + names + alone + _config(core) + classes


def _tuple(names: list[str]) -> str:
    """A tuple of names as Python writes it."""
    return "(" + "".join(f'"{name}", ' for name in names).removesuffix(" ") + ")"


def _config(core: Build) -> str:
    """The fields of core_cfg_t and their values in a small core."""
    small = core.parameters(core.small)
    lines = [f'    "{name}": ({bits}, {small[name]}),' for name, bits in build_sv.config_layout(core)]
    head = "# Fields of core_cfg_t in SystemVerilog, the highest first: bits, and the value in SmallCore."
    return f"\n{head}\nCORE_CFG = {{\n" + "\n".join(lines) + "\n}\n"


def _class(name: str, doc: str, build: Build) -> str:
    lines = [f"    {knob.name}: {knob.legal.type if knob.legal else 'int'}{_default(knob)}" for knob in build.knobs]
    for value in build.derived:
        assert value.follows is not None
        lines += ["", "    @property", f"    def {value.name}(self) -> int:", f'        """{value.doc}"""']
        lines += [f"        return {_python(build, value.follows)}"]
    lines += _numbers(build) + _parameters(build) + _broken(build)
    return CLASS.format(name=name, doc=doc) + "\n".join(lines) + "\n"


def _keys(name: str, doc: str, build: Build) -> str:
    lines = [f"    {key.name}: {key.type}{_default(key)}" for key in build.keys]
    return CLASS.format(name=name, doc=doc) + "\n".join(lines) + "\n"


def _default(entry: Value | Key) -> str:
    """The default of a field; a name or a text in double quotes."""
    shown = json.dumps(entry.default) if isinstance(entry.default, str) else repr(entry.default)
    return "" if entry.default is None else f" = {shown}"


def _chosen(knob: Value) -> bool:
    return knob.legal is not None and bool(knob.legal.names)


def _table(legal: Legal | None) -> str:
    assert legal is not None
    return f"{{{', '.join(f'{chr(34)}{name}{chr(34)}: {number}' for name, number in legal.names.items())}}}"


def _numbers(build: Build) -> list[str]:
    lines = [
        "",
        "    def numbers(self) -> dict[str, int]:",
        '        """Every knob as the number that hardware has."""',
    ]
    lines.append("        return {")
    for knob in build.knobs:
        assert knob.legal is not None
        own = f"self.{knob.name}"
        number = f"{knob.name.upper()}[{own}]" if knob.legal.names else f"int({own})" if knob.legal.boolean else own
        lines.append(f'            "{knob.name}": {number},')
    return [*lines, "        }"]


def _parameters(build: Build) -> list[str]:
    lines = [
        "",
        "    def parameters(self) -> dict[str, int]:",
        '        """The parameters of the top in SystemVerilog."""',
    ]
    lines += ["        numbers = self.numbers()", "        return {"]
    for value in build.values:
        if value.parameter:
            held = _python(build, value.parameter.formula)
            plain = ast.unparse(value.parameter.formula) == value.name and value.follows is None
            shown = f'numbers["{value.name}"]' if plain else held
            lines.append(f'            "{value.parameter.name}": {shown},')
    return [*lines, "        }"]


def _broken(build: Build) -> list[str]:
    lines = [
        "",
        "    def broken(self) -> Iterator[str]:",
        '        """Violated rules: the knob, its legal values, its value."""',
    ]
    for rule in build.checks(knob.name for knob in [*build.knobs, *(d for d in build.derived if d.legal)]):
        value = next(value for value in build.values if value.name == rule.value)
        chosen = value.legal is not None and bool(value.legal.names)
        if chosen and value.legal and rule.must == value.legal.text:
            wrong = f"self.{value.name} not in {value.name.upper()}"
        else:
            wrong = _python(build, ast.UnaryOp(ast.Not(), rule.holds))
        must = "".join(p if isinstance(p, str) else f"{{{_python(build, p)}}}" for p in rule.pieces())
        got = f"{{self.{rule.value}{'!r' if chosen else ''}}}"
        lines += [f"        if {wrong}:", f'            yield f"{rule.value} must be {must}, got {got}"']
    return lines


class _OfSelf(ast.NodeTransformer):
    """Values become fields of `self`, names of choices texts."""

    def __init__(self, build: Build) -> None:
        self._values = {value.name for value in build.values}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.args = [self.visit(argument) for argument in node.args]
        assert isinstance(node.func, ast.Name)
        if node.func.id == "pow2":
            return ast.BinOp(ast.Constant(1), ast.LShift(), node.args[0])
        if node.func.id in ("log2", "clog2", "ceil_log2"):
            node.func.id = "_ceil_log2"
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._values:
            return ast.Attribute(ast.Name("self"), node.id)
        return ast.Constant(node.id)


def _python(build: Build, node: ast.expr) -> str:
    """Print a formula over `self` in Python."""
    mine = ast.parse(ast.unparse(node), mode="eval").body
    return ast.unparse(_OfSelf(build).visit(mine)).replace("'", '"')
