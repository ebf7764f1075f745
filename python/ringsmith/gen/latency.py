# SPDX-License-Identifier: Apache-2.0
"""`spec/latency.yaml` read and printed: SystemVerilog functions for the RTL, Rust functions for the timing model."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import yaml

from ringsmith import shipped
from ringsmith.errors import FormatError
from ringsmith.gen import expr
from ringsmith.gen.comments import comment

SV_HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from spec/latency.yaml by `python -m ringsmith.gen`; do not edit.
// Latencies in cycles as functions of the build: parents, sequencer and assertions ask these, none repeats them.
package rs_latency_pkg;

  function automatic int lat_ceil_div(int a, int b);
    return (a + b - 1) / b;
  endfunction

  function automatic int lat_max(int a, int b);
    return (a > b) ? a : b;
  endfunction

  function automatic int lat_min(int a, int b);
    return (a < b) ? a : b;
  endfunction
"""
RUST_HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from spec/latency.yaml by `python -m ringsmith.gen`; do not edit.
//! Latencies in cycles as functions of the build, the same formulas as the RTL's package.
#![allow(clippy::all, dead_code, unused_parens)]

/// Smallest k with 2^k >= x (0 for x <= 1).
pub const fn ceil_log2(x: u64) -> u64 {
    if x <= 1 { 0 } else { 64 - (x - 1).leading_zeros() as u64 }
}
"""

# The formulas' one home.
HOME = shipped.spec() / "latency.yaml"


@dataclass(frozen=True)
class Function:
    """One formula: name, arguments in order, what it is, its expression."""

    name: str
    args: tuple[str, ...]
    doc: str
    body: ast.expr


def load(path: Path) -> tuple[Function, ...]:
    """Read and check the formulas; each may call only those before it."""
    known: dict[str, int] = dict(expr.BUILTINS)
    functions = []
    for entry in yaml.safe_load(path.read_text())["functions"]:
        where = f"{path}: {entry['name']}"
        function = Function(
            entry["name"], tuple(entry["args"]), " ".join(entry["doc"].split()), expr.parse(str(entry["expr"]), where)
        )
        unknown = (expr.names(function.body) - set(function.args)) | (expr.calls(function.body) - set(known))
        if unknown:
            raise FormatError(f"{where}: unknown name {', '.join(sorted(unknown))}")
        known[function.name] = len(function.args)
        functions.append(function)
    return tuple(functions)


def value(name: str, path: Path = HOME, **arguments: int) -> int:
    """Evaluate the formula `name` of `spec/latency.yaml` in Python, for models and tests that need a figure."""
    functions = {function.name: (list(function.args), function.body) for function in load(path)}
    _, body = functions[name]
    return expr.evaluate(body, arguments, functions)


def render_sv(functions: tuple[Function, ...]) -> str:
    """Return the text of `rs_latency_pkg.sv`."""
    lines = [SV_HEADER]
    for function in functions:
        arguments = ", ".join(f"int {name}" for name in function.args)
        lines += [*comment(function.doc, indent=2), f"  function automatic int {function.name}({arguments});"]
        lines += [f"    return {expr.to_sv(function.body)};", "  endfunction", ""]
    return "\n".join([*lines, "endpackage", ""])


def render_rust(functions: tuple[Function, ...]) -> str:
    """Return the text of `crates/model/src/latency.rs`."""
    lines = [RUST_HEADER]
    for function in functions:
        names = {name: name.lower() for name in function.args}
        arguments = ", ".join(f"{name}: u64" for name in names.values())
        lines += [*comment(function.doc, "///"), f"pub fn {function.name.lower()}({arguments}) -> u64 {{"]
        lines += [f"    {expr.to_rust(function.body, names)}", "}", ""]
    return "\n".join(lines)
