# SPDX-License-Identifier: Apache-2.0
"""Linear transforms and folds: the compiler makes them in the right places, and they compute what numpy does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.fuse import fuse
from ringsmith.compiler.lowering.moves import ONE
from ringsmith.compiler.lowering.test_lowering import check
from ringsmith.frontend import functions as rs
from ringsmith.frontend.declare import Encrypted, Plain
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.geometry import Slots
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder, SlotProgram, Transform
from ringsmith.location import Location
from ringsmith.runtime.kernel import kernel


def transforms(circuit: Circuit) -> list[Transform]:
    """Return the transforms of a circuit in order."""
    return [step.transform for step in circuit.steps if step.transform is not None]


def inner_products(x: Any, y: Any) -> Any:
    """A matrix times a plain vector."""
    return x @ y


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("shape", [(9, 8), (20, 5), (64, 7), (33, 2), (3, 31), (5, 64), (130, 3)])
def test_rows_over_several_ciphertexts(shape: tuple[int, int], scheme: str) -> None:
    made = kernel(scheme=scheme, x=Encrypted(*shape, low=-3, high=3), y=Plain(shape[1], low=-3, high=3))
    check(made(inner_products))
    check(made(lambda x, y: y @ x.T))
    check(made(lambda x, y: (2 * x - y) @ y + x[:, 0]))


ROWS = kernel(x=Encrypted(285, 30, bound=1, packing="rows"), y=Plain(30, bound=1))(inner_products)


def test_inner_products_of_several_ciphertexts_stand_in_one() -> None:
    # 285 rows of 30 in 8192 slots, as in the classifier of the examples.
    circuit = check(
        kernel(x=Encrypted(285, 30, bound=1, packing="rows"), y=Plain(30, bound=1))(inner_products), slots=8192
    )
    first, second, *sums = transforms(circuit)
    assert [[term.rotation for term in t.terms] for t in (first, second)] == [[0, 16], [-16, 0]]
    assert len(first.plains) == len(second.plains) == 2
    assert [len(t.terms) for t in sums] == [4, 4]
    assert len(circuit.outputs) == 1
    assert circuit.counts()["rescale"] == 1
    assert circuit.counts()["key_switch"] == 2 + 6


def test_one_ciphertext_is_not_folded() -> None:
    circuit = check(kernel(x=Encrypted(4, 8, bound=1), y=Plain(8, bound=1))(inner_products))
    assert [t.plains for t in transforms(circuit)] == [[] for _ in transforms(circuit)]
    assert circuit.counts()["multiply_plain"] == 1


def test_a_matrix_is_one_transform_of_all_its_diagonals() -> None:
    circuit = check(kernel(x=Encrypted(64, bound=1), y=Plain(64, 64, bound=1))(lambda x, y: y @ x), slots=64)
    (transform,) = transforms(circuit)
    assert len(transform.plains) == 64
    # A giant rotation costs more than a baby rotation.
    babies = {term.rotation for term in transform.terms}
    assert len(babies) > len(transform.giants)


def test_a_transform_is_scaled_to_the_depth_of_its_sum() -> None:
    def function(x: Any, y: Any) -> Any:
        return y @ x + x * x * x * 0.5

    circuit = check(kernel(x=Encrypted(64, bound=1), y=Plain(64, 64, bound=1))(function), slots=64)
    (step,) = [step for step in circuit.steps if step.transform is not None]
    # It runs at the level of the last product, on the argument with its primes dropped.
    assert step.level < circuit.steps[0].level
    assert circuit.counts()["mod_drop"] >= 1


def test_products_are_relinearised_and_rescaled_at_once() -> None:
    circuit = check(kernel(x=Encrypted(8, bound=1))(lambda x: rs.polynomial(x * x, [0.5, 1.0, -2.0, 0.0, 3.0])))
    counts = circuit.counts()
    assert "relinearize" not in counts
    assert counts["relinearize_rescale"] == counts["key_switch"] >= 3
    for step in circuit.steps:
        if step.kind is Kind.RELINEARIZE_RESCALE:
            assert circuit.steps[step.args[0]].size == 3


def blur(x: Any, y: Any) -> Any:
    """A convolution of a picture with a plain 3x3 window, without its edge."""
    rows, columns = x.shape
    shifted = ((i, j, x[i : rows - 2 + i, j : columns - 2 + j]) for i in range(3) for j in range(3))
    return sum(part * y[i, j] for i, j, part in shifted)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_a_convolution_is_one_transform(scheme: str) -> None:
    made = kernel(scheme=scheme, x=Encrypted(8, 8, low=-3, high=3), y=Plain(3, 3, low=-3, high=3))
    (transform,) = transforms(check(made(blur), slots=128))
    assert [term.rotation for term in transform.terms] == [0, 1, 2, 8, 9, 10, 16, 17, 18]
    assert len(set(transform.plains)) == 9
    check(made(lambda x, y: x[1:-1, 1:-1] * 2 - blur(x, y) + y[0, 0]))
    check(made(lambda x, y: blur(x, y) * blur(x, -y)))


def test_a_shifted_sum_is_one_transform_without_plaintexts() -> None:
    def function(x: Any) -> Any:
        return x[1:6] + x[2:7] + x[3:8] - x[4:9] + x[0:5]

    circuit = check(kernel(x=Encrypted(16, bound=1))(function))
    (transform,) = transforms(circuit)
    assert not transform.plains
    assert len(transform.terms) >= 3
    assert circuit.counts()["sub"] == 1


def fused(build: Callable[[Builder, int], int]) -> SlotProgram:
    """Return the fused program of what is built on one input."""
    where = Location("test", 1, 0, 0)
    builder = Builder(Slots(1, 16))
    x = builder.fresh(where)
    nowhere, sent = np.zeros(1, dtype=np.intp), {"x": {x: np.arange(16)}}
    result = (nowhere, nowhere, builder.slots, np.zeros((1, builder.slots.count), dtype=bool))
    return fuse(builder.finish(sent, {}, (build(builder, x),), result))


def test_rotations_that_others_need_stay() -> None:
    where = Location("test", 1, 0, 0)

    def build(builder: Builder, x: int, *, shared: bool) -> int:
        turned = [builder.add(Kind.ROTATE, (x,), where, steps=by) for by in (1, 2, 3)]
        total = builder.add(Kind.ADD, (turned[0], turned[1]), where)
        total = builder.add(Kind.SUB, (total, turned[2]), where)
        return builder.add(Kind.MULTIPLY, (total, turned[0]), where) if shared else total

    alone = fused(lambda builder, x: build(builder, x, shared=False))
    assert [op.kind for op in alone.ops] == [Kind.INPUT, Kind.ROTATE, Kind.LINEAR_TRANSFORM, Kind.SUB]
    shared = fused(lambda builder, x: build(builder, x, shared=True))
    assert Kind.LINEAR_TRANSFORM not in [op.kind for op in shared.ops]


def test_a_rotated_product_is_a_rotation_times_the_rotated_plaintext() -> None:
    where = Location("test", 1, 0, 0)
    gather = np.where(np.arange(16) < 5, 0, -1)

    def build(builder: Builder, x: int) -> int:
        total = x
        for by in (1, -2):
            # Different plaintexts, so that neither product is shared.
            plain = builder.plains.number(ONE, np.roll(gather, by))
            product = builder.add(Kind.MULTIPLY_PLAIN, (x,), where, plain)
            total = builder.add(Kind.ADD, (total, builder.add(Kind.ROTATE, (product,), where, steps=by)), where)
        return total

    program = fused(build)
    assert [op.kind for op in program.ops] == [Kind.INPUT, Kind.LINEAR_TRANSFORM, Kind.ADD]
    (transform,) = (op.transform for op in program.ops if op.transform is not None)
    # Rotations by -2 and 1 of what stood -2 and 1 places further on.
    assert [term.rotation for term in transform.terms] == [-2, 1]
    assert [program.plains[n].gather.tolist() for n in transform.plains] == [gather.tolist()] * 2


def test_rotations_of_a_transform_need_keys() -> None:
    circuit = check(
        kernel(x=Encrypted(285, 30, bound=1, packing="rows"), y=Plain(30, bound=1))(inner_products), slots=8192
    )
    assert circuit.rotations() == (-16, 1, 2, 3, 4, 8, 12, 16)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 12, 16, 30, 31, 67, 100, 127, 256, 1000, 1024, 8192])
def test_the_cheapest_stages_make_the_sum(count: int) -> None:
    way = cost.stages(count)
    assert math.prod(way) == count
    assert cost.summed(count) <= cost.doubling(count)
    if count & (count - 1) == 0:
        assert cost.total(way) <= cost.doubling(count)


def test_a_transform_has_one_form() -> None:
    one = Transform.of({0: {1: 5, 0: 4}, 60: {3: 2, -2: 1}}, Slots(1, 64))
    other = Transform.of({-4: {62: 1, 3: 2}, 64: {0: 4, 65: 5}}, Slots(1, 64))
    assert one == other
    assert [giant.rotation for giant in one.giants] == [-4, 0]
    assert one.plains == [1, 2, 4, 5]
    assert one.rotations == [-2, 1, 3, -4]
    renumbered = one.renumbered({n: n + 1 for n in range(6)})
    assert renumbered.plains == [2, 3, 5, 6]
    assert np.array_equal(renumbered.rotations, one.rotations)


def test_terms_that_come_round_again_count_each_time() -> None:
    twice = np.r_[0:64, 0:64]
    check(kernel(x=Encrypted(64, bound=1))(lambda x: rs.sum(x[twice])))
    check(kernel(x=Encrypted(64, bound=1))(lambda x: rs.sum(x[twice % 32]) + x))
