# SPDX-License-Identifier: Apache-2.0
"""The manual page of the instruction set."""

from __future__ import annotations

from ringsmith.gen.isa import Instruction, Isa

HEADER = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Generated from spec/isa.yaml by `python -m ringsmith.gen`; do not edit. -->
# The instruction set

Instructions work on residue polynomials of n coefficients held in on-chip slots. Every lane executes the same
instruction on its own residue, modulo its own modulus. A program is a list of 64-bit words pushed into the command
FIFO; compute, memory and base-conversion instructions run at the same time, and a scoreboard of slots holds back what
depends.

Slot numbers: first the dual-port slots (0 and 1 are the transform's work slots), then the single-port slots;
{twiddle} is the twiddle table (one per modulus index, or one for all of them in builds that say so); {zero} is the zero
polynomial; {stream} is the stream, in builds that have it: a LOAD into it and the next PMODMUL or PMAC that reads it as
src_b, with the same n, run side by side, and no LOAD, STORE, copy or SYNC stands between them. A pointwise result may
replace an operand only in a dual-port slot, because a single-port slot gives one access per bank and cycle. A transform
may start from and end in a work slot if the number of its stages allows: from one to the same work slot log2 n must be
even, from one to the other odd.

A line of assembly is `mnemonic operands modifiers`, for example `intt s3, s0, s5 n=4096 mod=1`; `;` starts a comment,
`zero` names slot {zero}, `twiddle` slot {twiddle}, `stream` slot {stream}; an optional operand left out is `zero`, and
`mod`, `cyclic` and `const` are 0 unless given. Of LIFT and SCALE `const` is the number of the conversion, of AUTO and
DECOMP that of the automorphism or digit.
"""


def render(isa: Isa) -> str:
    """Return the text of `docs/isa.md`."""
    lines = [
        HEADER.format(zero=isa.zero_slot, twiddle=isa.twiddle_slot, stream=isa.stream_slot),
        "## The instruction word",
        "",
        "| bits | field | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| {field.msb}:{field.lsb} | `{field.name}` | {field.doc} |" for field in isa.fields]
    lines += ["", "Slot fields that an instruction does not use hold 63, other unused fields 0.", "", "## Units", ""]
    lines += [f"- **{name}**: {doc}" for name, doc in isa.units.items()]
    lines += [
        "",
        "## Instructions",
        "",
        "| opcode | mnemonic | operands | unit | status | summary |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_row(entry) for entry in isa.instructions]
    for entry in isa.instructions:
        lines += ["", f"### {entry.mnemonic}", "", f"`{_syntax(isa, entry)}`", "", entry.semantics]
        if entry.status == "implemented":
            lines += ["", f"Cycles: formula `{entry.latency}` of `spec/latency.yaml`."]
        else:
            lines += ["", 'Reserved: refused as "not in this build".']
    return "\n".join([*lines, ""])


def _row(entry: Instruction) -> str:
    operands = ", ".join(entry.operands)
    return f"| {entry.opcode} | {entry.mnemonic} | {operands} | {entry.unit} | {entry.status} | {entry.summary} |"


def _syntax(isa: Isa, entry: Instruction) -> str:
    required = [name for name in entry.operands if name not in entry.optional]
    optional = "".join(f"[, {name}]" for name in entry.optional)
    modifiers = " ".join(f"{isa.field(name).asm}=…" for name in entry.modifiers)
    return f"{entry.mnemonic.lower()} {', '.join(required)}{optional} {modifiers}".replace("  ", " ").strip()
