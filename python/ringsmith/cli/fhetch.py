# SPDX-License-Identifier: Apache-2.0
"""A FHETCH trace in `ringsmith run` and `ringsmith show`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith.cli.common import print_json
from ringsmith.cli.fhetch_device import run_on, show
from ringsmith.errors import InputError
from ringsmith.fhetch.evaluate import evaluate
from ringsmith.fhetch.inputs import Beside, checked, drawn, find_beside
from ringsmith.fhetch.trace import Trace, read_trace
from ringsmith.files import check_place
from ringsmith.runtime.devices import KINDS
from ringsmith.runtime.outputs import write_output

SUFFIX = ".fhetch"


@dataclass(frozen=True)
class TraceRun:
    """A trace's run: its engine, the file of inputs, settings of a co-processor."""

    on: str = "cpu"
    inputs: Sequence[str] = ()
    seed: str | None = None
    output: Path | None = None
    overrides: Sequence[str] = ()
    timeline: str | None = None
    device_only: bool = False

    def check(self) -> None:
        """Refuse engines and options that do not go together."""
        kind, _, preset = self.on.partition(":")
        if self.on != "cpu" and (kind not in KINDS or not preset):
            raise InputError(f"--on {self.on}: a trace is computed on cpu, model:PRESET or rtl:PRESET")
        given = {"--set": self.overrides, "--trace": self.timeline, "--device-only": self.device_only}
        wrong = [name for name, value in given.items() if value]
        if self.on == "cpu" and wrong:
            raise InputError(f"{wrong[0]} is for a co-processor; --on model:PRESET computes a trace on one")
        if self.timeline is not None:
            check_place(Path(self.timeline))


def run_trace(file: Path, how: TraceRun, *, json: bool) -> int:
    """Compute a trace's outputs from the inputs beside it, or from drawn ones; 1 if a device gives others."""
    how.check()
    inputs, seed = how.inputs, how.seed
    if len(inputs) > 1:
        raise InputError(f"--input {inputs[1]}: a trace has one file of inputs, a JSON file")
    trace = read_trace(file)
    beside = find_beside(trace, Path(inputs[0]) if inputs else None)
    facts = {**_facts(trace, beside), "inputs": "as given"}
    words = beside.inputs
    if checked(trace, beside):
        words = drawn(trace, beside.n, words, _seed(seed))
        facts["inputs"] = f"drawn, seed {_seed(seed)}"
    given, report = (trace, beside.n, words, beside.outputs), None
    if how.on == "cpu":
        results = np.stack(evaluate(*given))
    else:
        results, report = run_on(how.on, given, how.overrides, how.timeline, alone=how.device_only)
    if how.output is not None:
        write_output(how.output, results)
    facts |= {"residues": f"SHA-256 {hashlib.sha256(results.astype('<u8').tobytes()).hexdigest()}"}
    if report is None or json:
        _print(facts | (report or {}), json=json)
    else:
        show(report, facts)
    return 0 if report is None or report["correct"] else 1


def show_trace(file: Path, *, json: bool) -> None:
    """Say what a trace holds, without computing it."""
    trace = read_trace(file)
    try:
        beside: Beside | None = find_beside(trace, None)
    except InputError as lacking:
        if file.with_suffix(".json").exists():
            raise
        facts = _facts(trace, None) | {"beside": str(lacking)}
    else:
        facts = _facts(trace, beside)
    _print(facts, json=json)


def _facts(trace: Trace, beside: Beside | None) -> dict[str, Any]:
    lengths = [q.bit_length() for q in trace.moduli[1:]]
    ring = {} if beside is None else {"n": beside.n, "outputs": len(beside.outputs)}
    return {
        "kind": "FHETCH trace",
        "moduli": f"{len(lengths)}, of {min(lengths, default=0)} to {max(lengths, default=0)} bits",
        "instructions": len(trace.instructions),
        "of_them": trace.counts(),
        "read_first": len(trace.given()),
        **ring,
    }


def _seed(seed: str | None) -> int:
    """Return the number of a seed's text."""
    return int.from_bytes((seed or "0").encode(), "little")


def _print(facts: Mapping[str, Any], *, json: bool) -> None:
    if json:
        print_json(facts)
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        text = ", ".join(f"{count} {one}" for one, count in value.items()) if isinstance(value, dict) else value
        print(f"{name.replace('_', ' '):<{width}}  {text}")
