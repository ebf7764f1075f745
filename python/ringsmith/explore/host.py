# SPDX-License-Identifier: Apache-2.0
"""Time of what a design leaves to the host: its operations on polynomials, at this processor's prices.

What crosses between host and device for the host's work are loads and stores of the plan: it is in the cycles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.runtime.prices import LABEL as LABEL
from ringsmith.runtime.prices import MOST_BITS, prices

#: The host's operations of a run, as the engine reports them: `kind`, `count`, `terms`.
Work = Sequence[Mapping[str, Any]]


def host_ms(work: Work, params: ParameterSet) -> float:
    """Return the milliseconds that this processor takes for the host's operations of a program over a set's rings."""
    if not work:
        return 0.0
    priced = prices(params.n, min(max(params.moduli_bits), MOST_BITS))
    return float(sum(one["terms"] * priced[one["kind"]] for one in work)) / 1e6


def operations(work: Work) -> int:
    """Return how many operations these are."""
    return sum(int(one["count"]) for one in work)
