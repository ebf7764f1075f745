# SPDX-License-Identifier: Apache-2.0
"""Cost of each primitive cell: the sums behind LUT, FF, DSP, BRAM and URAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

# LUTs that one cell of a kind occupies: logic, shift registers and distributed memories (UG574, UG474; FPGA-TN-02200).
_LUTS = {
    "INV": 1,
    "SRL16E": 1,
    "SRLC16E": 1,
    "SRLC32E": 1,
    "RAM32X1S": 1,
    "RAM64X1S": 1,
    "RAM32X1D": 2,
    "RAM64X1D": 2,
    "RAM128X1S": 2,
    "RAM128X1D": 4,
    "RAM256X1S": 4,
    "RAM256X1D": 8,
    "RAM512X1S": 8,
    "RAM32M": 4,
    "RAM64M": 4,
    "RAM32M16": 8,
    "RAM64M8": 8,
    "RAM64X8SW": 8,
    "CCU2C": 2,
    "TRELLIS_DPR16X4": 4,
    **{f"LUT{size}": 1 for size in range(1, 7)},
}
_FLIP_FLOPS = ("FDRE", "FDSE", "FDCE", "FDPE", "TRELLIS_FF")
_DSPS = ("DSP48E1", "DSP48E2", "MULT18X18D")
_BRAM36 = {"RAMB36E1": 1.0, "RAMB36E2": 1.0, "RAMB18E1": 0.5, "RAMB18E2": 0.5, "DP16KD": 0.5}
_FREE = ("CARRY4", "CARRY8", "MUXF7", "MUXF8", "MUXF9", "PFUMX", "L6MUX21", "GND", "VCC", "BUFG", "IBUF", "OBUF")


@dataclass(frozen=True)
class Resources:
    """Device resources; block memories in units of 36 kbit (an ECP5 EBR of 18 kbit is a half)."""

    lut: int = 0
    ff: int = 0
    dsp: int = 0
    bram36: float = 0
    uram: int = 0

    def __add__(self, other: Resources) -> Resources:
        """Component-wise sum."""
        mine, theirs = asdict(self), asdict(other)
        return Resources(**{name: mine[name] + theirs[name] for name in mine})

    def times(self, count: int) -> Resources:
        """`count` copies."""
        return Resources(**{name: value * count for name, value in asdict(self).items()})

    def to_dict(self) -> dict[str, float]:
        """Ready for JSON; whole numbers of BRAM as integers."""
        values = asdict(self)
        return {name: int(value) if value == int(value) else value for name, value in values.items()}


def count(cells: Mapping[str, int]) -> tuple[Resources, list[str]]:
    """Resources of the primitive cells by type, and the other types (submodules, or unmapped logic)."""
    lut = ff = dsp = uram = 0
    bram = 0.0
    others = []
    for kind, number in cells.items():
        name = kind.removeprefix("\\")
        if name in _LUTS:
            lut += _LUTS[name] * number
        elif name.removesuffix("_1") in _FLIP_FLOPS:  # _1: on the falling edge
            ff += number
        elif name in _DSPS:
            dsp += number
        elif name in _BRAM36:
            bram += _BRAM36[name] * number
        elif name == "URAM288":
            uram += number
        elif name not in _FREE:
            others.append(kind)
    return Resources(lut, ff, dsp, bram, uram), others
