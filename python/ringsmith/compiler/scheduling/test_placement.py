# SPDX-License-Identifier: Apache-2.0
"""Placement of refreshes: the cheapest on chains, levels kept in any graph, nothing where nothing is needed."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from ringsmith.compiler.scheduling.placement import Levels, placed
from ringsmith.compiler.scheduling.prices import KINDS, Prices, of_ring
from ringsmith.ir.geometry import Slots, slots_of
from ringsmith.ir.graph import frozen
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import InputPacking, SlotOp, SlotProgram
from ringsmith.location import Location

HERE = Location("kernel.py", 1, 0, 0)
SLOTS: Slots = slots_of("ckks", 16)
LEVELS = Levels(top=20, fresh=6, least=2, switches=(20,) * 30, prices=of_ring(1 << 15))


def program(*ops: tuple[Kind, tuple[int, ...]]) -> SlotProgram:
    """Return a program of one input and these operations; the last one is the result."""
    every = (SlotOp(Kind.INPUT, (), HERE), *(SlotOp(kind, args, HERE) for kind, args in ops))
    one = np.zeros(1, dtype=np.intp)
    packing = InputPacking("x", np.arange(SLOTS.count)[None])
    return SlotProgram(
        SLOTS, frozen({"x": packing}), frozen({"x": 1.0}), every, (), (len(every) - 1,), one, one, SLOTS,
        np.zeros(SLOTS.count, bool),
    )  # fmt: skip


def levels_left(made: SlotProgram, levels: Levels) -> list[int]:
    """Walk along a program, counting levels; fail where one is missing."""
    left: list[int] = []
    for op in made.ops:
        before = min((left[arg] for arg in op.args), default=levels.fresh)
        if op.kind is Kind.BOOTSTRAP:
            assert before >= levels.least
            before = levels.fresh
        left.append(before - (op.kind in (Kind.SQUARE, Kind.MULTIPLY)))
        assert left[-1] >= 0
    return left


def refreshes(made: SlotProgram) -> int:
    return sum(op.kind is Kind.BOOTSTRAP for op in made.ops)


@pytest.mark.parametrize("depth", [1, 6, 7, 10, 11, 25, 60])
def test_a_chain_has_the_fewest_refreshes(depth: int) -> None:
    made = placed(program(*((Kind.SQUARE, (number,)) for number in range(depth))), LEVELS)
    levels_left(made, LEVELS)
    # The last segment may use up the levels that a refresh would need.
    assert refreshes(made) == max(0, -(-(depth - LEVELS.fresh) // LEVELS.between))


def test_the_cheapest_cuts_are_where_few_values_cross() -> None:
    # Four products side by side, one value between two such groups: cuts go through the one value.
    ops: list[tuple[Kind, tuple[int, ...]]] = []
    last = 0
    for _ in range(6):
        ops.append((Kind.SQUARE, (last,)))
        root = len(ops)
        branches = []
        for turn in range(4):
            ops.append((Kind.ROTATE, (root,)))
            ops.append((Kind.SQUARE, (len(ops),)))
            branches.append(len(ops) + 0 * turn)
        while len(branches) > 1:
            ops.append((Kind.ADD, (branches.pop(), branches.pop())))
            branches.append(len(ops))
        last = branches[0]
    made = placed(program(*ops), LEVELS)
    levels_left(made, LEVELS)
    assert refreshes(made) == 2


def test_random_graphs_keep_their_levels() -> None:
    dice = random.Random(7)
    for _ in range(200):
        ops: list[tuple[Kind, tuple[int, ...]]] = []
        for number in range(1, dice.randrange(5, 60)):
            kind = dice.choice([Kind.SQUARE, Kind.MULTIPLY, Kind.ADD, Kind.ROTATE, Kind.NEGATE])
            near = [max(0, number - 1 - dice.randrange(4)) for _ in range(2)]
            ops.append((kind, tuple(near[: 2 if kind in (Kind.MULTIPLY, Kind.ADD) else 1])))
        made = placed(program(*ops), LEVELS)
        levels_left(made, LEVELS)
        kinds = [op.kind for op in made.ops if op.kind is not Kind.BOOTSTRAP]
        assert kinds == [Kind.INPUT, *(kind for kind, _ in ops)]


def test_a_value_used_much_later_is_refreshed_once_for_all_that_come() -> None:
    ops: list[tuple[Kind, tuple[int, ...]]] = [(Kind.SQUARE, (number,)) for number in range(20)]
    ops += [(Kind.MULTIPLY, (20, 1)), (Kind.MULTIPLY, (21, 1))]
    made = placed(program(*ops), LEVELS)
    levels_left(made, LEVELS)
    sources = [op.args[0] for op in made.ops if op.kind is Kind.BOOTSTRAP]
    assert len(set(sources)) == len(sources)
    assert list(itertools.chain(sources)) == sorted(sources)


def test_the_table_of_prices_decides_where_refreshes_stand() -> None:
    # Seven levels, of which a segment has four: many rotations stand after the first three products.
    ops: list[tuple[Kind, tuple[int, ...]]] = [(Kind.SQUARE, (number,)) for number in range(3)]
    ops += [(Kind.ROTATE, (number,)) for number in range(3, 43)]
    ops += [(Kind.SQUARE, (number,)) for number in range(43, 47)]
    chain = program(*ops)

    def cut(by_limbs: list[float]) -> int:
        """Return how many products stand before the refresh."""
        planted = replace(LEVELS, prices=Prices(dict.fromkeys(KINDS, by_limbs), 1.0))
        made = placed(chain, planted)
        levels_left(made, planted)
        before = list(itertools.takewhile(lambda op: op.kind is not Kind.BOOTSTRAP, made.ops))
        assert refreshes(made) == 1
        return sum(op.kind is Kind.SQUARE for op in before)

    # Where fewer limbs are cheaper the rotations stand at the end of a segment; where they are dearer, at its start.
    assert cut([float(limbs) for limbs in range(1, 22)]) > 2
    assert cut([float(30 - limbs) for limbs in range(1, 22)]) < 3
