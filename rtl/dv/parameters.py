# SPDX-License-Identifier: Apache-2.0
"""Parameters of the module under test, and formulas of spec/latency.yaml on them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

import pytest

from ringsmith import shipped
from ringsmith.gen import expr, latency

WIDTHS = (14, 30, 40, 60, 64, 109, 128)
"""Word widths every arithmetic module is tested at."""


def parameter(name: str, default: int = 0) -> int:
    """A parameter of the build, as the runner hands it to the checks; outside of the simulator the default."""
    return int(os.environ.get(f"PARAM_{name}", default))


def matrix(fast: Sequence[tuple], every: Sequence[tuple]) -> list:
    """Test parameters: the fast choice, then the rest of the whole matrix marked slow (make test-hw-full)."""
    return [*fast, *(pytest.param(*case, marks=pytest.mark.slow) for case in every if case not in fast)]


def formula(name: str, *arguments: int) -> int:
    """The value of a formula of spec/latency.yaml."""
    table = _formulas()
    names, body = table[name]
    return expr.evaluate(body, dict(zip(names, arguments, strict=True)), table)


@lru_cache(maxsize=1)
def _formulas() -> dict:
    return {f.name: (list(f.args), f.body) for f in latency.load(shipped.spec() / "latency.yaml")}
