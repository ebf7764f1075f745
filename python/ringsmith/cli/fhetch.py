# SPDX-License-Identifier: Apache-2.0
"""A FHETCH trace in `ringsmith run` and `ringsmith show`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith.cli.common import print_json
from ringsmith.errors import InputError
from ringsmith.fhetch.evaluate import evaluate
from ringsmith.fhetch.inputs import Beside, checked, drawn, find_beside
from ringsmith.fhetch.trace import Trace, read_trace
from ringsmith.runtime.outputs import write_output

SUFFIX = ".fhetch"


def run_trace(file: Path, on: str, inputs: Sequence[str], seed: str | None, output: Path | None, *, json: bool) -> None:
    """Compute a trace's outputs from the inputs beside it, or from drawn ones, and say what they are."""
    if on != "cpu":
        raise InputError(f"--on {on}: a trace is computed on this machine: --on cpu")
    if len(inputs) > 1:
        raise InputError(f"--input {inputs[1]}: a trace has one file of inputs, a JSON file")
    trace = read_trace(file)
    beside = find_beside(trace, Path(inputs[0]) if inputs else None)
    facts = {**_facts(trace, beside), "inputs": "as given"}
    words = beside.inputs
    if checked(trace, beside):
        words = drawn(trace, beside.n, words, _seed(seed))
        facts["inputs"] = f"drawn, seed {_seed(seed)}"
    results = np.stack(evaluate(trace, beside.n, words, beside.outputs))
    if output is not None:
        write_output(output, results)
    _print(facts | {"residues": f"SHA-256 {hashlib.sha256(results.astype('<u8').tobytes()).hexdigest()}"}, json=json)


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
