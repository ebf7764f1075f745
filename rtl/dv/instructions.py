# SPDX-License-Identifier: Apache-2.0
"""Instruction words from fields by name (spec/isa.yaml)."""

from __future__ import annotations

from dataclasses import dataclass

from ringsmith import shipped
from ringsmith.gen.isa import load_isa

ISA = load_isa(shipped.spec() / "isa.yaml")
OPCODES = {one.mnemonic: one.opcode for one in ISA.instructions if one.status == "implemented"}
ZERO, TABLE, STREAM = ISA.zero_slot, ISA.twiddle_slot, ISA.stream_slot


@dataclass(frozen=True)
class Insn:
    """An instruction with its fields by name."""

    op: str
    dst: int = ZERO
    a: int = ZERO
    b: int = ZERO
    c: int = ZERO
    log2n: int = 0
    mod: int = 0
    cyclic: int = 0
    const: int = 0
    buf: int = 0

    def word(self) -> int:
        """The 64-bit instruction word."""
        fields = {
            "opcode": OPCODES[self.op], "dst": self.dst, "src_a": self.a, "src_b": self.b, "src_c": self.c,
            "log2_n": self.log2n, "mod_idx": self.mod, "cyclic": self.cyclic, "const_idx": self.const,
            "buf_idx": self.buf,
        }  # fmt: skip
        word = 0
        for name, value in fields.items():
            word |= value << ISA.field(name).lsb
        return word
