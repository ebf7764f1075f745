# SPDX-License-Identifier: Apache-2.0
"""The Rust tables of the instruction set, which encoder, assembler, checker and random programs read."""

from __future__ import annotations

from ringsmith.gen.comments import comment
from ringsmith.gen.isa import SLOT_FIELDS, Instruction, Isa

HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from spec/isa.yaml by `python -m ringsmith.gen`; do not edit.
"""
OPCODES = f"""\
{HEADER}//! Opcodes and fields of the instruction word.

use super::field::Field;
"""
TABLE = f"""\
{HEADER}//! The table of instructions, and the fields of its operands.

use super::field::Field;
use super::opcodes::*;
use super::row::{{Modifier, Slot, Spec, Unit}};
"""


def opcodes(isa: Isa) -> str:
    """Return the text of `crates/isa/src/spec/opcodes.rs`."""
    lines = [OPCODES, "/// Version of the instruction set; the build's info block carries the same number."]
    lines += [f"pub const ISA_VERSION: u32 = {isa.version};"]
    for name, value, doc in (
        ("ZERO_SLOT: u8", isa.zero_slot, "The slot that reads as zero and is never written."),
        (
            "TWIDDLE_SLOT: u8",
            isa.twiddle_slot,
            "The twiddle table of the instruction's modulus index, as a target of LOAD.",
        ),
        (
            "STREAM_SLOT: u8",
            isa.stream_slot,
            "The stream, as a target of LOAD and the second operand of a product, in builds that have it.",
        ),
        ("PROGRAM_WORDS: usize", isa.program_words, "Longest program one submission takes."),
    ):
        lines += [f"/// {doc}", f"pub const {name} = {value};"]
    lines += [""]
    for field in isa.fields:
        lines += comment(field.doc, "///")
        lines += [f"pub const {field.name.upper()}: Field = Field {{ lsb: {field.lsb}, bits: {field.bits} }};"]
    return "\n".join([*lines, "", *_opcodes(isa), ""])


def table(isa: Isa) -> str:
    """Return the text of `crates/isa/src/spec/table.rs`."""
    return "\n".join([TABLE, *_slots(isa), "", *_modifiers(isa), "", *_table(isa), ""])


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _opcodes(isa: Isa) -> list[str]:
    body = [f"    /// {entry.summary}\n    {_camel(entry.mnemonic)} = {entry.opcode}," for entry in isa.instructions]
    return [
        "/// Operation of an instruction; the discriminant is the opcode.",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]",
        "#[repr(u8)]",
        "pub enum Op {",
        *body,
        "}",
    ]


def _slots(isa: Isa) -> list[str]:
    arms = [f"            Slot::{_camel(name)} => {name.upper()}," for name in SLOT_FIELDS]
    return [
        "impl Slot {",
        "    /// The field of the word that holds this slot number.",
        "    pub const fn field(self) -> Field {",
        "        match self {",
        *arms,
        "        }",
        "    }",
        "}",
    ]


def _modifiers(isa: Isa) -> list[str]:
    fields = [field for field in isa.fields if field.kind == "modifier"]
    arms = [f"            Modifier::{_camel(field.name)} => {field.name.upper()}," for field in fields]
    names = [f'            Modifier::{_camel(field.name)} => "{field.asm}",' for field in fields]
    return [
        "impl Modifier {",
        "    /// The field of the word that holds it.",
        "    pub const fn field(self) -> Field {",
        "        match self {",
        *arms,
        "        }",
        "    }",
        "    /// Its name in assembly.",
        "    pub const fn name(self) -> &'static str {",
        "        match self {",
        *names,
        "        }",
        "    }",
        "}",
    ]


def _table(isa: Isa) -> list[str]:
    rows = [_row(entry) for entry in isa.instructions]
    return ["/// Every instruction, in order of opcode.", f"pub const TABLE: [Spec; {len(rows)}] = [", *rows, "];"]


def _row(entry: Instruction) -> str:
    def slots(names: tuple[str, ...]) -> str:
        return "&[" + ", ".join(f"Slot::{_camel(name)}" for name in names) + "]"

    modifiers = "&[" + ", ".join(f"Modifier::{_camel(name)}" for name in entry.modifiers) + "]"
    return (
        f'    Spec {{ op: Op::{_camel(entry.mnemonic)}, mnemonic: "{entry.mnemonic.lower()}", '
        f"unit: Unit::{entry.unit.capitalize()}, implemented: {str(entry.status == 'implemented').lower()}, "
        f"operands: {slots(entry.operands)}, optional: {slots(entry.optional)}, "
        f"reads: {slots(entry.reads)}, writes: {slots(entry.writes)}, modifiers: {modifiers} }},"
    )
