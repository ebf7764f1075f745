# SPDX-License-Identifier: Apache-2.0
"""Figures of one node carried to another by the classical scaling rule: a scaling, no estimate of its own.

Dimensions and so capacitances shrink with the node's name, areas with its square, and an energy is C V^2 (R. Dennard
et al., Design of ion-implanted MOSFET's with very small physical dimensions, IEEE JSSC 9(5), 1974, with the voltage of
the target instead of the ideal one). Below some 65 nm names of nodes promise more than wires and cells shrink.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RULE = "energy by node x voltage^2, area by node^2 (Dennard 1974)"


@dataclass(frozen=True)
class Node:
    """A node: name in nm, supply voltage in V."""

    nm: float
    voltage: float

    def energy_from(self, other: Node) -> float:
        """The factor on an energy of the other node."""
        return self.nm / other.nm * (self.voltage / other.voltage) ** 2

    def area_from(self, other: Node) -> float:
        """The factor on an area of the other node."""
        return (self.nm / other.nm) ** 2


def scaled(report: Mapping[str, Any], here: Node, there: Node) -> dict[str, Any]:
    """A report's areas in mm2 and energies in uJ, carried from node to node; leakage is not carried."""
    energy, area = there.energy_from(here), there.area_from(here)
    memory = sum(float(row["area_um2"]) for row in report["memories"])
    found: dict[str, Any] = {
        "nm": there.nm,
        "voltage": there.voltage,
        "rule": RULE,
        "energy_factor": energy,
        "area_factor": area,
        "area_mm2": report["area_um2"] * area / 1e6,
        "memory_mm2": memory * area / 1e6,
    }
    found["total_mm2"] = found["area_mm2"] + found["memory_mm2"]
    power = report.get("power", {})
    if "cells_uj" in power:
        cells, memories = power["cells_uj"] * energy, power["memories_uj"] * energy
        found |= {"cells_uj": cells, "memories_uj": memories, "total_uj": cells + memories}
        found["pj_per_cycle"] = found["total_uj"] / power["cycles"] * 1e6
    return found
