# SPDX-License-Identifier: Apache-2.0
"""Training points of the resource model: builds synthesised with the flow, their cells counted by group of modules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ringsmith import shipped
from ringsmith.explore.resources import FITTED, GROUPS, group_of, rtl_hash
from ringsmith.explore.space import BASE, Hardware
from ringsmith.files import write_text
from ringsmith.hw.device import top_of, top_parameters
from ringsmith.hw.synth import Design, Family, synthesise
from ringsmith.presets import Preset, load_preset

#: The command that makes the file.
COMMAND = "ringsmith explore --calibrate"
#: Word in bits, degree and build of each training point: over the space, small enough for minutes each.
BUILDS = (
    (26, 4096, "l3b4s8x4m2v16w"), (26, 4096, "l1b4s6x0m4v16nc2"), (28, 2048, "l2b2s16x0m4v16n"),
    (30, 4096, "l2b1s4x0m1v16w"), (33, 4096, "l1b16s6x0m1v16w"), (34, 4096, "l1b8s4x0m1v16w"),
    (36, 8192, "l2b2s4x4m1v16n"), (40, 8192, "l4b2s6x0m1v0w"), (43, 8192, "l2b4s6x0m1v16w"),
    (48, 4096, "l4b1s12x0m2v16n"), (54, 8192, "l1b8s8x0m4v16n"), (60, 8192, "l1b1s8x0m1v0n"),
    (43, 8192, "l8b8s8x0m1v16w"),
)  # fmt: skip


def calibrate(told: Callable[[str], None]) -> None:
    """Synthesise the training points (from the flow's cache where it has them) and write spec/resources.json.

    Raises:
        ToolError: the synthesis failed; what was finished stays in the cache.
    """
    points = []
    for number, knobs in enumerate(training_knobs(), 1):
        told(f"build {number} of {len(BUILDS)}")
        points.append(measured(knobs))
    write_text(shipped.spec() / "resources.json", as_text(points, rtl_hash()))


def as_text(points: list[dict[str, Any]], rtl: str, command: str = COMMAND) -> str:
    """Return a file of training points: JSON, a line for each; `rtl` is the hash of their RTL."""
    lines = ",\n".join(json.dumps(point) for point in points)
    return f'{{"command": {json.dumps(command)}, "rtl": "{rtl}", "points": [\n{lines}\n]}}\n'


def training_knobs() -> Iterator[dict[str, Any]]:
    """Yield the knobs of each training point."""
    for word_bits, n_max, build in BUILDS:
        knobs = Hardware.named(build).__dict__ | {"word_bits": word_bits, "n_max": n_max}
        # A file from before there were several cores does not say that there is one.
        yield {name: value for name, value in knobs.items() if (name, value) != ("cores", 1)}


def training_preset(knobs: dict[str, Any]) -> Preset:
    """Return the design of a training build."""
    bits = knobs["word_bits"]
    return load_preset(BASE, knobs | {"prime_bits": [bits], "modulus_bits_min": bits - 6})


def measured(knobs: dict[str, Any]) -> dict[str, Any]:
    """Return the training point of a build: its knobs, its cells by group and in all."""
    preset = training_preset(knobs)
    design = Design(name=preset.name, top=top_of(preset), parameters=top_parameters(preset))
    return counted(knobs, synthesise(design, Family.XCUP, quiet=True))


def counted(knobs: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return the training point of a synthesised build."""
    groups = {group: dict.fromkeys(FITTED, 0) for group in GROUPS}
    for row in found["modules"]:
        for what in FITTED:
            groups[group_of(row["module"])][what] += row["instances"] * row[what]
    return {"knobs": knobs, "groups": groups, "total": found["total"]}
