# SPDX-License-Identifier: Apache-2.0
"""`spec/isa.yaml` read into checked, immutable values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ringsmith.errors import FormatError

UNITS = ("compute", "memory", "control", "rns", "pointwise")
STATUSES = ("implemented", "reserved")
SLOT_FIELDS = ("dst", "src_a", "src_b", "src_c")


@dataclass(frozen=True)
class Field:
    """One bit field of the instruction word; `lsb` is its lowest bit."""

    name: str
    lsb: int
    bits: int
    kind: str
    asm: str
    doc: str

    @property
    def msb(self) -> int:
        """The field's highest bit."""
        return self.lsb + self.bits - 1


@dataclass(frozen=True)
class Instruction:
    """One instruction; the tuples hold field names."""

    mnemonic: str
    opcode: int
    unit: str
    status: str
    operands: tuple[str, ...]
    optional: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    modifiers: tuple[str, ...]
    latency: str
    summary: str
    semantics: str


@dataclass(frozen=True)
class Isa:
    """The instruction set: format version, fields in order from bit 0, instructions in order of opcode."""

    version: int
    word_bits: int
    zero_slot: int
    twiddle_slot: int
    stream_slot: int
    program_words: int
    fields: tuple[Field, ...]
    units: dict[str, str]
    instructions: tuple[Instruction, ...]

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        return next(field for field in self.fields if field.name == name)


def load_isa(path: Path) -> Isa:
    """Read and check an instruction-set file; a mistake in it raises `FormatError` naming the entry."""
    data = yaml.safe_load(path.read_text())
    isa = Isa(
        version=data["version"],
        word_bits=data["word_bits"],
        zero_slot=data["zero_slot"],
        twiddle_slot=data["twiddle_slot"],
        stream_slot=data["stream_slot"],
        program_words=data["program_words"],
        fields=_fields(data["fields"]),
        units=data["units"],
        instructions=tuple(_instruction(entry) for entry in data["instructions"]),
    )
    _check(isa, path)
    return isa


def _fields(entries: list[dict[str, Any]]) -> tuple[Field, ...]:
    fields, lsb = [], 0
    for entry in entries:
        asm = entry.get("asm", entry["name"])
        fields.append(Field(entry["name"], lsb, entry["bits"], entry["kind"], asm, entry["doc"]))
        lsb += entry["bits"]
    return tuple(fields)


def _instruction(entry: dict[str, Any]) -> Instruction:
    lists: dict[str, Any] = {
        key: tuple(entry.get(key, ())) for key in ("operands", "optional", "reads", "writes", "modifiers")
    }
    scalars: dict[str, Any] = {
        key: entry[key] for key in ("mnemonic", "opcode", "unit", "status", "latency", "summary")
    }
    return Instruction(**scalars, **lists, semantics=" ".join(entry["semantics"].split()))


def _check(isa: Isa, path: Path) -> None:
    if sum(field.bits for field in isa.fields) != isa.word_bits:
        raise FormatError(f"{path}: the fields do not fill the {isa.word_bits}-bit word")
    opcodes = [entry.opcode for entry in isa.instructions]
    if opcodes != sorted(set(opcodes)):
        raise FormatError(f"{path}: opcodes must be unique and in increasing order, got {opcodes}")
    names = {field.name for field in isa.fields}
    for entry in isa.instructions:
        _check_instruction(isa, entry, names, path)


def _check_instruction(isa: Isa, entry: Instruction, names: set[str], path: Path) -> None:
    where = f"{path}: {entry.mnemonic}"
    if not 0 < entry.opcode < 1 << isa.field("opcode").bits:
        raise FormatError(f"{where}: opcode {entry.opcode} is out of range")
    if entry.unit not in UNITS or entry.status not in STATUSES:
        raise FormatError(f"{where}: unit {entry.unit!r} or status {entry.status!r} is unknown")
    slots = set(entry.operands)
    if not slots <= set(SLOT_FIELDS) or not set(entry.modifiers) <= names:
        raise FormatError(f"{where}: an operand or modifier names no field")
    if set(entry.reads) | set(entry.writes) != slots or not set(entry.optional) <= set(entry.reads):
        raise FormatError(f"{where}: reads and writes must cover the operands; only reads may be optional")
