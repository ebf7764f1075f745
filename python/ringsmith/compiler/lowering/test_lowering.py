# SPDX-License-Identifier: Apache-2.0
"""Graphs, lowering and schedules against numpy, with a clear interpreter of circuits in place of an engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith.compiler.lowering.lower import lower
from ringsmith.compiler.scheduling import schedule_bfv, schedule_ckks
from ringsmith.frontend import functions as rs
from ringsmith.frontend.declare import Encrypted, Plain
from ringsmith.frontend.trace import trace
from ringsmith.ir.circuit import Circuit, Step
from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.geometry import Slots
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import PlainOperand, SlotProgram
from ringsmith.runtime.kernel import Kernel, kernel

Array = NDArray[Any]


def clear_run(circuit: Circuit, arrays: dict[str, Array]) -> Array:
    """Run a circuit on clear slots, checking levels, scales and sizes on the way; garbage would show in the result."""
    nodes = {id(plain.node): plain.node for plain in circuit.plains}
    order: list[Any] = []

    def visit(node: Any) -> None:
        for arg in node.args:
            visit(arg)
        order.append(node)

    for node in nodes.values():
        visit(node)
    plain_values = evaluate(order, arrays)
    fresh = iter(
        np.where(row >= 0, arrays[name].reshape(-1)[row], 0)
        for name, packing in circuit.inputs.items()
        for row in packing.gather
    )
    values: list[Array] = []
    for step in circuit.steps:
        check_types(circuit, step)
        args = [values[arg] for arg in step.args]
        plains = {number: plain_slots(circuit.plains[number], plain_values) for number in step.plains}
        values.append(next(fresh) if step.kind is Kind.INPUT else apply(circuit.slots, step, args, plains))
    rows = np.stack([values[number] for number in circuit.outputs])
    return np.asarray(rows[circuit.output.ct, circuit.output.slot])


def plain_slots(operand: PlainOperand, values: dict[int, Array]) -> Array:
    """The slots of a plaintext."""
    return np.where(operand.gather >= 0, values[id(operand.node)].reshape(-1)[operand.gather], 0)


def turned(slots: Slots, x: Array, steps: int) -> Array:
    """Rotate every row of slots to the left."""
    return np.concatenate([np.roll(row, -steps) for row in np.split(x, slots.rows)])


def transformed(slots: Slots, step: Step, x: Array, plains: dict[int, Array]) -> Array:
    """Apply a linear transform, by its definition."""
    total = np.zeros_like(x)
    for giant in step.transform.giants if step.transform else ():
        terms = [turned(slots, x, t.rotation) * (plains[t.plain] if t.plain >= 0 else 1) for t in giant.terms]
        total = total + turned(slots, np.sum(terms, axis=0), giant.rotation)
    return total


def apply(slots: Slots, step: Step, args: list[Array], plains: dict[int, Array]) -> Array:
    """Apply one operation to clear slots."""
    plain = plains.get(step.plain)
    match step.kind:
        case Kind.ADD:
            return args[0] + args[1]
        case Kind.SUB:
            return args[0] - args[1]
        case Kind.NEGATE:
            return -args[0]
        case Kind.MULTIPLY:
            return args[0] * args[1]
        case Kind.SQUARE:
            return args[0] ** 2
        case Kind.ADD_PLAIN:
            return args[0] + plain
        case Kind.SUB_PLAIN:
            return args[0] - plain
        case Kind.MULTIPLY_PLAIN:
            return args[0] * plain
        case Kind.ROTATE:
            return turned(slots, args[0], step.steps)
        case Kind.LINEAR_TRANSFORM:
            return transformed(slots, step, args[0], plains)
        case Kind.SWAP_ROWS:
            first, second = np.split(args[0], 2)
            return np.concatenate([second, first])
    return args[0]


def check_types(circuit: Circuit, step: Step) -> None:
    """Check an operation's level, scale and size against its operands'."""
    args = [circuit.steps[arg] for arg in step.args]
    if step.kind in (Kind.ADD, Kind.SUB):
        assert args[0].level == args[1].level == step.level
        assert args[0].scale == pytest.approx(args[1].scale, rel=1e-12)
    if step.kind in (Kind.ADD_PLAIN, Kind.SUB_PLAIN):
        assert step.plain_scale == args[0].scale
    if step.kind in (Kind.MULTIPLY, Kind.SQUARE):
        assert all(arg.size == 2 and arg.level == step.level for arg in args)
        assert step.scale == pytest.approx(args[0].scale * args[-1].scale)
        assert step.size == 3
    if step.kind is Kind.MULTIPLY_PLAIN or (step.kind is Kind.LINEAR_TRANSFORM and step.plains):
        assert step.level == args[0].level
        assert step.scale == pytest.approx(args[0].scale * step.plain_scale, rel=1e-12)
    if step.kind is Kind.RELINEARIZE:
        assert args[0].size == 3
        assert step.size == 2
    if step.kind in (Kind.ROTATE, Kind.SWAP_ROWS, Kind.LINEAR_TRANSFORM):
        assert args[0].size == step.size == 2
    if step.kind is Kind.RELINEARIZE_RESCALE:
        assert args[0].size == 3
        assert step.size == 2
    if step.kind in (Kind.RESCALE, Kind.RELINEARIZE_RESCALE):
        assert args[0].level == step.level + 1
    if step.transform is not None:
        check_transform(step)


def check_transform(step: Step) -> None:
    """Check a transform's form: rotations rise, something is rotated, plaintexts in every term or in none."""
    assert step.transform is not None
    giants = [giant.rotation for giant in step.transform.giants]
    babies = [[term.rotation for term in giant.terms] for giant in step.transform.giants]
    assert all(rotations == sorted(set(rotations)) and rotations for rotations in (giants, *babies))
    assert step.rotations
    assert len(step.plains) in (0, sum(map(len, babies)))


