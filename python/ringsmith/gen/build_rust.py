# SPDX-License-Identifier: Apache-2.0
"""The facts of a build in Rust: from the knobs of a preset or from an info block, and what is wrong with them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ringsmith.gen import expr
from ringsmith.gen.build import Build, Rule, Value, replaced
from ringsmith.gen.comments import comment

HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
//! The facts of a build that its info block holds: docs/knobs.md.
#![allow(clippy::all, unused_parens)]

/// Smallest k with 2^k >= x (0 for x <= 1).
const fn ceil_log2(x: i64) -> i64 {
    if x <= 1 { 0 } else { 64 - (x - 1).leading_zeros() as i64 }
}
"""


def render(build: Build) -> str:
    """Return the text of `crates/isa/src/facts.rs`."""
    facts = [value for value in build.values if value.register]
    lines = [HEADER, "/// The fields of an info block; a named choice as its number.", "#[derive(Clone, Copy, Debug)]"]
    lines += ["pub(crate) struct Facts {"]
    for value in facts:
        lines += [*comment(value.doc, "///", 4), f"    pub {value.name}: i64,"]
    lines += ["}", "", "impl Facts {", *_from_knobs(build, facts), "", *_broken(build, facts), "}", ""]
    return "\n".join([*lines, *_small(build), ""])


def _small(build: Build) -> list[str]:
    """The knobs of the small build by name, as `from_knobs` asks for them."""
    head = [
        "/// The small build of spec/build.yaml: the number of each knob.",
        "pub(crate) const SMALL: &[(&str, i32)] = &[",
    ]
    return [*head, *(f'    ("{name}", {number}),' for name, number in build.small.items()), "];"]


def _from_knobs(build: Build, facts: Sequence[Value]) -> list[str]:
    lines = ["    /// From the knobs, each asked for by its name."]
    lines += ["    pub(crate) fn from_knobs<E>("]
    lines += ["        mut knob: impl FnMut(&'static str) -> Result<i32, E>,", "    ) -> Result<Self, E> {"]
    follow = [value for value in facts if value.follows is not None]
    used = {name for value in follow if value.follows for name in expr.names(value.follows)}
    for value in build.knobs:
        if value.register or value.name in used:
            lines.append(f'        let {value.name} = i64::from(knob("{value.name}")?);')
    for value in follow:
        assert value.follows is not None
        lines.append(f"        let {value.name} = {_rust(build, value.follows, '')};")
    return [*lines, "        Ok(Self {", *(f"            {value.name}," for value in facts), "        })", "    }"]


def _broken(build: Build, facts: Sequence[Value]) -> list[str]:
    lines = ["    /// The first fact that no build can have: its name, its value, what it must be."]
    lines += ["    pub(crate) fn broken(&self) -> Option<(&'static str, i64, String)> {"]
    for rule in build.checks(value.name for value in facts):
        lines += [f"        if !{_rust(build, rule.holds, 'self.')} {{"]
        lines += [f'            return Some(("{rule.value}", self.{rule.value}, {_must(build, rule)}));', "        }"]
    return [*lines, "        None", "    }"]


def _must(build: Build, rule: Rule) -> str:
    pieces = list(rule.pieces())
    text = "".join(piece if isinstance(piece, str) else "{}" for piece in pieces)
    arguments = [_rust(build, piece, "self.") for piece in pieces if not isinstance(piece, str)]
    return f'format!("{text}", {", ".join(arguments)})' if arguments else f'"{text}".into()'


def _rust(build: Build, formula: ast.expr, owner: str) -> str:
    numbers = {name: str(number) for name, number in build.choices.items()}
    fields = {value.name: f"{owner}{value.name}" for value in build.values}
    text = expr.to_rust(replaced(formula, numbers), fields)
    return text if text.startswith("(") else f"({text})"
