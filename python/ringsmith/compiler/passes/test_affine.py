# SPDX-License-Identifier: Apache-2.0
"""Affine parts as matrices: numpy's values, few levels, and nothing else touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ringsmith as rs
from ringsmith.compiler.compile import UnboundedError, layouts_of
from ringsmith.compiler.passes import affine
from ringsmith.frontend.trace import trace
from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.graph import Graph, Op


def smoothed(x: Any, share: Any = 0.1) -> list[Any]:
    """Exponential smoothing along the first axis, each step from the one before."""
    steps = [x[0]]
    for number in range(1, x.shape[0]):
        steps.append(share * x[number] + (1 - share) * steps[-1])
    return steps


def resonance(x: Any) -> list[Any]:
    """An autoregression of order two: the steps' ranges grow, the outcome's do not."""
    steps = [x[0], x[1]]
    for number in range(2, x.shape[0]):
        steps.append(1.6 * steps[-1] - 0.8 * steps[-2] + x[number])
    return steps


def filtered(x: Any) -> list[Any]:
    """A filter with feedback."""
    steps = [x[0]]
    for number in range(1, x.shape[0]):
        steps.append(0.2 * x[number] + 0.2 * x[number - 1] + 0.6 * steps[-1])
    return steps


ROTATION = np.array([[1.0, 0.05], [-0.05, 0.99]])
LINKS = np.random.default_rng(3).dirichlet(np.ones(12), 12).T


def euler(x: Any) -> Any:
    for _ in range(20):
        x = ROTATION @ x + np.array([0.01, 0.0])
    return x


def ranked(x: Any) -> Any:
    for _ in range(6):
        x = 0.85 * (LINKS @ x) + 0.15 / 12
    return x


def up_to_each(x: Any) -> Any:
    sums = [2 * x[0]]
    for number in range(1, x.shape[0]):
        sums.append(sums[-1] + x[number] - 1)
    return np.stack(sums)


def shrunk(x: Any) -> Any:
    for _ in range(9):
        x = 0.9 * x - np.array([0.1, 0.2, 0.3])
    return x


def euler_rows(x: Any) -> Any:
    for _ in range(20):
        x = x @ ROTATION.T + np.array([0.01, 0.0])
    return x


#: Function, shape of its argument, and the one product that its program takes.
CASES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...], Op]] = {
    "smoothing": (lambda x: smoothed(x)[-1], (64,), Op.MATMUL),
    "smoothing, stacked": (lambda x: np.stack(smoothed(x)), (64,), Op.MATMUL),
    "smoothing of rows": (lambda x: np.stack(smoothed(x.T)).T, (6, 40), Op.MATMUL),
    "resonance": (lambda x: np.stack(resonance(x)), (50,), Op.MATMUL),
    "filter": (lambda x: np.stack(filtered(x)), (50,), Op.MATMUL),
    "euler": (euler, (2,), Op.MATMUL),
    "euler, many": (euler_rows, (30, 2), Op.MATMUL),
    "ranks": (ranked, (12,), Op.MATMUL),
    "sums up to each": (up_to_each, (40,), Op.MATMUL),
    "element by element": (shrunk, (7, 3), Op.MULTIPLY),
}


def graph_of(function: Any, shape: tuple[int, ...], **options: Any) -> Graph:
    declared: Any = {"x": rs.Encrypted(*shape, bound=1.0)}
    return layouts_of(rs.kernel(**declared, **options)(function), {"x": shape}).graph


def value_of(graph: Graph, **arrays: Any) -> Any:
    return evaluate(graph.nodes(), arrays)[id(graph.output)]


@pytest.mark.parametrize("name", CASES)
def test_an_affine_part_is_one_product(name: str) -> None:
    function, shape, operation = CASES[name]
    graph = graph_of(function, shape)
    assert {node.op for node in graph.nodes() if node.encrypted} <= {operation, Op.INPUT, Op.INDEX, Op.ADD}
    assert sum(node.op in (Op.MATMUL, Op.MULTIPLY) for node in graph.nodes()) == 1
    x = np.random.default_rng(1).uniform(-1, 1, shape)
    np.testing.assert_allclose(value_of(graph, x=x), function(x), rtol=1e-12, atol=1e-12)
    bound = 20 * max(float(np.abs(function(one * np.ones(shape))).max()) for one in (-1, 1))
    assert graph.output.bound <= bound


def test_a_long_recurrence_runs_at_one_level() -> None:
    x = np.random.default_rng(1).uniform(-1, 1, 64)
    kernel = rs.kernel(x=rs.Encrypted(64, bound=1.0), tolerance=1e-3)(lambda x: np.stack(smoothed(x)))
    program = kernel.compile()
    assert program.params.n <= 8192
    report = rs.run(kernel, {"x": x}, seed="1")
    np.testing.assert_allclose(report.output, np.stack(smoothed(x)), atol=1e-3)


def test_a_thousand_steps_are_one_product() -> None:
    graph = graph_of(lambda x: smoothed(x)[-1], (1000,))
    assert {node.op for node in graph.nodes() if node.encrypted} == {Op.INPUT, Op.MATMUL, Op.INDEX}
    x = np.random.default_rng(1).uniform(-1, 1, 1000)
    np.testing.assert_allclose(value_of(graph, x=x), smoothed(x)[-1], rtol=1e-12)


def test_integers_stay_exact_beyond_64_bits() -> None:
    def grown(x: Any) -> Any:
        a, b = x[0], x[1]
        for _ in range(60):
            a, b = 3 * a + b, 2 * a - 5 * b + 7
        return np.stack([a, b])

    graph = graph_of(grown, (2,), scheme="bfv", plain_modulus=65537)
    assert sum(node.op is Op.MATMUL for node in graph.nodes()) == 1
    x = np.array([3, -2])
    expected = grown(x.astype(object))
    assert abs(expected[0]) > 1 << 64
    assert (value_of(graph, x=x) == expected).all()
    report = rs.run(rs.kernel(x=rs.Encrypted(2, bound=3), scheme="bfv", plain_modulus=65537)(grown), {"x": x}, seed="1")
    assert ((report.output - expected) % 65537 == 0).all()


def test_an_encrypted_share_leaves_the_steps_as_they_are() -> None:
    kernel = rs.kernel(x=rs.Encrypted(12, bound=1.0), a=rs.Encrypted(bound=0.5))(lambda x, a: smoothed(x, a)[-1])
    graph = layouts_of(kernel, {"x": (12,), "a": ()}).graph
    assert sum(node.op is Op.MULTIPLY and all(a.encrypted for a in node.args) for node in graph.nodes()) >= 11
    x = np.random.default_rng(1).uniform(-1, 1, 12)
    np.testing.assert_allclose(value_of(graph, x=x, a=np.array(0.3)), smoothed(x, 0.3)[-1], rtol=1e-12)


def test_clear_terms_take_part_in_the_clear() -> None:
    def driven(x: Any, u: Any) -> Any:
        s = x[0]
        for k in range(10):
            s = 0.5 * s + 0.25 * x[k] + 0.125 * u[k]
        return s

    kernel = rs.kernel(x=rs.Encrypted(10, bound=1.0), u=rs.Plain(10, bound=1.0))(driven)
    graph = layouts_of(kernel, {"x": (10,), "u": (10,)}).graph
    assert [node.op for node in graph.nodes() if node.encrypted].count(Op.MATMUL) == 1
    assert not any(node.op is Op.MULTIPLY for node in graph.nodes())
    x, u = np.random.default_rng(1).uniform(-1, 1, (2, 10))
    np.testing.assert_allclose(value_of(graph, x=x, u=u), driven(x, u), rtol=1e-12)
    assert rs.run(kernel, {"x": x, "u": u}, seed="1").correct


def test_a_matrix_that_costs_more_is_not_taken() -> None:
    """A product of a column and a row, scaled: as a matrix it has all its diagonals."""
    column, row = np.random.default_rng(1).uniform(-1, 1, (2, 256))
    graph = graph_of(lambda x: 0.5 * (0.5 * ((x @ row) * column)), (256,))
    assert max(node.low.size for node in graph.nodes()) <= 256


def test_ranges_that_grow_with_the_steps_alone_are_no_obstacle() -> None:
    def halved(x: Any) -> Any:
        s = x[0]
        for number in range(1, x.shape[0]):
            s = 50 * s - 49.5 * s + x[number]
        return s

    assert graph_of(halved, (170,)).output.bound < 3
    with pytest.raises(UnboundedError):
        graph_of(lambda x: halved(x) ** 2 + 1e300 * x[0] * x[1] * 1e300, (170,))


#: Steps of a random affine function of x (3, 4).
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - 2 * b,
    "scale": lambda a, _b: 3 * a + 1,
    "by row": lambda a, _b: a * np.array([1, 2, 0, -1]),
    "by column": lambda a, _b: np.array([[2], [0], [-3]]) * a,
    "left": lambda a, _b: np.array([[1, 2, 0], [0, 1, -1], [1, 0, 2]]) @ a,
    "right": lambda a, b: b @ np.array([[1, 0, 2, 1], [0, 1, 0, 0], [-1, 0, 1, 0], [0, 0, 0, 2]]) - a,
    "vector": lambda a, b: a + (b @ np.array([1, -1, 2, 0]))[:, None],
    "total": lambda a, b: a - b.sum(axis=0),
    "all": lambda a, b: b + a.sum(),
    "roll": lambda a, b: np.roll(a, 1, axis=1) + b[::-1],
    "join": lambda a, b: np.concatenate([a[:1], b[1:]]),
    "stack": lambda a, b: np.stack([a[i // 4, i % 4] + b[2 - i // 4, 0] * i for i in range(12)]).reshape(3, 4),
    "turn": lambda a, _b: a.T.reshape(3, 4),
    "number": lambda a, _b: np.arange(12).reshape(3, 4) - a,
}


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.sampled_from(list(STEPS)), min_size=3, max_size=7),
    square=st.integers(-1, 6),
    scheme=st.sampled_from(["bfv", "ckks"]),
)
def test_random_graphs_keep_their_values(steps: list[str], square: int, scheme: str) -> None:
    """All of them are affine but for one square at most."""

    def function(x: Any) -> Any:
        a = b = x
        for number, step in enumerate(steps):
            if number == square:
                b = b * b
            a, b = STEPS[step](a, b), a
        return a

    kernel: Any = rs.kernel(x=rs.Encrypted(3, 4, bound=3), scheme=scheme)(function)
    graph = trace(kernel, {"x": (3, 4)})
    parts = list(affine.affine_parts(graph))
    x = np.random.default_rng(1).integers(-3, 4, (3, 4))
    values = x if scheme == "bfv" else x.astype(float)
    found = value_of(affine.with_matrices(graph, parts), x=values)
    assert found.shape == (3, 4)
    assert (found == function(x.astype(object))).all()