MODULI = tuple((1 << 40) + 2 * k + 1 for k in range(16))


def run(made: Kernel, slots: int, **arrays: Array) -> tuple[Array, Circuit]:
    """Lower, schedule and run a kernel on clear slots: one row of them in CKKS, two in BFV."""
    rows = 2 if made.scheme == "bfv" else 1
    graph = trace(made, {name: array.shape for name, array in arrays.items()})
    program = lower(graph, made.arguments, Slots(rows, slots // rows))
    circuit = scheduled_circuit(made, program)
    return clear_run(circuit, arrays), circuit


def scheduled_circuit(made: Kernel, program: SlotProgram) -> Circuit:
    """Schedule a program on a chain as long as it needs."""
    if made.scheme == "bfv":
        return schedule_bfv.schedule(program, 3)
    scheduled = schedule_ckks.schedule(program)
    return schedule_ckks.resolve(scheduled, MODULI[: scheduled.depth + 1], 40.0)


def random_arrays(made: Kernel, seed: int = 0, **shapes: tuple[int, ...]) -> dict[str, Array]:
    """Return random values for a kernel's arguments, integers for BFV."""
    rng = np.random.default_rng(seed)
    arrays = {
        name: rng.uniform(argument.low, argument.high, argument.fix(name, shapes.get(name)))
        for name, argument in made.arguments.items()
    }
    return {name: np.round(array) for name, array in arrays.items()} if made.scheme == "bfv" else arrays


def check(made: Kernel, slots: int = 64, seed: int = 0, **shapes: tuple[int, ...]) -> Circuit:
    """Compare the circuit with numpy on random data; return it."""
    arrays = random_arrays(made, seed, **shapes)
    found, circuit = run(made, slots, **arrays)
    expected = np.asarray(made.function(**arrays))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    return circuit


def two(function: Any, *, x: tuple[int, ...], y: tuple[int, ...], plain: bool = False, packing: str = "rows") -> Kernel:
    """Make a kernel of a function of two arguments."""
    second = Plain(*y, bound=1) if plain else Encrypted(*y, bound=1, packing=packing)
    return kernel(x=Encrypted(*x, bound=1, packing=packing), y=second)(function)


def add_mul(x: Any, y: Any) -> Any:
    return x * y + x - 2 * y


@pytest.mark.parametrize("packing", ["rows", "columns", "each"])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    "shapes", [((5,), (5,)), ((3, 5), (5,)), ((3, 5), (3, 1)), ((100,), (100,)), ((1,), (7,)), ((), (4,))]
)
def test_elementwise_with_broadcasting(shapes: Any, plain: bool, packing: str) -> None:
    check(two(add_mul, x=shapes[0], y=shapes[1], plain=plain, packing=packing))


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    "shapes",
    [
        ((8,), (8,)),
        ((4, 8), (8,)),
        ((6,), (6, 3)),
        ((3, 5), (5, 4)),
        ((2, 100), (100,)),
        ((40, 7), (7,)),
        ((1, 9), (9, 1)),
    ],
)
def test_matmul(shapes: Any, plain: bool) -> None:
    def product(x: Any, y: Any) -> Any:
        return x @ y

    check(two(product, x=shapes[0], y=shapes[1], plain=plain))


