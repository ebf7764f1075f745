# SPDX-License-Identifier: Apache-2.0
"""BFV is exact whatever the magnitudes: a result is the one of Python's integers, or the kernel is refused."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ringsmith as rs
from ringsmith.compiler.lowering.lower import lower
from ringsmith.compiler.params.primes import plain_modulus
from ringsmith.frontend.trace import trace
from ringsmith.ir import bounds
from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import ordered
from ringsmith.ir.index_map import taken
from ringsmith.ir.numbers import integers, residues
from ringsmith.ir.slot_program import SlotOp
from ringsmith.runtime.expected import deviation
from ringsmith.runtime.runner import sample_inputs

BIG = 2**53 + 1


def bfv(function: Any, **arguments: Any) -> rs.Kernel:
    return rs.kernel(scheme="bfv", **arguments)(function)


def test_a_large_constant() -> None:
    kernel = bfv(lambda x: x * BIG, x=rs.Encrypted(4, bound=7))
    values = [7, -7, 1, 0]
    wanted = [v * BIG for v in values]
    assert kernel.clear(values).tolist() == wanted
    assert kernel(values).tolist() == wanted


def test_a_plain_expression_beyond_int64() -> None:
    kernel = bfv(lambda x, w: x * (w * w - w * w + 1) + w, x=rs.Encrypted(2, bound=3), w=rs.Plain(2, bound=2**40))
    with pytest.raises(rs.ParameterError, match="60 bits"):
        kernel.compile()
    t = plain_modulus(32768, 2**51)
    modular = kernel.options(plain_modulus=t)
    x, w = np.array([3, -2]), np.array([2**40, 1 - 2**40])
    assert modular(x, w).tolist() == (x + w).tolist() == modular.clear(x, w).tolist()


def test_a_square_of_weights_modulo_t() -> None:
    t = plain_modulus(32768, 2**51)
    kernel = bfv(lambda x, w: x * (w * w), plain_modulus=t, x=rs.Encrypted(2, bound=3), w=rs.Plain(2, bound=2**40))
    wanted = [residue(3 * 2**80, t), residue(-2 * (2**40 - 1) ** 2, t)]
    assert kernel([3, -2], [2**40, 2**40 - 1]).tolist() == wanted
    assert kernel.clear([3, -2], [2**40, 2**40 - 1]).tolist() == wanted


def residue(value: int, t: int) -> int:
    value %= t
    return value - t if value > t // 2 else value


def test_a_bound_that_a_float_would_round() -> None:
    bound = 288230376151719937
    kernel = bfv(lambda x: x, x=rs.Encrypted(2, bound=bound))
    assert kernel.compile().params.plain_modulus > 2 * bound
    assert kernel([bound, -bound]).tolist() == [bound, -bound]
    with pytest.raises(rs.InputError, match="outside the declared"):
        kernel([bound + 1, 0])


def test_sums_beyond_t_are_refused() -> None:
    with pytest.raises(rs.ParameterError, match="60 bits"):
        bfv(lambda x: x + x, x=rs.Encrypted(2, bound=2**58)).compile()
    with pytest.raises(rs.ParameterError, match="60 bits"):
        bfv(lambda x: x**1000, x=rs.Encrypted(2, bound=2**58)).compile()
    with pytest.raises(rs.ParameterError, match="up to 40000 wrap modulo plain_modulus 65537"):
        bfv(lambda x: x, plain_modulus=65537, x=rs.Encrypted(2, bound=40000)).compile()


@pytest.mark.parametrize("modulus", [0, 1, -7, 2.5, "17", True])
def test_plain_moduli_that_are_none(modulus: Any) -> None:
    with pytest.raises(rs.KernelError, match="plain_modulus"):
        bfv(lambda x: x, plain_modulus=modulus, x=rs.Encrypted(2, bound=1))


def test_powers_modulo_t_larger_than_can_be_written() -> None:
    """x^(t - 1) is 1 for x != 0: the bound is astronomic, the residue is not."""
    kernel = bfv(lambda x: x**65536 - x**65536 + x, plain_modulus=65537, x=rs.Encrypted(3, bound=32768))
    graph = trace(kernel, {"x": (3,)})
    assert graph.output.bound >= bounds.CAP
    assert kernel.clear([2, 0, -5]).tolist() == [2, 0, -5]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.5, "not an integer"),
        (2.0**60, "does not hold every integer"),
        (float(BIG), "does not hold every integer"),
        (np.float32(2**25), "does not hold every integer"),
        (np.nan, "finite"),
        (np.inf, "finite"),
        (1j, "complex"),
        ([1, 0.5], "not an integer"),
        (np.array([1, "a"], dtype=object), "integers"),
        (np.array([1, 0.5], dtype=object), "not an integer"),
    ],
)
def test_numbers_that_are_no_exact_integers(value: Any, words: str) -> None:
    with pytest.raises(rs.KernelError, match=words):
        trace(bfv(lambda x: x * value, x=rs.Encrypted(2, bound=5)), {"x": (2,)})
    with pytest.raises(rs.InputError, match=words):
        bfv(lambda x: x, x=rs.Encrypted(2, bound=2**62)).check("x", value if np.ndim(value) else [value, value])


@pytest.mark.parametrize(
    "value",
    [
        np.array([True, False]),
        np.array([100, -100], dtype=np.int8),
        np.array([200, 255], dtype=np.uint8),
        np.array([2**50, 3], dtype=np.uint64),
        np.array([2**50, -3], dtype=object),
        [2**50, 3.0],
        [BIG, 1.0],
        np.array([3.0, -0.0]),
        np.array([7, 8], dtype=np.float16),
    ],
    ids=str,
)
def test_types_of_arguments_and_constants(value: Any) -> None:
    exactly = [int(v) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    kernel = bfv(lambda x, w: x * w + x * value, x=rs.Encrypted(2, bound=3), w=rs.Plain(2, bound=2**55))
    wanted = [2 * 3 * v for v in exactly]
    assert kernel.clear([3, 3], value).tolist() == wanted
    graph = trace(kernel, {"x": (2,), "w": (2,)})
    assert graph.output.low.tolist() == [-3 * 2**55 - 3 * abs(v) for v in exactly]


def test_small_types_do_not_overflow_in_the_clear() -> None:
    kernel = bfv(lambda x, w: x * w * 100 - 7, x=rs.Encrypted(2, bound=127), w=rs.Plain(2, bound=255))
    x, w = np.array([127, -128 + 1], dtype=np.int8), np.array([255, 255], dtype=np.uint8)
    assert kernel.clear(x, w).tolist() == [127 * 255 * 100 - 7, -127 * 255 * 100 - 7] == kernel(x, w).tolist()


def test_floats_in_the_function_do_not_round_the_reference() -> None:
    kernel = bfv(lambda x: x * 3.0 + np.uint64(1), x=rs.Encrypted(1, bound=2**56))
    assert kernel.clear([2**56]).tolist() == [3 * 2**56 + 1]


def test_division_leaves_the_integers() -> None:
    for function in (lambda x: x / 2, lambda x: x / 1):
        with pytest.raises(rs.KernelError, match="leaves the integers"):
            trace(bfv(function, x=rs.Encrypted(2, bound=5)), {"x": (2,)})


def test_fractional_bounds_hold_the_integers_between() -> None:
    graph = trace(bfv(lambda x: x, x=rs.Encrypted(2, bound=2.5)), {"x": (2,)})
    assert (graph.output.low.tolist(), graph.output.high.tolist()) == ([-2, -2], [2, 2])
    with pytest.raises(rs.InputError, match="no integer"):
        trace(bfv(lambda x: x, x=rs.Encrypted(2, low=0.2, high=0.8)), {"x": (2,)})


def test_manual_kernels_track_their_range() -> None:
    def product(x: Any) -> Any:
        return rs.relinearize(x[0] * x[1])

    declared = {"mode": "manual", "x": rs.Encrypted(2, 4, bound=1000), "output": rs.Output(4)}
    kernel = bfv(product, **declared)
    values = np.full((2, 4), 1000)
    assert kernel(values).tolist() == kernel.clear(values).tolist() == [10**6] * 4
    with pytest.raises(rs.ParameterError, match="wrap"):
        bfv(product, params="heaws-batched", allow_insecure=True, **declared).compile()
    with pytest.raises(rs.KernelError, match="not an integer"):
        bfv(lambda x: x[0] * 0.5, **declared).compile()


def test_packing_functions_stay_inside_the_declared_range() -> None:
    def sums(values: Any, _slots: int) -> Any:
        return values.sum(axis=0, keepdims=True)

    kernel = bfv(
        lambda x: x[0], mode="manual", x=rs.Encrypted(2, 4, bound=9, packing=sums), output=rs.Output(4)
    )  # fmt: skip
    with pytest.raises(rs.InputError, match="as packed reaches 18, the kernel declares at most 9"):
        kernel(np.full((2, 4), 9))


def test_results_are_compared_exactly() -> None:
    assert deviation(np.array([2**60]), np.array([2**60 + 1])) == 1
    assert deviation(np.array([2**60]), np.array([2.0**60])) == 0
    assert deviation(np.array([2**60 + 1]), np.array([2.0**60])) == 1
    assert deviation(np.array([1]), np.array([np.nan])) == np.inf
    assert deviation(np.array([1, 2]), np.array([1])) == np.inf
    assert deviation(np.array([1, 2**60]), np.array([1, 2**60 + 2], dtype=object)) == 2


def test_sample_data_stay_inside_large_bounds() -> None:
    kernel = bfv(lambda x, y: x, x=rs.Encrypted(50, bound=2**57 + 1), y=rs.Encrypted(50, low=2**56, high=2**56 + 1))
    drawn = sample_inputs(kernel, "s", {})
    assert kernel.bind((), drawn)["y"].tolist() == drawn["y"].tolist()
    assert any(abs(int(v)) > 2**55 for v in drawn["x"])


def test_residues() -> None:
    values = [0, 1, -1, 8, 9, 17, 2**200 + 3, -(2**70)]
    assert residues(integers(values, "v"), 17).tolist() == [residue(v, 17) for v in values]
    assert residues(np.array([2**64 - 1], dtype=np.uint64), 17).tolist() == [residue(2**64 - 1, 17)]


# ------------------------------------------------------------------------------------------------ random expressions

LEAVES = st.one_of(
    st.sampled_from(["x", "y", "w", "v"]),
    st.integers(-(2**70), 2**70),
    st.integers(-9, 9),
    st.sampled_from([2**31, 2**53 + 1, 2**62 - 1, -(2**62), 2**63, 2**63 - 1]),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner),
        st.tuples(st.sampled_from(["neg", "square", "cube", "sum", "poly", "matmul", "first", "roll"]), inner),
    ),
    max_leaves=8,
)


def build(tree: Any, names: dict[str, Any]) -> Any:
    """Compute an expression on whatever `names` are."""
    if isinstance(tree, str):
        return names[tree]
    if isinstance(tree, int):
        return tree
    parts = [build(part, names) for part in tree[1:]]
    a = parts[0]
    match tree[0]:
        case "+" | "-" | "*":
            return {"+": operator.add, "-": operator.sub, "*": operator.mul}[tree[0]](*parts)
        case "neg":
            return -a
        case "square":
            return rs.square(a)
        case "cube":
            return a**3
        case _ if isinstance(a, int):
            return a
        case "sum":
            return a + rs.sum(a)
        case "poly":
            return rs.polynomial(a, [3, -(2**53) - 1, 0, 1])
        case "matmul":
            return a @ np.array([[1, -2, 3], [2**53 + 1, 0, 1], [1, 1, -1]], dtype=object)
        case "first":
            return a + a[0]
    return rs.rotate(a, 1)


class Exact(list[int]):
    """Three Python integers with the operators an expression needs: the reference."""

    def _with(self, other: Any, action: Any) -> Exact:
        others = other if isinstance(other, list) else [other] * 3
        return Exact(action(a, b) for a, b in zip(self, others, strict=True))

    def __add__(self, other: Any) -> Exact:  # type: ignore[override]
        return self._with(other, operator.add)

    def __mul__(self, other: Any) -> Exact:
        return self._with(other, operator.mul)

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Any) -> Exact:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Exact:
        return self._with(other, lambda a, b: b - a)


def reference(tree: Any, names: dict[str, Any]) -> Any:
    """Compute an expression in Python's integers alone."""
    if isinstance(tree, str):
        return Exact(names[tree])
    if isinstance(tree, int):
        return tree
    parts = [reference(part, names) for part in tree[1:]]
    a: Any = parts[0]
    if tree[0] in "+-*":
        return build((tree[0], "a", "b"), {"a": a, "b": parts[1]})
    scalar = {"neg": lambda v: -v, "square": lambda v: v * v, "cube": lambda v: v**3}.get(tree[0])
    if scalar is not None:
        return Exact(map(scalar, a)) if isinstance(a, list) else scalar(a)
    if not isinstance(a, list):
        return a
    p, q, r = a
    match tree[0]:
        case "sum":
            return Exact(v + p + q + r for v in a)
        case "poly":
            return Exact(3 - (2**53 + 1) * v + v**3 for v in a)
        case "matmul":
            return Exact([p + (2**53 + 1) * q + r, -2 * p + r, 3 * p + q - r])
        case "first":
            return Exact(v + p for v in a)
    return Exact([q, r, p])


