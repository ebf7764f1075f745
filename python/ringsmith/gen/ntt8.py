# SPDX-License-Identifier: Apache-2.0
"""The register map of the 8-point accelerators: `spec/ntt8.toml` to a SystemVerilog package."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from ringsmith import shipped

# The map's one home.
HOME = shipped.spec() / "ntt8.toml"

HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from spec/ntt8.toml by `python -m ringsmith.gen`; do not edit.
// Register words (byte address / 4) and variants of the 8-point accelerators.
"""


@dataclass(frozen=True, kw_only=True)
class Register:
    """`count` consecutive 32-bit registers from byte address `address` on; access r, w or rw."""

    name: str
    address: int
    count: int
    access: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Map:
    """The whole map: the word that identifies the device, the registers and the variants' numbers."""

    magic: int
    registers: dict[str, Register]
    variants: dict[str, int]


def load(path: Path) -> Map:
    """Read the map."""
    data = tomllib.loads(path.read_text())
    registers = {name: Register(name=name, **entry) for name, entry in data["registers"].items()}
    return Map(magic=data["magic"], registers=registers, variants=data["variants"])


def render(register_map: Map) -> str:
    """Return the text of `rs_ntt8_pkg.sv`."""
    lines = [HEADER + "package rs_ntt8_pkg;", "", "  /* verilator lint_off UNUSEDPARAM */"]
    lines.append(f"  localparam logic [31:0] Magic = 32'h{register_map.magic:08X};")
    for register in register_map.registers.values():
        lines.append(f"  // {register.meaning[0].upper()}{register.meaning[1:]}.")
        lines.append(f"  localparam logic [5:0] Word{_camel(register.name)} = 6'd{register.address // 4};")
    for name, value in register_map.variants.items():
        lines.append(f"  localparam int unsigned Variant{_camel(name)} = {value};")
    return "\n".join([*lines, "  /* verilator lint_on UNUSEDPARAM */", "", "endpackage", ""])


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