@pytest.mark.parametrize("shape", [(8, 8), (5, 8), (8, 5), (20, 32), (32, 20), (3, 50), (64, 64)])
def test_plain_matrix_times_vector_twice(shape: tuple[int, int]) -> None:
    def layers(x: Any, y: Any) -> Any:
        return y.T @ (y @ x)

    check(kernel(x=Encrypted(shape[1], bound=1), y=Plain(*shape, bound=1))(layers))


def test_diagonals_need_few_rotations() -> None:
    def product(x: Any, y: Any) -> Any:
        return y @ x

    circuit = check(kernel(x=Encrypted(64, bound=1), y=Plain(64, 64, bound=1))(product), slots=64)
    counts = circuit.counts()
    assert "rotate" not in counts
    assert counts["linear_transform"] == 1
    assert counts["key_switch"] <= 18
    assert circuit.counts()["rescale"] <= 9


@pytest.mark.parametrize("packing", ["rows", "columns", "each"])
@pytest.mark.parametrize("shape", [(7,), (8,), (3, 5), (70,), (2, 3, 4), (130,), (5, 64)])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_sums(shape: tuple[int, ...], axis: int | None, packing: str) -> None:
    check(kernel(x=Encrypted(*shape, bound=1, packing=packing))(lambda x: rs.sum(x, axis) * 1.5))


def test_padded_sum_takes_logarithmically_many_rotations() -> None:
    circuit = check(kernel(x=Encrypted(30, bound=1))(lambda x: rs.sum(x)))
    counts = circuit.counts()
    # 32 = 4 * 4 * 2: three of four rotations for each four, the last by one rotation.
    assert counts["key_switch"] <= 7
    assert counts.get("rotate", 0) + counts["linear_transform"] == 3


@pytest.mark.parametrize("length", [8, 7, 100])
def test_rotation_slices_and_joins(length: int) -> None:
    def function(x: Any) -> Any:
        a = rs.rotate(x, 3) + x
        b = x[1:5] * x[:4]
        return rs.concatenate([a, b, x[::-2], np.ones(2)])

    check(kernel(x=Encrypted(length, bound=1))(function))


def test_rotation_of_a_power_of_two_is_one_rotation() -> None:
    circuit = check(kernel(x=Encrypted(16, bound=1))(lambda x: rs.rotate(x, 5) - x))
    assert circuit.counts() == {"sub": 1, "rotate": 1, "key_switch": 1}
    assert len(circuit.inputs["x"].gather) == 1


def test_stack_transpose_reshape() -> None:
    def function(x: Any) -> Any:
        pairs = rs.stack([x, -x], axis=1)
        return pairs.T.reshape(-1) * 2.5 + np.arange(pairs.size)

    check(kernel(x=Encrypted(6, bound=1))(function))


@pytest.mark.parametrize("degree", range(1, 16))
def test_polynomials_take_the_fewest_levels(degree: int) -> None:
    coefficients = np.random.default_rng(degree).uniform(-1, 1, degree + 1)

    def function(x: Any) -> Any:
        return rs.polynomial(x, list(coefficients))

    circuit = check(kernel(x=Encrypted(5, bound=1))(function))
    depth = circuit.steps[0].level - min(step.level for step in circuit.steps)
    assert depth == int(np.ceil(np.log2(degree + 1)))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, 7, 8])