SMALL, LARGE = st.integers(-3, 3), st.integers(-(2**40), 2**40)
DATA = st.fixed_dictionaries(
    {
        name: st.lists(leaf, min_size=3, max_size=3)
        for name, leaf in zip("xywv", (SMALL, LARGE, SMALL, LARGE), strict=True)
    }
)


def kernel_of(tree: Any) -> rs.Kernel:
    declared = {"x": rs.Encrypted(3, bound=3), "y": rs.Encrypted(3, bound=2**40)}
    plain = {"w": rs.Plain(3, bound=3), "v": rs.Plain(3, bound=2**40)}
    return bfv(lambda x, y, w, v: x + build(tree, {"x": x, "y": y, "w": w, "v": v}), **declared, **plain)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(EXPRESSIONS, DATA)
def test_random_expressions_in_the_clear(tree: Any, values: dict[str, list[int]]) -> None:
    """The clear reference, the traced bounds and the circuit on exact slots agree with Python's integers."""
    kernel = kernel_of(tree)
    wanted = reference(("+", "x", tree), values)
    assert kernel.clear(**values).tolist() == wanted
    graph = trace(kernel, dict.fromkeys(values, (3,)))
    assert all(low <= v <= high for low, v, high in zip(graph.output.low, wanted, graph.output.high, strict=True))
    arrays = {name: integers(value, name) for name, value in values.items()}
    assert run_exactly(kernel, arrays) == wanted


