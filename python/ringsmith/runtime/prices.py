# SPDX-License-Identifier: Apache-2.0
"""Prices of operations on polynomials on this processor: measured once, kept in the flow's cache.

A price is the time of one thread for a term of a kind of operation, by the engine's own code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ringsmith import _native
from ringsmith.errors import ParameterError
from ringsmith.files import write_text
from ringsmith.processor import processor_name

#: Every report says what a time by these prices is.
LABEL = "one thread of this processor, measured"
#: Bits of the longest prime that is priced; those beyond, of exact integers of two words, cost at least as much.
MOST_BITS = 60
#: Primes that prices are measured with, of which a conversion's operand has half.
_PRIMES = 6


@cache
def prices(n: int, bits: int) -> Mapping[str, float]:
    """Return the nanoseconds of a term by kind, over rings of degree n modulo primes of `bits` bits."""
    from ringsmith.hw import paths  # a program on the processor starts without the hardware's packages

    file = paths.cache("prices") / "host.json"
    key = f"{_machine()} n={n} bits={bits}"
    kept = _kept(file)
    if key not in kept:
        found = _native.host_prices(n, _primes(n, bits))
        kept = _kept(file) | {key: found}  # with what other processes have measured in the meantime
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
    return f"{hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()[:16]} {processor_name()}"


def _primes(n: int, bits: int) -> list[int]:
    """Return primes of a length, or of the next that has enough."""
    for longer in range(bits, MOST_BITS + 1):
        try:
            return _native.ntt_primes(n, longer, _PRIMES)
        except ParameterError:
            continue
    raise ParameterError(f"n = {n}: no {_PRIMES} primes of {bits} to {MOST_BITS} bits")