def test_powers(exponent: int) -> None:
    check(kernel(x=Encrypted(5, bound=1))(lambda x: x**exponent + x))


def test_lazy_relinearization_of_a_sum_of_products() -> None:
    def function(x: Any, y: Any) -> Any:
        return (x * y).sum(0)

    circuit = check(two(function, x=(10, 3), y=(10, 3), packing="each"))
    counts = circuit.counts()
    assert (counts["multiply"], counts["add"], counts["relinearize_rescale"], counts["key_switch"]) == (
        30, 27, 3, 3,
    )  # fmt: skip
    assert "rescale" not in counts


def test_a_promise_covers_all_slots_where_the_rest_is_zero() -> None:
    def promise(packing: str) -> bool:
        made = kernel(x=Encrypted(5, 4, bound=1, packing=packing))(lambda x: rs.within(x @ np.ones(4), 3.0) ** 2)
        return next(step.everywhere for step in check(made).steps if step.kind is Kind.WITHIN)

    assert promise("columns")
    assert not promise("rows")


def test_bfv_relinearizes_once_per_sum() -> None:
    made = kernel(
        scheme="bfv", x=Encrypted(10, 3, bound=9, packing="each"), y=Encrypted(10, 3, bound=9, packing="each")
    )(lambda x, y: (x * y).sum(0) * 3 - 7)
    counts = check(made).counts()
    assert counts["relinearize"] == 3
    assert "rescale" not in counts


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed: int, scheme: str) -> None:
    check(random_kernel(seed, scheme), slots=32, seed=seed)


def random_kernel(seed: int, scheme: str, operations: int = 20, max_depth: int = 4) -> Kernel:
    """Return a kernel of random operations on vectors of 5, of bounded multiplicative depth."""
    plan = np.random.default_rng(seed).integers(0, 1 << 30, size=(operations, 3))

    def function(x: Any, y: Any, w: Any) -> Any:
        values = [(x, 0), (y, 0)]
        for choice, left, right in plan:
            (a, depth_a), (b, depth_b) = values[left % len(values)], values[right % len(values)]
            values.append(random_step(int(choice % 9), a, depth_a, b, depth_b, w, max_depth))
        return values[-1][0] + values[-2][0]

    bound = 1 if scheme == "ckks" else 2
    x, y, w = Encrypted(5, bound=bound), Encrypted(5, bound=bound), Plain(5, bound=bound)
    return kernel(scheme=scheme, name=f"random-{seed}", tolerance=1e-3, x=x, y=y, w=w)(function)


def random_step(choice: int, a: Any, depth_a: int, b: Any, depth_b: int, w: Any, max_depth: int) -> tuple[Any, int]:
    """Apply one random operation; products beyond the depth become sums."""
    depth = max(depth_a, depth_b)
    if choice in (3, 4, 5) and depth >= max_depth:
        choice = 0
    match choice:
        case 0:
            return a + b, depth
        case 1:
            return a - b, depth
        case 2:
            return -a, depth_a
        case 3:
            return a * b, depth + 1
        case 4:
            return a * w, depth_a + 1
        case 5:
            return rs.square(a), depth_a + 1
        case 6:
            return a + w, depth_a
        case 7:
            return 2 * a - 1, depth_a
    return rs.rotate(a, 2), depth_a + 1


@pytest.mark.parametrize("shape", [(5,), (3, 4)])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.var(),
        lambda x: np.var(x, axis=-1, ddof=1, keepdims=True) * x,
        lambda x: np.cumsum(x, axis=0) - x,
        lambda x: x.cumsum(),
        lambda x: np.diff(x, n=2),
        lambda x: np.pad(x, 1, constant_values=2.5) * np.pad(x, 1, mode="wrap"),
    ],
    ids=["var", "var-ddof", "cumsum", "cumsum-all", "diff", "pad"],
)
def test_series(function: Any, shape: tuple[int, ...]) -> None:
    check(kernel(x=Encrypted(*shape, bound=1))(function))


def test_a_variance_takes_two_levels() -> None:
    circuit = check(kernel(x=Encrypted(30, bound=1))(lambda x: x.var()))
    assert circuit.steps[0].level - min(step.level for step in circuit.steps) == 2
