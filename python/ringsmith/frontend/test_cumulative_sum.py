# SPDX-License-Identifier: Apache-2.0
"""Sums up to each of many elements: numpy's values, by matrices as large as the axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.frontend.trace import trace
from ringsmith.ir.evaluate import evaluate


@pytest.mark.parametrize("shape", [(20, 50), (33, 65), (3, 11, 17)])
@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
def test_sums_of_many_elements_take_small_matrices(shape: tuple[int, ...], scheme: str) -> None:
    declared: Any = {"x": rs.Encrypted(*shape, bound=3.0)}
    graph = trace(rs.kernel(**declared, scheme=scheme)(lambda x: np.cumsum(x)), {"x": shape})
    values = np.random.default_rng(2).integers(-3, 4, shape)
    given = values if scheme == "bfv" else values.astype(float)
    found = evaluate(graph.nodes(), {"x": given})[id(graph.output)]
    assert (found == np.cumsum(values)).all()
    assert max(node.low.size for node in graph.nodes()) <= max(values.size, 65**2)


def test_sums_of_many_elements_run_encrypted() -> None:
    values = np.random.default_rng(2).integers(-3, 4, (5, 60))
    declared: Any = {"x": rs.Encrypted(5, 60, bound=3)}
    report = rs.run(rs.kernel(**declared, scheme="bfv")(lambda x: np.cumsum(x)), {"x": values}, seed="1")
    assert (report.output == np.cumsum(values)).all()


@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
def test_sums_of_many_elements_take_few_key_switches(scheme: str) -> None:
    declared: Any = {"x": rs.Encrypted(33, 65, bound=3)}
    kernel = rs.kernel(**declared, scheme=scheme)(lambda x: np.cumsum(x))
    assert kernel.compile().counts["key_switch"] <= 60