def run_exactly(kernel: rs.Kernel, arrays: dict[str, Any]) -> list[int]:
    """Run the lowered operations on slots of Python's integers."""
    program = lower(trace(kernel, dict.fromkeys(arrays, (3,))), kernel.arguments, Slots(2, 4))
    values_of = evaluate(ordered(plain.node for plain in program.plains), arrays)
    plains = [taken(plain.gather, values_of[id(plain.node)]).astype(object) for plain in program.plains]
    fresh = iter(
        np.where(row >= 0, arrays[name].astype(object)[row], 0)
        for name, packing in program.inputs.items()
        for row in packing.gather
    )
    values: list[Any] = []
    for op in program.ops:
        args = [values[arg] for arg in op.args] + ([plains[op.plain]] if op.plain >= 0 else [])
        match op.kind.split("_")[0]:
            case "input":
                values.append(next(fresh))
            case "rotate":
                values.append(turned(args[0], op.steps))
            case "linear":
                values.append(transformed(op, args[0], plains))
            case "swap":
                values.append(np.concatenate(np.split(args[0], 2)[::-1]))
            case "square":
                values.append(args[0] ** 2)
            case "negate":
                values.append(-args[0])
            case name:
                action = {"add": operator.add, "sub": operator.sub, "multiply": operator.mul}[name]
                values.append(reduce(action, args))
    rows = np.stack([values[number] for number in program.outputs])
    return list(rows[program.output_ct, program.output_slot].tolist())


