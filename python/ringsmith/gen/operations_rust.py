# SPDX-License-Identifier: Apache-2.0
"""The engine's homomorphic operations: the enumeration, its operands and attributes, the table of facts."""

from __future__ import annotations

from ringsmith.gen.comments import comment
from ringsmith.gen.operations import MAX_OPERANDS, Operation, Operations

HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from spec/operations.yaml by `python -m ringsmith.gen`; do not edit.
//! The homomorphic operations, and the table of what is known of each.

use super::attributes::{Attribute, Attributes, Misfit, Plaintext, Promise};
use super::facts::{Facts, Key, Level, Parts, Scale};
"""


def render(spec: Operations) -> str:
    """Return the text of `crates/program/src/operation/table.rs`."""
    parts = (_operations(spec), _kinds(spec), _methods(spec), _with(spec), _table(spec))
    return "\n".join([HEADER, *("\n".join(part) + "\n" for part in parts)])


def _operations(spec: Operations) -> list[str]:
    lines = [
        "/// A homomorphic operation. Operands are the numbers of earlier steps.",
        "#[derive(Clone, Copy, Debug, PartialEq)]",
        "pub enum Operation {",
    ]
    for own in spec.operations:
        types = ["u32"] * len(own.operands) + [spec.attribute(name).rust for name in own.attributes]
        lines += [*comment(own.meaning, "///", 4), f"    {own.camel}{_tuple(types)},"]
    return [*lines, "}"]


def _kinds(spec: Operations) -> list[str]:
    lines = [
        "/// What an operation is, without its operands; the discriminant is its code.",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]",
        "#[repr(u8)]",
        "pub enum Kind {",
    ]
    for own in spec.operations:
        lines += [*comment(own.meaning, "///", 4), f"    {own.camel} = {own.code},"]
    return [*lines, "}"]


def _methods(spec: Operations) -> list[str]:
    lines = ["impl Operation {", "    /// Its kind.", "    pub const fn kind(&self) -> Kind {", "        match self {"]
    lines += [f"            Self::{own.camel}{_any(own)} => Kind::{own.camel}," for own in spec.operations]
    lines += [
        "        }", "    }", "",
        "    /// The numbers of the earlier steps it uses, and how many of them count.",
        f"    pub const fn operands(&self) -> ([u32; {MAX_OPERANDS}], usize) {{",
        "        match *self {",
    ]  # fmt: skip
    for own in spec.operations:
        padded = [*own.operands, *["0"] * (MAX_OPERANDS - len(own.operands))]
        pattern = _tuple([*own.operands, *["_"] * len(own.attributes)])
        lines.append(f"            Self::{own.camel}{pattern} => ([{', '.join(padded)}], {len(own.operands)}),")
    lines += [
        "        }", "    }", "",
        "    /// The same with the numbers of its operands replaced.",
        "    #[must_use]",
        "    pub fn with_operands(self, f: impl Fn(u32) -> u32) -> Self {",
        "        match self {",
    ]  # fmt: skip
    for own in spec.operations:
        replaced = _tuple([*(f"f({name})" for name in own.operands), *own.attributes])
        lines.append(f"            Self::{own.camel}{_all(own)} => Self::{own.camel}{replaced},")
    lines += [
        "        }", "    }", "",
        "    /// What it takes besides ciphertexts.",
        "    pub const fn attributes(&self) -> Attributes {",
        "        match *self {",
    ]  # fmt: skip
    for own in spec.operations:
        pattern = _tuple([*["_"] * len(own.operands), *own.attributes])
        held = "".join(f"{name}: Some({name}), " for name in own.attributes)
        made = f"Attributes {{ {held}..Attributes::NONE }}" if held else "Attributes::NONE"
        lines.append(f"            Self::{own.camel}{pattern} => {made},")
    return [*lines, "        }", "    }", "}"]


def _with(spec: Operations) -> list[str]:
    lines = [
        "impl Kind {",
        "    /// All kinds, in order of their codes.",
        f"    pub const ALL: [Self; {len(spec.operations)}] = [",
        *(f"        Self::{own.camel}," for own in spec.operations),
        "    ];",
        "",
        "    /// The operation of this kind with operands, and those of the attributes that the kind has.",
        "    ///",
        "    /// # Errors",
        "    /// [`Misfit`]: another number of operands, or an attribute that is missing.",
        "    pub fn with(self, operands: &[u32], attributes: &Attributes) -> Result<Operation, Misfit> {",
        "        Ok(match (self, operands) {",
    ]
    for own in spec.operations:
        pattern = f"[{', '.join(own.operands)}]"
        made = [*(f"*{name}" for name in own.operands), *(f"attributes.{name}()?" for name in own.attributes)]
        lines.append(f"            (Self::{own.camel}, {pattern}) => Operation::{own.camel}{_tuple(made)},")
    needed = " | ".join(f"Self::{own.camel}" for own in spec.operations)
    lines.append(f"            ({needed}, _) => return Err(Misfit::Operands(self.facts().operands)),")
    return [*lines, "        })", "    }", "}"]


def _table(spec: Operations) -> list[str]:
    return [
        "/// What is known of each kind, in order of their codes.",
        f"pub(super) static TABLE: [Facts; {len(spec.operations)}] = [",
        *(_row(own) for own in spec.operations),
        "];",
    ]


def _row(own: Operation) -> str:
    parts = {"same": "Same", 2: "Two", 3: "Three"}[own.parts]
    takes = "None" if own.takes == "any" else f"Some({own.takes})"
    attributes = ", ".join(f"Attribute::{name.capitalize()}" for name in own.attributes)
    key = "".join(part.capitalize() for part in own.key.split("_"))
    return (
        f'    Facts {{ name: "{own.name}", bfv: {_bool("bfv" in own.schemes)}, ckks: {_bool("ckks" in own.schemes)}, '
        f"operands: {len(own.operands)}, takes: {takes}, attributes: &[{attributes}], parts: Parts::{parts}, "
        f"level: Level::{own.level.capitalize()}, scale: Scale::{own.scale.capitalize()}, key: Key::{key}, "
        f"runs: {_bool(own.runs)} }},"
    )


def _bool(value: bool) -> str:
    return str(value).lower()


def _tuple(items: list[str]) -> str:
    return f"({', '.join(items)})" if items else ""


def _all(own: Operation) -> str:
    return _tuple([*own.operands, *own.attributes])


def _any(own: Operation) -> str:
    return "(..)" if own.operands or own.attributes else ""
