# SPDX-License-Identifier: Apache-2.0
"""Time of what a design leaves to the host: its operations on polynomials, at prices measured on this processor.

A price is the time of one thread for a term of a kind of operation, by the engine's own code for the host's part.
Prices of a degree and a length of primes are measured once and kept in the flow's cache: searches on one machine agree.
What crosses between host and device for the host's work are loads and stores of the plan: it is in the cycles.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ringsmith import _native
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.errors import ParameterError
from ringsmith.files import write_text
from ringsmith.hw import paths

#: Every report says what the figure is.
LABEL = "one thread of this processor, measured"
#: Primes that prices are measured with, of which a conversion's operand has half, and their bits at most.
_PRIMES, _MOST_BITS = 6, 60
#: The host's operations of a run, as the engine reports them: `kind`, `count`, `terms`.
Work = Sequence[Mapping[str, Any]]


def host_ms(work: Work, params: ParameterSet) -> float:
    """Return the milliseconds that this processor takes for the host's operations of a program over a set's rings."""
    if not work:
        return 0.0
    priced = prices(params.n, min(max(params.moduli_bits), _MOST_BITS))
    return float(sum(one["terms"] * priced[one["kind"]] for one in work)) / 1e6


def operations(work: Work) -> int:
    """Return how many operations these are."""
    return sum(int(one["count"]) for one in work)


@cache
def prices(n: int, bits: int) -> Mapping[str, float]:
    """Return the nanoseconds of a term by kind, over rings of degree n modulo primes of `bits` bits."""
    file = paths.cache("explore") / "host.json"
    key = f"{_machine()} n={n} bits={bits}"
    kept = _kept(file)
    if key not in kept:
        kept[key] = _native.host_prices(n, _primes(n, bits))
        write_text(file, json.dumps(kept, indent=1))
    return kept[key]


def _kept(file: Path) -> dict[str, dict[str, float]]:
    """Return the prices in a file; none if it is damaged."""
    try:
        kept = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


@cache
def _machine() -> str:
    """Return what prices depend on: the engine and the processor's name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()[:16]} {name}"


def _primes(n: int, bits: int) -> list[int]:
    """Return primes of a length, or of the next that has enough."""
    for longer in range(bits, _MOST_BITS + 1):
        try:
            return _native.ntt_primes(n, longer, _PRIMES)
        except ParameterError:
            continue
    raise ParameterError(f"n = {n}: no {_PRIMES} primes of {bits} to {_MOST_BITS} bits")
