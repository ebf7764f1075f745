# SPDX-License-Identifier: Apache-2.0
"""Limits of the RTL's parameters: a package of them, and the module that checks a whole core's."""

from __future__ import annotations

import ast

from ringsmith.gen import expr
from ringsmith.gen.build import Build, Rule, Value, replaced
from ringsmith.gen.comments import comment

GENERATED = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
"""
PACKAGE = """\
// Least and most of parameters, for the checks of modules that are built alone too; names of choices; a core's
// parameters as one. The parameters of tops and of arithmetic hold a choice by number, since tools set them.
package rs_build_pkg;
"""
CONFIG = """

  // The parameters of a core, which a top hands to the modules inside it as one.
  typedef struct packed {
%s
  } core_cfg_t;

  // What modules have that are built alone.
  localparam core_cfg_t SmallCore = '{
%s
  };
"""
CHECK = """\
// Elaboration checks of the parameters of {what}: an illegal value stops the build.
// docs/knobs.md has their meaning.
module {module} #(
"""
CHECK_OF_CONFIG = """\
// Elaboration checks of the parameters of a core: an illegal value stops the build.
// docs/knobs.md has their meaning.
module {module}
  import rs_build_pkg::*;
#(
  parameter core_cfg_t Cfg = SmallCore
);
"""


def _parameters(build: Build) -> dict[str, tuple[Value, str]]:
    """Parameters that hold a value, by its name, and the formula that gives the value back."""
    found = {}
    for value in build.values:
        held = value.parameter
        if held is None or (value.legal and value.legal.boolean):
            continue
        match held.formula:
            case ast.Name(id=value.name):
                found[value.name] = (value, held.name)
            case ast.Call(func=ast.Name(id="log2"), args=[ast.Name(id=value.name)]):
                found[value.name] = (value, f"pow2({held.name})")
            case ast.Call(func=ast.Name(id="max"), args=[ast.Name(id=value.name), ast.Constant()]):
                found[value.name] = (value, held.name)
    return found


def render_package(core: Build, ntt8: Build) -> str:
    """Return the text of `rtl/core/rs_build_pkg.sv`: limits of the core's parameters, choices of every top."""
    lines = []
    for value, _ in _parameters(core).values():
        assert value.parameter is not None
        if value.legal is None or value.legal.names or value.legal.boolean:
            continue
        for name, end in (("Least", value.legal.least), ("Most", value.legal.most)):
            if end is not None:
                held = expr.evaluate(value.parameter.formula, {value.name: end}, {})
                lines.append(f"  localparam int unsigned {value.parameter.name}{name} = {held};")
    chosen = {value.name: value for top in (core, ntt8) for value in top.knobs if value.legal and value.legal.names}
    enums = [_enum(value) for value in chosen.values() if value.parameter]
    return GENERATED + PACKAGE + "\n".join([*lines, *enums]) + _config(core) + "endpackage\n"


def config_layout(core: Build) -> list[tuple[str, int]]:
    """Fields of core_cfg_t and their bits, the highest first."""
    return [
        (value.parameter.name, 1 if value.legal and value.legal.boolean else 32)
        for value in core.values
        if value.parameter
    ]


def _config(core: Build) -> str:
    """The type of a core's parameters, and those of a small one."""
    small = core.parameters(core.small)
    fields, values = [], []
    for value in core.values:
        if value.parameter:
            name, legal, held = value.parameter.name, value.legal, small[value.parameter.name]
            kind, shown = "int unsigned", f"{held}"
            if legal and legal.names:
                [chosen] = (name for name, number in legal.names.items() if number == held)
                kind, shown = f"{value.name}_e", _capitals(value.name) + chosen.capitalize()
            elif legal and legal.boolean:
                kind, shown = "bit", f"1'b{held}"
            elif value.name == "single_port_mask":
                kind, shown = "logic [31:0]", f"32'h{held:x}"
            fields += [*comment(value.doc, indent=4), f"    {kind} {name};"]
            values.append(f"    {name}: {shown}")
    return CONFIG % ("\n".join(fields), ",\n".join(values))


def _capitals(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _enum(value: Value) -> str:
    """The type of a choice by name, its names behind the value's own."""
    assert value.legal is not None
    names = [f"{_capitals(value.name)}{name.capitalize()} = {number}" for name, number in value.legal.names.items()]
    inside = ",\n    ".join(names)
    doc = "\n".join(comment(value.doc, indent=2))
    return f"\n{doc}\n  typedef enum int unsigned {{\n    {inside}\n  }} {value.name}_e;"


def render_config_check(core: Build, module: str) -> str:
    """Return the text of a module that checks a core_cfg_t."""
    return GENERATED + CHECK_OF_CONFIG.format(module=module) + _gates(core, "Cfg.")


def render_check(build: Build, module: str, what: str) -> str:
    """Return the text of a module that checks the parameters of `what`."""
    parameters = _parameters(build)
    lines, last = [], list(parameters)[-1]
    for name, (value, _) in parameters.items():
        assert value.parameter is not None
        least = expr.evaluate(value.parameter.formula, {value.name: value.legal.least if value.legal else 0}, {})
        comma = "," if name != last else ""
        lines += [*comment(value.doc, indent=2), f"  parameter int unsigned {value.parameter.name} = {least}{comma}"]
    return GENERATED + CHECK.format(module=module, what=what) + "\n".join(lines) + "\n);\n" + _gates(build, "")


def _gates(build: Build, prefix: str) -> str:
    """The checks themselves; `prefix` is what stands before the name of a parameter."""
    text = ""
    for number, rule in enumerate(_checks(build)):
        condition = _sv(build, rule.holds, prefix)
        text += f"\n  if (!{condition}) begin : gen_check_{number}_{rule.value}"
        text += f"\n    $error({_message(build, rule, prefix)});\n  end"
    return text + "\n\nendmodule\n"


def _checks(build: Build) -> list[Rule]:
    checks = []
    for rule in build.checks(_parameters(build)):
        value = next(value for value in build.values if value.name == rule.value)
        if value.when is not None and value.legal and value.legal.holds and rule.must == value.legal.text:
            # Without a meaning the parameter holds its least value.
            rule = Rule(rule.value, value.legal.holds, rule.must)
        checks.append(rule)
    return checks


def _message(build: Build, rule: Rule, prefix: str) -> str:
    value, _ = _parameters(build)[rule.value]
    assert value.parameter is not None
    pieces = list(rule.pieces())
    text = "".join(piece if isinstance(piece, str) else "%0d" for piece in pieces)
    arguments = [_sv(build, piece, prefix) for piece in pieces if not isinstance(piece, str)]
    formula = ast.unparse(value.parameter.formula)
    name = f"({rule.value})" if formula == rule.value else f"is {formula}: {rule.value}"
    return ", ".join([f'"%m: {value.parameter.name} {name} must be {text}"', *arguments])


def _sv(build: Build, formula: ast.expr, prefix: str) -> str:
    names = {name: f"{number}" for name, number in build.choices.items()}
    for name, (value, held) in _parameters(build).items():
        assert value.parameter is not None
        names[name] = held.replace(value.parameter.name, prefix + value.parameter.name)
    text = expr.to_sv(replaced(formula, names))
    return text if text.startswith("(") else f"({text})"
