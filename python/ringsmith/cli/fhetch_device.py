# SPDX-License-Identifier: Apache-2.0
"""A FHETCH trace on a co-processor: its residues, cycles and what takes them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.fhetch.evaluate import evaluate
from ringsmith.fhetch.fits import check_fit
from ringsmith.fhetch.polynomials import TraceProgram
from ringsmith.fhetch.trace import Trace
from ringsmith.presets import load_preset, parse_overrides
from ringsmith.report import simulation
from ringsmith.runtime.devices import OpenDevice, open_device
from ringsmith.runtime.run_trace import Step, take_ran, write_run
from ringsmith.runtime.timeline import summary

Given = tuple[Trace, int, Mapping[int, NDArray[np.uint64]], Sequence[int]]


def run_on(
    on: str, given: Given, overrides: Sequence[str], timeline: str | None, *, alone: bool
) -> tuple[NDArray[np.uint64], dict[str, Any]]:
    """Return the residues of a trace's outputs by a device, and the report."""
    kind, _, name = on.partition(":")
    preset = load_preset(name, parse_overrides(list(overrides)))
    program = TraceProgram(*given)
    check_fit(preset, given[1], program.moduli(), halves=not program.mixes_forms)
    device = open_device(kind, preset)
    if timeline is not None:
        device.native.keep_timeline()
    begun = time.perf_counter()
    residues = program.run(device.native, alone=alone)
    wall = time.perf_counter() - begun
    correct = np.array_equal(residues, np.stack(evaluate(*given)))
    report = _report(device, given, wall, correct=correct)
    if timeline is not None:
        steps, cores = [Step(given[0].path.name, begun, wall * 1e3)], take_ran(device.native, begun)
        write_run(Path(timeline), report["summary"][0], steps, cores, device=device.name, clock_mhz=device.clock_mhz)
        report["trace"] = timeline
    return residues, report


def _report(device: OpenDevice, given: Given, wall: float, *, correct: bool) -> dict[str, Any]:
    usage, profile = device.native.take_usage(), device.native.last_profile()
    cycles = {key: usage[key] for key in ("cycles", "predicted_cycles")}
    kept = ("submissions", "instructions", "executed", "operands", "conversions", "host_operations", "transfer_cycles")
    return {
        **simulation.head(device.preset, device.name, given[0].path.name, given[1], cycles | {"correct": correct}),
        "work_cycles": usage["compute_cycles"],
        "hidden_cycles": usage["hidden_cycles"],
        "host_work": [{key: one[key] for key in ("kind", "count", "because")} for one in usage["host_work"]],
        **{key: usage[key] for key in kept},
        **{
            way: {**usage[way], "ms": device.link_ms(usage[way]["bytes"], usage[way]["cycles"])}
            for way in ("send", "receive")
        },
        "simulation": simulation.speed(wall, device.native.simulated_cycles()),
        "summary": summary(f"{device.name} {given[0].path.name}, last program", profile, device.clock_mhz),
    }


def show(report: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Print the report as a table, with the summary of the timeline."""
    work = report["host_work"]
    rows = {
        "transforms, products and sums": f"{report['work_cycles']:,} cycles",
        "transfers": f"{report['transfer_cycles']:,} cycles, {report['hidden_cycles']:,} of them beside work",
        "send / receive": f"{report['send']['ms']:.3f} / {report['receive']['ms']:.3f} ms",
        "programs": f"{report['submissions']:,}, of {report['instructions']:,} instructions",
        "left to the host": "; ".join(f"{one['count']:,} {one['kind']}: {one['because']}" for one in work) or "nothing",
        **{name: str(facts[name]) for name in ("inputs", "residues")},
    }
    simulation.show(report, rows)
    for line in report["summary"]:
        print(line)
