# SPDX-License-Identifier: Apache-2.0
"""Register maps printed: Rust, C, SystemVerilog, Markdown."""

from __future__ import annotations

from ringsmith.gen.comments import comment
from ringsmith.hw.registers.maps import HOST, Choice, RegisterMap

_LICENCE = "SPDX-License-Identifier: Apache-2.0"


def rust_constants(host: RegisterMap) -> str:
    """Rust module with the address of every register and the position of every field."""
    lines = [f"// {_LICENCE}", f"// {host.notice}", f"//! Register addresses and fields: {host.title}."]
    for register in host.registers:
        name = register.name.upper()
        lines += ["", *comment(register.description, "///"), f"pub const {name}: u32 = {register.address:#05x};"]
        if register.count > 1:
            lines += [f"/// Registers of {register.name}.", f"pub const {name}_COUNT: u32 = {register.count};"]
        for field, label in register.named_fields():
            lines += comment(field.description, "///")
            lines += [f"pub const {label}: (u32, u32) = ({field.low}, {field.width});"]
    return "\n".join(lines) + "\n"


def c_header(registers: RegisterMap, prefix: str = "RS") -> str:
    """C header with the address of every register and shift and mask of every field."""
    lines = [f"/* {_LICENCE}", f" * {registers.notice} */"]
    lines += [f"#ifndef {prefix}_{registers.stem.upper()}_H", f"#define {prefix}_{registers.stem.upper()}_H"]
    for register in registers.registers:
        name = f"{prefix}_{register.name.upper()}"
        lines += ["", f"/* {register.description} */", f"#define {name} {register.address:#05x}u"]
        if register.count > 1:
            lines.append(f"#define {name}_COUNT {register.count}u")
        for field, label in register.named_fields():
            lines.append(f"#define {prefix}_{label}_SHIFT {field.low}")
            lines.append(f"#define {prefix}_{label}_MASK {(1 << field.width) - 1:#x}u /* {field.description} */")
    return "\n".join([*lines, "", "#endif", ""])


def page(first: RegisterMap, *others: RegisterMap) -> str:
    """The maps as a Markdown page, each after the first under a heading of its own."""
    sources = " and ".join(f"spec/{shown.stem}.rdl" for shown in (first, *others))
    lines = [f"<!-- Generated from {sources} by `python -m ringsmith.hw.registers`; do not edit. -->", "# Registers"]
    for shown in (first, *others):
        lines += ["", f"## {shown.title[0].upper()}{shown.title[1:]}"] if shown is not first else []
        lines += ["", shown.description, ""]
        where = " or the serial link" if shown.stem == HOST else ""
        lines += [f"32-bit registers behind AXI4-Lite{where}; addresses in bytes.", "", *_table(shown)]
    return "\n".join(lines) + "\n"


def _table(shown: RegisterMap) -> list[str]:
    lines = ["| address | register | bits | access | meaning |", "|---|---|---|---|---|"]
    for register in shown.registers:
        last = register.address + 4 * (register.count - 1)
        where = f"{register.address:#05x}" + (f"–{last:#05x}" if register.count > 1 else "")
        whole = [field for field in register.fields if field.width == 32]
        cells = f"31:0 | {whole[0].access}" if whole else "|"
        lines.append(f"| {where} | **{register.name}** | {cells} | {register.description} |")
        for field, _ in register.named_fields():
            high = field.low + field.width - 1
            bits = f"{high}:{field.low}" if field.width > 1 else str(field.low)
            choices = "; ".join(f"{choice.number} {choice.description}" for choice in field.choices)
            meaning = f"{field.description} {choices}." if choices else field.description
            lines.append(f"| | {field.name} | {bits} | {field.access} | {meaning} |")
    return lines


def sv_words(ntt8: RegisterMap) -> str:
    """The package of the 8-point accelerators: the word (byte address / 4) of every register, the value of `magic`."""
    lines = [f"// {_LICENCE}", f"// {ntt8.notice}"]
    lines += ["// Register words (byte address / 4) of the 8-point accelerators.", "package rs_ntt8_pkg;", ""]
    lines += ["  /* verilator lint_off UNUSEDPARAM */"]
    lines.append(f"  localparam logic [31:0] Magic = 32'h{ntt8['magic'].fields[0].reset:08X};")
    for register in ntt8.registers:
        lines += comment(register.description, indent=2)
        lines.append(f"  localparam logic [5:0] Word{_camel(register.name)} = 6'd{register.address // 4};")
    return "\n".join([*lines, "  /* verilator lint_on UNUSEDPARAM */", "", "endpackage", ""])


def causes_sv(host: RegisterMap) -> str:
    """The package with the causes of the error register."""
    causes = _causes(host)
    lines = [f"// {_LICENCE}", f"// {host.notice}", "// Why the core stops, as the error register shows it."]
    lines += ["package rs_error_pkg;", "", "  typedef enum logic [3:0] {"]
    for cause in causes:
        comma = "," if cause is not causes[-1] else ""
        lines += [f"    // {cause.description}", f"    Err{_camel(cause.name)} = 4'd{cause.number}{comma}"]
    return "\n".join([*lines, "  } error_e;", "", "endpackage", ""])


def causes_rust(host: RegisterMap) -> str:
    """Rust enumeration of the causes of the error register."""
    causes = [cause for cause in _causes(host) if cause.number]
    lines = [f"// {_LICENCE}", f"// {host.notice}"]
    lines += ["//! Why the core stops, as the error register shows it.", ""]
    lines += ["/// Cause of a stop, with the number the error register shows."]
    lines += ["#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]", "#[repr(u8)]", "pub enum Cause {"]
    for cause in causes:
        lines += [f"    /// {cause.description[0].upper()}{cause.description[1:]}."]
        lines += [f'    #[error("{cause.description}")]', f"    {_camel(cause.name)} = {cause.number},"]
    lines += ["}", "", "impl Cause {", "    /// Every cause, by number."]
    lines += [f"    pub const ALL: [Self; {len(causes)}] = ["]
    lines += [*(f"        Self::{_camel(cause.name)}," for cause in causes), "    ];", "}", ""]
    return "\n".join(lines)


def _causes(host: RegisterMap) -> tuple[Choice, ...]:
    return next(field for field in host["error"].fields if field.name == "cause").choices


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