def transformed(op: SlotOp, x: Any, plains: list[Any]) -> Any:
    """Apply a linear transform, by its definition."""
    total = 0 * x
    for giant in op.transform.giants if op.transform else ():
        for term in giant.terms:
            product = turned(x, term.rotation) * (plains[term.plain] if term.plain >= 0 else 1)
            total = total + turned(product, giant.rotation)
    return total


def turned(x: Any, steps: int) -> Any:
    """Rotate both rows of slots."""
    return np.concatenate([np.roll(row, -steps) for row in np.split(x, 2)])


@settings(max_examples=20, deadline=None, derandomize=True)
@given(EXPRESSIONS, DATA)
def test_random_expressions_encrypted(tree: Any, values: dict[str, list[int]]) -> None:
    """Encrypted the answer is right, or the kernel is refused."""
    try:
        found = kernel_of(tree)(**values)
    except rs.RingsmithError:
        return
    assert found.tolist() == reference(("+", "x", tree), values)


INTERVALS = st.tuples(*[st.integers(-(2**66), 2**66)] * 2).map(sorted)


@given(INTERVALS, INTERVALS, st.data())
def test_bounds_hold(a: list[int], b: list[int], data: Any) -> None:
    u, v = data.draw(st.integers(*a)), data.draw(st.integers(*b))
    x, y = ((np.array(low, dtype=object), np.array(high, dtype=object)) for low, high in (a, b))
    for (low, high), value in (
        (bounds.add(x, y), u + v),
        (bounds.subtract(x, y), u - v),
        (bounds.multiply(x, y), u * v),
        (bounds.power(x, 3), u**3),
        (bounds.power(x, 4), u**4),
        (bounds.polynomial(x, [7, -(2**54), 0, 5]), 7 - 2**54 * u + 5 * u**3),
        (bounds.matmul(*(tuple(np.stack([e, e]) for e in z) for z in (x, y))), 2 * u * v),  # type: ignore[arg-type]
    ):
        assert low.item() <= value <= high.item()
        assert low.dtype == high.dtype
        assert low.dtype in (np.dtype(np.int64), np.dtype(object))
