# SPDX-License-Identifier: Apache-2.0
"""Training points of the energy model: builds mapped to 180 nm cells, an operation run on each, energy by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ringsmith import shipped
from ringsmith.explore.calibrate import as_text, training_preset
from ringsmith.explore.energy import GROUPS, group_of
from ringsmith.explore.resources import rtl_hash
from ringsmith.explore.space import Hardware
from ringsmith.files import check_place, write_text
from ringsmith.presets import Preset

#: The command that makes the file.
COMMAND = "ringsmith explore --calibrate-energy"
#: Word in bits, degree, build and operations of each training build: over the space, small enough for minutes each.
BUILDS = (
    (20, 1024, "l3b4s6x0m1v16w", ("key-switch", "ntt")), (30, 4096, "l2b2s4x4m2v16n", ("key-switch", "pmodmul")),
    (54, 4096, "l2b1s12x0m4v16n", ("key-switch", "ntt")), (60, 2048, "l1b1s8x0m1v0n", ("ntt", "pmodadd")),
    (26, 8192, "l1b16s6x0m4v16n", ("key-switch", "ntt")), (28, 2048, "l4b2s6x0m1v0w", ("ntt", "tensor")),
    (43, 4096, "l2b4s6x0m1v16w", ("ntt", "tensor")), (36, 2048, "l1b8s8x0m2v16n", ("ntt", "tensor")),
)  # fmt: skip


@dataclass(frozen=True)
class Figures:
    """What the silicon flow says of an operation: cycles, instructions executed, the flow's report of the design."""

    cycles: int
    executed: Mapping[str, Mapping[str, float]]
    report: Mapping[str, Any]


#: Runs an operation of degree n on a preset's RTL and returns its figures by module.
Measures = Callable[[Preset, str, int], Figures]


def energy_file() -> Path:
    """Return the file of training points."""
    return shipped.spec() / "energy.json"


def calibrate_energy(path: Path, measures: Measures, told: Callable[[str], None]) -> None:
    """Measure the training points, of which `measures` may keep some, and write them once all are there.

    Raises:
        InputError: the file cannot be written.
        ToolError: a tool is missing or failed; what was measured stays in the cache.
    """
    check_place(path)
    rtl = rtl_hash()  # as it is now: where it changes in the meantime, reports say so
    points = []
    wanted = list(training_operations())
    for number, (knobs, operation) in enumerate(wanted, 1):
        told(f"operation {number} of {len(wanted)}: {operation}, n = {knobs['n_max']}, {knobs['word_bits']} bits")
        points.append(measured(measures, knobs, operation))
    write_text(path, as_text(COMMAND, points=[point | {"rtl": rtl} for point in points]))


def training_operations() -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the knobs of each training build with each of its operations."""
    for word_bits, n_max, build, operations in BUILDS:
        for operation in operations:
            knobs = {**asdict(Hardware.named(build)), "word_bits": word_bits, "n_max": n_max}
            yield {name: value for name, value in knobs.items() if name != "rns_rate"}, operation


def measured(measures: Measures, knobs: dict[str, Any], operation: str) -> dict[str, Any]:
    """Return the training point of an operation on a build: energies in uJ of cells by group and of memories."""
    found = measures(training_preset(knobs), operation, knobs["n_max"])
    groups = dict.fromkeys(GROUPS, 0.0)
    for row in found.report["modules"]:
        groups[group_of(row["module"])] += row["pj_per_cycle"] * found.cycles * 1e-6
    return {
        "knobs": knobs, "operation": operation, "cycles": found.cycles, "executed": found.executed,
        "groups": {group: round(value, 4) for group, value in groups.items()},
        "memories": round(found.report["power"]["memories_uj"], 4),
    }  # fmt: skip
