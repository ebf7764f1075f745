# SPDX-License-Identifier: Apache-2.0
"""Loops over elements gathered into operations on arrays: the values are those of the loop, the operations few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ringsmith as rs
from ringsmith.compiler.passes.gather import gathered
from ringsmith.frontend.trace import trace
from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.graph import Graph

#: An expression of one loop's indices i and j over x (12,) and rows of y (12, 3).
Form = Any
FORMS: st.SearchStrategy[Form] = st.recursive(
    st.sampled_from(["x[i]", "x[j]", "y[i,k]", "row", "row total", "number", "two", "shared", "x[0]"]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner),
        st.tuples(st.sampled_from(["neg", "square", "cubic", "within", "five terms", "mixed"]), inner),
    ),
    max_leaves=5,
)
LEAVES: dict[str, Callable[[Any, Any, Any, int, int], Any]] = {
    "x[i]": lambda x, _y, _s, i, _j: x[i],
    "x[j]": lambda x, _y, _s, _i, j: x[j],
    "y[i,k]": lambda _x, y, _s, i, j: y[i][j % 3],
    "row": lambda _x, y, _s, i, j: y[i] @ y[j],
    "row total": lambda _x, y, _s, i, _j: (y[i] * 2).sum(),
    "number": lambda _x, _y, _s, i, j: i - 2 * j,
    "two": lambda _x, _y, _s, _i, _j: 2,
    "shared": lambda _x, _y, s, _i, _j: s,
    "x[0]": lambda x, _y, _s, _i, _j: x[0],
}


def value(form: Form, x: Any, y: Any, shared: Any, i: int, j: int) -> Any:
    """Compute a form as a user writes it."""
    if isinstance(form, str):
        return LEAVES[form](x, y, shared, i, j)
    sign, *parts = form
    own = [value(part, x, y, shared, i, j) for part in parts]
    match sign:
        case "+" | "-" | "*":
            return {"+": own[0] + own[-1], "-": own[0] - own[-1], "*": own[0] * own[-1]}[sign]
        case "neg":
            return -own[0]
        case "square":
            return own[0] ** 2
        case "five terms":
            return sum(own[0] * (k + i) for k in range(5))
        case "mixed":
            return x[i] + own[0] - x[j] - own[0] * x[i] + 1
    return own[0] * own[0] * own[0] if sign == "cubic" else own[0] + x[i]


def looped(form: Form, ending: str) -> Callable[..., Any]:
    """Return a kernel's function: a form over all pairs, ended by a sum, a stack, both or a chain."""

    def function(x: Any, y: Any) -> Any:
        shared = x[1] * x[2]
        lanes = [value(form, x, y, shared, i, j) + x[i] for i in range(12) for j in range(0, i, 3)]
        match ending:
            case "sum":
                return sum(lanes)
            case "stack":
                return np.stack(lanes)
            case "reversed":
                return np.stack(lanes[::-1])[2:9] - x[3:10]
            case "partial":
                return np.stack([lanes[0], lanes[3] + lanes[5], sum(lanes[4:]), shared - sum(lanes[::2])])
        total = x[0] * 0
        for lane in lanes:
            total = total - lane
        return total * lanes[3]

    return function


def traced(function: Any, scheme: str, **shapes: tuple[int, ...]) -> Graph:
    declared: Any = {name: rs.Encrypted(*shape, bound=3.0) for name, shape in shapes.items()}
    return trace(rs.kernel(**declared, scheme=scheme)(function), shapes)


@settings(max_examples=120, deadline=None)
@given(FORMS, st.sampled_from(["sum", "stack", "reversed", "partial", "chain"]), st.sampled_from(["bfv", "ckks"]))
def test_a_gathered_graph_has_the_values_of_its_loop(form: Form, ending: str, scheme: str) -> None:
    function = looped(form, ending)
    graph = traced(function, scheme, x=(12,), y=(12, 3))
    rng = np.random.default_rng(3)
    integral = scheme == "bfv"
    x, y = ((rng.integers(-3, 4, s) if integral else rng.uniform(-1, 1, s)) for s in ((12,), (12, 3)))
    found = gathered(graph)
    assert found.output.shape == graph.output.shape
    got = evaluate(found.nodes(), {"x": x, "y": y})[id(found.output)]
    wanted = np.asarray(function(x.astype(object) if integral else x, y.astype(object) if integral else y))
    if integral:
        assert (got == wanted).all()
    else:
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
    # Whole numbers as they are: beside one of 63 bits a slack is a float, which is off by hundreds.
    slack = 0 if integral else 1e-6
    assert (found.output.low <= got + slack).all()
    assert (got <= found.output.high + slack).all()


LOOPS: dict[str, tuple[Callable[..., Any], dict[str, tuple[int, ...]], int]] = {
    "sum": (lambda x: sum(x), {"x": (10_000,)}, 12),
    "pairs": (lambda x: sum((x[i] - x[j]) ** 2 for i in range(64) for j in range(i)), {"x": (64,)}, 12),
    "products": (lambda x, y: np.stack([x[i] * y[i] for i in range(500)]), {"x": (500,), "y": (500,)}, 6),
    "inner": (lambda x, y: sum(x[i] * y[i] for i in range(500)), {"x": (500,), "y": (500,)}, 8),
    "rows": (lambda x: np.stack([x[i] @ np.arange(5) for i in range(40)]), {"x": (40, 5)}, 8),
    "squares": (lambda x: np.stack([(x[i] - 1) ** 2 for i in range(100)]).sum(), {"x": (100,)}, 8),
}


@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_becomes_a_few_operations_on_arrays(name: str, scheme: str) -> None:
    function, shapes, most = LOOPS[name]
    assert len(gathered(traced(function, scheme, **shapes)).nodes()) <= most


@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
@pytest.mark.parametrize("name", ["inner", "rows", "squares"])
def test_a_loop_runs_encrypted(name: str, scheme: str) -> None:
    function, shapes, _ = LOOPS[name]
    rng = np.random.default_rng(5)
    integral = scheme == "bfv"
    given = {n: rng.integers(-3, 4, s) if integral else rng.uniform(-1, 1, s) for n, s in shapes.items()}
    declared: Any = {n: rs.Encrypted(*s, bound=3.0) for n, s in shapes.items()}
    if not integral:
        declared["tolerance"] = 0.1
    report = rs.run(rs.kernel(**declared, scheme=scheme)(function), given)
    np.testing.assert_allclose(report.output, function(**given), atol=0 if integral else 0.1)
    assert report.program.native.steps < 20


def test_shifted_images_stay_as_they_are() -> None:
    """Nine shifted views, weighed and added, are one linear transform; an array would be nine times as large."""
    graph = traced(lambda x: sum(k * x[k : k + 6, 1:7] for k in range(1, 9)), "bfv", x=(16, 8))
    assert gathered(graph).output is graph.output
