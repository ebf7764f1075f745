# SPDX-License-Identifier: Apache-2.0
"""Memories apart from cells: area and energy of an access by size, as of published macros of the same node.

The macros are GlobalFoundries' open 180 nm SRAMs (gf180mcu_fd_ip_sram, liberty files of revision 1.0, typical, 25 C,
1.8 V): one port, words of 8 bits, cells and periphery of 5 V transistors. A memory here is as many of them side by side
as its width takes, and as many on top as its words take, of which one works in an access.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ringsmith.hw.silicon.activity import Activity
from ringsmith.hw.silicon.mapping import Memory
from ringsmith.hw.silicon.netlist import Netlist

SOURCE = "gf180mcu_fd_ip_sram 1.0, tt, 25 C, 1.8 V (GlobalFoundries, Apache-2.0)"
MACRO_BITS = 8


@dataclass(frozen=True)
class Macro:
    """A published macro of 8 bits: words; area in um2; energy of a read and a write in pJ, both clock edges."""

    words: int
    area_um2: float
    read_pj: float
    write_pj: float
    leakage_nw: float


MACROS = (
    Macro(64, 100571.5568, 2 * 84.3399, 2 * 92.043, 17.0),
    Macro(128, 116118.5168, 2 * 88.7733, 2 * 96.498, 26.1),
    Macro(256, 147212.4368, 2 * 93.51, 2 * 102.006, 44.3),
    Macro(512, 209400.2768, 2 * 103.176, 2 * 112.563, 80.7),
)


@dataclass(frozen=True)
class Tiled:
    """A memory made of macros: area in um2, energy of a read and a write in pJ, leakage in nW."""

    area_um2: float
    read_pj: float
    write_pj: float
    leakage_nw: float


def tiled(width: int, words: int) -> Tiled:
    """A memory, by its words and the bits of each."""
    macro = next((macro for macro in MACROS if macro.words >= words), MACROS[-1])
    beside, on_top = -(-width // MACRO_BITS), -(-words // macro.words)
    return Tiled(
        macro.area_um2 * beside * on_top,
        macro.read_pj * beside,
        macro.write_pj * beside,
        macro.leakage_nw * beside * on_top,
    )


def by_kind(found: Iterable[tuple[Netlist, Activity | None, int]], kinds: Mapping[str, Memory]) -> list[dict[str, Any]]:
    """Memories by shape: instances, bits, area, and under an activity reads and writes in a cycle, pJ a cycle.

    `found` are netlists, each with the activity of its copies on average and their number.
    """
    rows: dict[tuple[str, int, int], dict[str, Any]] = {}
    for netlist, activity, copies in found:
        for box in netlist.boxes:
            if box.module not in kinds:  # a module mapped apart
                continue
            kind = kinds[box.module]
            made = tiled(kind.width, kind.words)
            name = box.module.rsplit("_", 1)[0] if re.search(r"_\d+$", box.module) else box.module
            added: dict[str, float] = {"instances": 1, "bits": kind.width * kind.words, "area_um2": made.area_um2}
            if activity is not None:
                reads, writes = (float(activity.ones[box.ports[port][0]]) for port in ("rd_en_i", "wr_en_i"))
                energy = reads * made.read_pj + writes * made.write_pj
                added |= {"reads": reads, "writes": writes, "pj_per_cycle": energy}
            row = rows.setdefault(
                (name, kind.width, kind.words),
                {"memory": name, "width": kind.width, "words": kind.words, **dict.fromkeys(added, 0)},
            )
            for key, value in added.items():
                row[key] += copies * value
    return sorted(rows.values(), key=lambda row: -row["area_um2"])
