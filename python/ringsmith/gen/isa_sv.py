# SPDX-License-Identifier: Apache-2.0
"""The SystemVerilog package of the instruction set."""

from __future__ import annotations

from collections.abc import Callable

from ringsmith.gen.isa import Instruction, Isa

HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from spec/isa.yaml by `python -m ringsmith.gen`; do not edit.
// The instruction set: opcodes, the instruction word, and what each instruction reads and writes.
"""


def render(isa: Isa) -> str:
    """Return the text of `rs_isa_pkg.sv`."""
    lines = [
        HEADER + "package rs_isa_pkg;",
        "",
        "  // Not every build uses every name.",
        "  /* verilator lint_off UNUSEDPARAM */",
        f"  localparam int IsaVersion = {isa.version};",
    ]
    lines += [f"  localparam int InstrWidth = {isa.word_bits};"]
    lines += [f"  localparam int {_camel(field.name)}Width = {field.bits};" for field in isa.fields]
    lines += [f"  localparam logic [DstWidth-1:0] ZeroSlot = {isa.field('dst').bits}'d{isa.zero_slot};"]
    lines += [f"  localparam logic [DstWidth-1:0] TwiddleSlot = {isa.field('dst').bits}'d{isa.twiddle_slot};"]
    lines += [f"  localparam logic [DstWidth-1:0] StreamSlot = {isa.field('dst').bits}'d{isa.stream_slot};", ""]
    lines += _enum(isa) + _units() + _struct(isa)
    for name, doc, holds in _PREDICATES:
        lines += _predicate(isa, name, doc, holds)
    lines += _unit_function(isa)
    return "\n".join([*lines, "  /* verilator lint_on UNUSEDPARAM */", "", "endpackage", ""])


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _enum(isa: Isa) -> list[str]:
    width = isa.field("opcode").bits
    body = [f"    Op{entry.mnemonic.capitalize()} = {width}'d{entry.opcode}" for entry in isa.instructions]
    return [f"  typedef enum logic [{width - 1}:0] {{", ",\n".join(body), "  } opcode_e;", ""]


def _units() -> list[str]:
    return [
        "  typedef enum logic [2:0] {",
        "    UnitCompute = 3'd0,",
        "    UnitMemory  = 3'd1,",
        "    UnitControl = 3'd2,",
        "    UnitRns     = 3'd3",
        "  } unit_e;",
        "",
    ]


def _struct(isa: Isa) -> list[str]:
    members = [f"    logic [{field.bits - 1}:0] {field.name};" for field in reversed(isa.fields)]
    return [
        "  // The opcode is plain bits: an unknown value must stay representable.",
        "  typedef struct packed {",
        *members,
        "  } instr_t;",
        "",
    ]


_PREDICATES: tuple[tuple[str, str, Callable[[Instruction], bool]], ...] = (
    ("op_known", "The instruction exists (implemented or reserved).", lambda entry: True),
    ("op_implemented", "The instruction can be in a build.", lambda entry: entry.status == "implemented"),
    ("op_reads_a", "Reads slot src_a.", lambda entry: "src_a" in entry.reads),
    ("op_reads_b", "Reads slot src_b.", lambda entry: "src_b" in entry.reads),
    ("op_reads_c", "Reads slot src_c.", lambda entry: "src_c" in entry.reads),
    ("op_writes_dst", "Writes slot dst.", lambda entry: "dst" in entry.writes),
    ("op_writes_c", "Writes slot src_c.", lambda entry: "src_c" in entry.writes),
    ("op_transform", "Uses both work slots as scratch.", lambda entry: "cyclic" in entry.modifiers),
)


def _mask(isa: Isa, holds: Callable[[Instruction], bool]) -> str:
    mask = sum(1 << entry.opcode for entry in isa.instructions if holds(entry))
    size = 1 << isa.field("opcode").bits
    return f"{size}'h{mask:0{size // 4}x}"


def _predicate(isa: Isa, name: str, doc: str, holds: Callable[[Instruction], bool]) -> list[str]:
    mask = "Mask" + _camel(name.removeprefix("op_"))
    return [
        f"  // {doc} Bit i of the mask stands for opcode i.",
        f"  localparam logic [{(1 << isa.field('opcode').bits) - 1}:0] {mask} = {_mask(isa, holds)};",
        f"  function automatic logic {name}(logic [OpcodeWidth-1:0] opcode);",
        f"    return {mask}[opcode];",
        "  endfunction",
        "",
    ]


def _unit_function(isa: Isa) -> list[str]:
    masks = {unit: _mask(isa, lambda entry, unit=unit: entry.unit == unit) for unit in ("compute", "memory", "rns")}  # type: ignore[misc]
    return [
        "  // The unit that executes an instruction; unknown opcodes go to the sequencer, which refuses them.",
        f"  localparam logic [63:0] MaskCompute = {masks['compute']};",
        f"  localparam logic [63:0] MaskMemory = {masks['memory']};",
        f"  localparam logic [63:0] MaskRns = {masks['rns']};",
        "  function automatic unit_e op_unit(logic [OpcodeWidth-1:0] opcode);",
        "    if (MaskCompute[opcode]) return UnitCompute;",
        "    if (MaskMemory[opcode]) return UnitMemory;",
        "    if (MaskRns[opcode]) return UnitRns;",
        "    return UnitControl;",
        "  endfunction",
        "",
    ]
