# SPDX-License-Identifier: Apache-2.0
"""Lowering for two rows of slots against numpy: tensors in one row, in both, across them, in several ciphertexts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.test_lowering import check
from ringsmith.frontend import functions as rs
from ringsmith.frontend.declare import Encrypted, Plain
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.geometry import Slots, slots_of
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location
from ringsmith.runtime.kernel import kernel

#: Slots of a ciphertext in these tests, as two rows of 32.
SLOTS = 64
LENGTHS = [1, 5, 31, 32, 33, 40, 63, 64, 65, 100, 130]
SHAPES = [(2, 20), (3, 32), (2, 33), (5, 17), (9, 8), (2, 64), (3, 70), (2, 3, 11)]


def checked(function: Any, *shape: int, packing: str = "rows", **more: Any) -> Circuit:
    """Compare a BFV kernel of x (and others) with numpy; return the circuit."""
    return check(kernel(scheme="bfv", x=Encrypted(*shape, bound=9, packing=packing), **more)(function), SLOTS)


def moves(circuit: Circuit) -> tuple[int, int]:
    """Return the numbers of rotations, those inside transforms too, and of row swaps."""
    swaps = sum(step.kind is Kind.SWAP_ROWS for step in circuit.steps)
    return sum(len(step.rotations) for step in circuit.steps), swaps


def summed(count: int) -> int:
    """Return the rotations of the cheapest sum of `count` terms."""
    return sum(radix - 1 for radix in cost.stages(count))


def test_a_scheme_has_its_rows() -> None:
    assert slots_of("bfv", 64) == Slots(2, 32)
    assert slots_of("ckks", 64) == Slots(1, 32)


def test_distances_are_a_group() -> None:
    slots = Slots(2, 8)
    values = np.arange(16)
    for period in (slots, Slots(1, 4), Slots(2, 2), Slots(1, 8)):
        for distance in range(16):
            there = slots.plus(values, distance, period)
            assert (slots.minus(there, values, period) == slots.plus(distance, 0, period)).all()
    assert slots.turned(values, 3).tolist() == [3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10]
    assert slots.turned(values, 8).tolist() == [*range(8, 16), *range(8)]
    assert slots.turned(values, 9)[0] == 9


@pytest.mark.parametrize("shape", [*((n,) for n in LENGTHS), *SHAPES])
def test_elementwise_needs_no_key(shape: tuple[int, ...]) -> None:
    def function(x: Any, y: Any, w: Any) -> Any:
        return (x - y) * w + x - 3

    circuit = checked(function, *shape, y=Encrypted(*shape, bound=9), w=Plain(*shape, bound=9))
    assert moves(circuit) == (0, 0)
    padded = 1 << (shape[-1] - 1).bit_length()
    vectors = int(np.prod(shape[:-1]))
    wanted = -(-vectors // (SLOTS // padded)) if padded <= SLOTS else vectors * -(-shape[-1] // SLOTS)
    assert len(circuit.outputs) == wanted


@pytest.mark.parametrize("packing", ["rows", "columns", "each"])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("shape", [*((n,) for n in LENGTHS), *SHAPES])
def test_sums(shape: tuple[int, ...], axis: int | None, packing: str) -> None:
    checked(lambda x: rs.sum(x, axis) * 5, *shape, packing=packing)


def test_a_sum_over_both_rows_takes_one_swap() -> None:
    row = summed(32)
    assert moves(checked(lambda x: rs.sum(x), SLOTS)) == (row, 1)
    assert moves(checked(lambda x: rs.sum(x), 40)) == (row, 1)
    assert moves(checked(lambda x: rs.sum(x), 32)) == (row, 0)
    assert moves(checked(lambda x: rs.sum(x), 3 * SLOTS)) == (row, 1)
    # Vectors in both rows are summed at once.
    assert moves(checked(lambda x: rs.sum(x, -1), 4, 16)) == (summed(16), 0)
    # The order of the terms does not matter.
    assert moves(checked(lambda x: rs.sum(x[::-1]), SLOTS)) == (row, 1)
    shuffled = np.random.default_rng(1).permutation(SLOTS)
    assert moves(checked(lambda x: rs.sum(x[shuffled]), SLOTS)) == (row, 1)


def test_a_sum_of_a_part_that_crosses_the_rows_is_one_of_each_row() -> None:
    rotations, swaps = moves(checked(lambda x: rs.sum(x[5:37]), SLOTS))
    assert rotations <= 12
    assert swaps == 1


def test_terms_that_come_twice_count_twice() -> None:
    twice = np.r_[0:SLOTS, 0:SLOTS]
    checked(lambda x: rs.sum(x[twice]), SLOTS)
    checked(lambda x: rs.sum(x[twice % 32]) + x, SLOTS)


def test_a_swap_undoes_a_swap() -> None:
    builder, where = Builder(Slots(2, 8)), Location("here", 1, 0, 0)
    x = builder.fresh(where)
    assert builder.turn(builder.turn(x, 8, where), 8, where) == x


def test_the_sum_of_a_whole_row_stands_everywhere_in_it() -> None:
    circuit = checked(lambda x: x * 32 - rs.sum(x, -1).reshape(2, 1), 2, 32)
    assert moves(circuit) == (summed(32), 0)
    assert Kind.MULTIPLY_PLAIN not in [step.kind for step in circuit.steps if step.plain > 0]


def test_a_value_for_each_row_meets_a_vector_in_both() -> None:
    for function in (lambda x, y: y * rs.sum(x, -1).reshape(2, 1), lambda x, y: rs.sum(x, -1).reshape(2, 1) * y):
        circuit = checked(function, 2, 32, y=Encrypted(16, bound=9))
        assert moves(circuit) == (summed(32), 0)


SLICES = [
    slice(1, 30),
    slice(5, 37),
    slice(30, 50),
    slice(None, None, -1),
    slice(None, None, 2),
    slice(33, None),
    slice(3, None, 7),
]


@pytest.mark.parametrize("part", SLICES)
@pytest.mark.parametrize("length", [40, 64, 100])
def test_slices(length: int, part: slice) -> None:
    checked(lambda x: x[part] * 2 + x[: len(range(length)[part])], length)
    checked(lambda x: rs.sum(x[part]), length)


@pytest.mark.parametrize("steps", [1, 7, 32, 33, -5])
@pytest.mark.parametrize("length", LENGTHS)
def test_rotations(length: int, steps: int) -> None:
    checked(lambda x: rs.rotate(x, steps) - x, length)


def test_a_rotation_across_rows_takes_both() -> None:
    assert moves(checked(lambda x: rs.rotate(x, 3) - x, SLOTS)) == (2, 1)
    assert moves(checked(lambda x: rs.rotate(x, 32) - x, SLOTS)) == (0, 1)
    assert moves(checked(lambda x: rs.rotate(x, 3) - x, 32)) == (1, 0)


@pytest.mark.parametrize(
    "shape", [(64, 64), (50, 40), (8, 64), (64, 8), (33, 40), (40, 33), (5, 33), (100, 40), (20, 130)]
)
def test_plain_matrix_times_vector_twice(shape: tuple[int, int]) -> None:
    made = kernel(scheme="bfv", x=Encrypted(shape[1], bound=9), y=Plain(*shape, bound=9))(lambda x, y: y.T @ (y @ x))
    check(made, SLOTS)


def test_diagonals_to_the_other_row_are_a_transform_of_the_swapped_vector() -> None:
    made = kernel(scheme="bfv", x=Encrypted(SLOTS, bound=9), y=Plain(SLOTS, SLOTS, bound=9))(lambda x, y: y @ x)
    circuit = check(made, SLOTS)
    rotations, swaps = moves(circuit)
    assert swaps == 1
    assert circuit.counts()["linear_transform"] == 2
    assert rotations <= 20


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    "shapes",
    [((40,), (40,)), ((4, 40), (40,)), ((6,), (6, 30)), ((3, 33), (33, 4)), ((40, 7), (7,)), ((1, 9), (9, 40))],
)
def test_matmul(shapes: Any, plain: bool) -> None:
    other = Plain(*shapes[1], bound=9) if plain else Encrypted(*shapes[1], bound=9)
    checked(lambda x, y: x @ y, *shapes[0], y=other)


@pytest.mark.parametrize("shape", [(2, 32), (2, 20), (6, 16), (2, 40)])
def test_views(shape: tuple[int, ...]) -> None:
    checked(lambda x: x.T * 2 + x.T, *shape)
    checked(lambda x: rs.concatenate([x[0], x[1] * x[0], -x[-1]]), *shape)
    checked(lambda x: x.reshape(-1)[::-1] - 1, *shape)
    checked(lambda x: x * x[0] + x[:, :1], *shape)
    checked(lambda x: rs.sum(rs.stack([x, x * 3]), 0), *shape)


NAMES = ["roll", "tail", "reverse", "sum", "square", "weigh", "join", "fold", "matrix"]
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 70)), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from([3, 8, 12, 16, 20, 32, 40]), STEPS)
def test_random_programs(length: int, steps: list[tuple[str, int]]) -> None:
    """Two rows of 8: everything crosses them."""

    def function(x: Any) -> Any:
        value = x
        for name, number in steps:
            value = step(name, number, value)
        return value - 1

    made = kernel(scheme="bfv", x=Encrypted(length, bound=3))(function)
    check(made, 16, seed=length)


def step(name: str, number: int, x: Any) -> Any:
    """Apply one step to a vector."""
    count = x.shape[0]
    match name:
        case "roll":
            return rs.rotate(x, number) + x
        case "tail":
            return x[number % count :] * 3
        case "reverse":
            return x[::-1] - x
        case "sum":
            return x - rs.sum(x)
        case "square":
            return x * x
        case "weigh":
            return x * (np.arange(count) % 3 - 1)
        case "join":
            return rs.concatenate([x, x[: number % count + 1]])[:40]
        case "fold":
            return x.reshape(2, -1).sum(0) if count % 2 == 0 else x
    return (np.arange(count * 3).reshape(3, count) % 4) @ x
