# SPDX-License-Identifier: Apache-2.0
"""Training points of the resource model: builds synthesised with the flow, their cells counted by group of modules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ringsmith import shipped
from ringsmith.explore.features import CONVERSION
from ringsmith.explore.resources import FITTED, GROUPS, UNIT, group_of, rtl_hash, top_for
from ringsmith.explore.space import BASES, CONVERSIONS, MULTIPLIERS, Hardware
from ringsmith.files import write_text
from ringsmith.hw.device import top_of, top_parameters
from ringsmith.hw.synth import Design, Family, synthesise
from ringsmith.hw.synth.targets import unit_for_conversion
from ringsmith.presets import Preset, load_preset

#: The command that makes the file.
COMMAND = "ringsmith explore --calibrate"
#: Word in bits, degree and build of each training point by family: over the space, small enough for minutes each.
BUILDS: Mapping[str, Sequence[tuple[int, int, str]]] = {
    "xcup": (
        (26, 4096, "l3b4s8x4m2v16w"), (26, 4096, "l1b4s6x0m4v16nc2"), (28, 2048, "l2b2s16x0m4v16n"),
        (30, 4096, "l2b1s4x0m1v16w"), (33, 4096, "l1b16s6x0m1v16w"), (34, 4096, "l1b8s4x0m1v16w"),
        (36, 8192, "l2b2s4x4m1v16n"), (40, 8192, "l4b2s6x0m1v0w"), (43, 8192, "l2b4s6x0m1v16w"),
        (48, 4096, "l4b1s12x0m2v16n"), (54, 8192, "l1b8s8x0m4v16n"), (60, 8192, "l1b1s8x0m1v0n"),
        (43, 8192, "l8b8s8x0m1v16w"),
    ),
    "ecp5": (
        (30, 1024, "l1b1s3x3m2v0n"), (37, 4096, "l1b1s3x4m3v0n"), (30, 1024, "l1b1s4x2m2v16n"),
        (20, 2048, "l1b2s4x4m1v0n"), (45, 4096, "l1b1s6x2m4v16n"), (37, 2048, "l2b1s4x4m2v0n"),
        (30, 2048, "l2b2s4x2m1v16n"), (26, 1024, "l3b1s3x1m2v16n"), (54, 4096, "l1b1s4x4m2v0n"),
        (34, 2048, "l1b4s3x3m1v0n"), (60, 2048, "l1b1s3x1m1v16n"), (30, 4096, "l4b1s3x2m1v0n"),
        (41, 4096, "l2b1s6x1m2v16n"), (36, 8192, "l1b2s3x1m1v16n"),
    ),
}  # fmt: skip
#: What a unit for base conversion has of a build's knobs.
UNIT_KNOBS = ("word_bits", "n_max", "lanes", "butterflies", "rns_rate")
#: These of each unit that is synthesised alone.
UNITS: Mapping[str, Sequence[tuple[int, int, int, int, int]]] = {
    "xcup": (
        (30, 4096, 7, 2, 2), (36, 8192, 4, 4, 2), (54, 8192, 3, 2, 1), (30, 4096, 7, 2, 4), (45, 8192, 6, 4, 2),
        (60, 4096, 2, 1, 1), (36, 4096, 5, 8, 4),
    ),
}  # fmt: skip


def calibrate(told: Callable[[str], None]) -> None:
    """Synthesise the training points (from the flow's cache where it has them) and write spec/resources.json.

    Raises:
        ToolError: the synthesis failed; what was finished stays in the cache.
    """
    points, units = [], []
    for number, (family, knobs) in enumerate(training_knobs(), 1):
        told(f"build {number} of {sum(map(len, BUILDS.values()))}, for {family}")
        points.append(measured(family, knobs))
    for number, (family, knobs) in enumerate(unit_knobs(), 1):
        told(f"unit {number} of {sum(map(len, UNITS.values()))}, for {family}")
        units.append(measured_unit(family, knobs))
    write_text(shipped.spec() / "resources.json", as_text(COMMAND, points=points, units=units))


def as_text(command: str, **tables: Sequence[Mapping[str, Any]]) -> str:
    """Return a file of training points: JSON, a line for each."""
    parts = [f'"command": {json.dumps(command)}']
    for name, points in tables.items():
        lines = ",\n".join(json.dumps(point) for point in points)
        parts.append(f'"{name}": [\n{lines}\n]')
    return "{" + ", ".join(parts) + "}\n"


def training_knobs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the family and the knobs of each training point."""
    for family, builds in BUILDS.items():
        for word_bits, n_max, build in builds:
            yield family, said(Hardware.named(build)) | {"word_bits": word_bits, "n_max": n_max}


def said(build: Hardware) -> dict[str, Any]:
    """Return the knobs of a build; a file does not say that there is one core, and no unit for base conversion."""
    return {
        name: value for name, value in asdict(build).items() if (name, value) not in (("cores", 1), ("rns_rate", 0))
    }


def unit_knobs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the family and the knobs of each unit for base conversion; it has no slots of its own."""
    none = dict.fromkeys(("dual_port_slots", "single_port_slots", "moduli_slots", "moves", "wide_port"), 0)
    for family, units in UNITS.items():
        for values in units:
            yield family, none | dict(zip(UNIT_KNOBS, values, strict=True))


def training_preset(knobs: Mapping[str, Any], family: str = "xcup") -> Preset:
    """Return the design of a training build, or the build that a unit is for."""
    bits = knobs["word_bits"]
    made = {"prime_bits": [bits], "modulus_bits_min": bits - 6, "multiplier": MULTIPLIERS[family]}
    return load_preset(BASES[family], dict(knobs) | made)


def measured(family: str, knobs: dict[str, Any]) -> dict[str, Any]:
    """Return the training point of a build: its knobs, its cells by group and in all."""
    preset = training_preset(knobs, family)
    design = Design(name=preset.name, top=top_of(preset), parameters=top_parameters(preset))
    return counted(family, knobs, synthesise(design, Family(family), quiet=True))


def measured_unit(family: str, knobs: dict[str, Any]) -> dict[str, Any]:
    """Return the training point of a unit for base conversion alone."""
    values = {name: knobs[name] for name in ("word_bits", "n_max", "lanes", "butterflies")} | {
        "rate": knobs["rns_rate"], "conversions": CONVERSIONS["rns_conversions"], "entries": CONVERSIONS["rns_entries"],
        "modulus_bits_min": knobs["word_bits"] - 6, "montgomery_bits": knobs["n_max"].bit_length(),
        "multiplier": MULTIPLIERS[family],
    }  # fmt: skip
    total = synthesise(unit_for_conversion(values), Family(family), quiet=True)["total"]
    groups = {CONVERSION: {what: total[what] for what in FITTED}}
    return {"family": family, "rtl": rtl_hash(UNIT), "knobs": knobs, "groups": groups, "total": total}


def counted(family: str, knobs: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return the training point of a synthesised build."""
    groups = {group: dict.fromkeys(FITTED, 0) for group in GROUPS}
    for row in found["modules"]:
        for what in FITTED:
            groups[group_of(row["module"])][what] += row["instances"] * row[what]
    return {
        "family": family, "rtl": rtl_hash(top_for(family)), "knobs": knobs, "groups": groups, "total": found["total"],
    }  # fmt: skip
