# SPDX-License-Identifier: Apache-2.0
"""The parts of a top in SystemVerilog that knobs decide: its parameters, and the core_cfg_t that it hands down."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ringsmith.errors import FormatError
from ringsmith.gen.build import Build, Value
from ringsmith.gen.comments import comment

#: A generated part of a file that is written by hand otherwise.
PART = re.compile(
    r"(?P<begin> *// Begin: (?P<name>\w+), generated from spec/build\.yaml\.\n).*?(?P<end> *// End: (?P=name)\.\n)",
    re.DOTALL,
)


def render(core: Build, text: str, host: str) -> str:
    """Return the text of a top of a host with its generated parts as the knobs make them; the rest stays.

    Raises:
        FormatError: a part is missing.
    """
    parts = {"parameters": "".join(_parameters(core, host)), "configuration": _configuration(core, host)}

    def replaced(found: re.Match[str]) -> str:
        return found["begin"] + parts.pop(found["name"]) + found["end"]

    made = PART.sub(replaced, text)
    for name in parts:
        raise FormatError(f"the top of {host} has no lines `// Begin: {name}, …` and `// End: {name}.`")
    return made


def parameters_of(core: Build, host: str) -> list[str]:
    """Return the names of the parameters that the top of a host alone has."""
    return [value.parameter.name for value in core.values if value.parameter and value.only == host]


def _held(core: Build, host: str) -> Iterator[tuple[Value, str, bool]]:
    """Yield what has a parameter, the parameter, and whether the top of the host has it."""
    for value in core.values:
        if value.parameter:
            yield value, value.parameter.name, value.only in ("", host)


def _parameters(core: Build, host: str) -> Iterator[str]:
    small = core.parameters(core.small)
    for value, name, there in _held(core, host):
        if not there or value.parameter is None:
            continue
        formula = ast.unparse(value.parameter.formula)
        what = value.doc if formula == value.name else f"{formula}, where {value.name} is: {value.doc}"
        yield "\n".join(comment(f"{what}{_legal(value)}", indent=2))
        kind, held = "int unsigned", f"{small[name]}"
        if value.legal and value.legal.boolean:
            kind, held = "bit", f"1'b{small[name]}"
        elif value.name == "single_port_mask":
            kind, held = "logic [31:0]", f"32'h{small[name]:x}"
        yield f"\n  parameter {kind} {name} = {held},\n"


def _legal(value: Value) -> str:
    """The legal values, names by their numbers; nothing where the meaning says it."""
    legal = value.legal
    if legal is None or legal.boolean:
        return ""
    if legal.names:
        return f" Legal: {', '.join(f'{number} {name}' for name, number in legal.names.items())}."
    return f" Legal: {re.sub(r' = [{][^}]*[}]', '', legal.text)}."


def _configuration(core: Build, host: str) -> str:
    fields = []
    for value, name, there in _held(core, host):
        chosen = value.legal is not None and bool(value.legal.names)
        own = f"rs_build_pkg::{value.name}_e'({name})" if chosen else name
        fields.append(f"    {name}: {own if there else f'rs_build_pkg::SmallCore.{name}'}")
    return "  localparam rs_build_pkg::core_cfg_t Cfg = '{\n" + ",\n".join(fields) + "\n  };\n"
