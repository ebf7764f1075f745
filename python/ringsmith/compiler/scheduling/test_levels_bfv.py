# SPDX-License-Identifier: Apache-2.0
"""Levels of BFV circuits: what `descend` may change, what it must find, and that results stay right."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.compiler.lowering.lower import lower
from ringsmith.compiler.lowering.test_lowering import clear_run, random_kernel
from ringsmith.compiler.params import noise
from ringsmith.compiler.scheduling import schedule_bfv
from ringsmith.compiler.scheduling.levels_bfv import descend
from ringsmith.frontend.trace import trace
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.geometry import Slots
from ringsmith.ir.kinds import Kind
from ringsmith.runtime.kernel import Kernel

TOP = 5


def scheduled(made: Kernel, **shapes: tuple[int, ...]) -> Circuit:
    return schedule_bfv.schedule(lower(trace(made, shapes), made.arguments, Slots(2, 32)), TOP)


def keeps_the_rules(circuit: Circuit) -> None:
    """Operands stand at their operation's level; sources at the top; only drops and nothing else change a level."""
    for step in circuit.steps:
        args = [circuit.steps[arg] for arg in step.args]
        if step.kind in (Kind.INPUT, Kind.ENCRYPT_ZERO):
            assert step.level == TOP
        elif step.kind is Kind.MOD_DROP:
            assert args[0].level > step.level >= 0
            assert args[0].size == step.size
        else:
            assert {arg.level for arg in args} == {step.level}


def without_drops(circuit: Circuit) -> list[tuple[Kind, int, int]]:
    return [(step.kind, step.plain, step.steps) for step in circuit.steps if step.kind is not Kind.MOD_DROP]


@pytest.mark.parametrize("least", range(TOP + 1))
@pytest.mark.parametrize("seed", range(12))
def test_random_programs_keep_their_values_and_operations(seed: int, least: int) -> None:
    made = random_kernel(seed, "bfv")
    arrays = {name: np.arange(5) % 5 - 2 for name in ("x", "y", "w")}
    before = scheduled(made, **{name: array.shape for name, array in arrays.items()})
    after = descend(before, lambda trial: min(step.level for step in trial.steps) >= least)
    keeps_the_rules(after)
    assert without_drops(after) == without_drops(before)
    assert all(after.steps[number].level == least for number in after.outputs if after.steps[number].size == 2)
    np.testing.assert_array_equal(clear_run(after, arrays), clear_run(before, arrays))


def power(x: Any) -> Any:
    square = x * x
    fourth = square * square
    return fourth * fourth


def kernel(**options: Any) -> Kernel:
    return rs.kernel(scheme="bfv", name="power", x=rs.Encrypted(16, bound=3), **options)(power)


def test_nothing_changes_where_nothing_fits() -> None:
    before = scheduled(kernel(), x=(16,))
    assert descend(before, lambda _: False) is before


def test_each_depth_is_as_low_as_it_may_be() -> None:
    """The first depth takes what it can, then the next; a depth is never above the one before."""
    floor = {1: 3, 2: 3, 3: 1}

    def deep_enough(trial: Circuit) -> bool:
        products = [step for step in trial.steps if step.kind is Kind.SQUARE]
        return all(step.level >= floor[depth] for depth, step in enumerate(products, start=1))

    after = descend(scheduled(kernel(), x=(16,)), deep_enough)
    assert [step.level for step in after.steps if step.kind is Kind.SQUARE] == [3, 3, 1]
    assert after.steps[after.outputs[0]].level == 0
    # The operand of a square is dropped to the level, not its result of three polynomials.
    assert all(step.size == 2 for step in after.steps if step.kind is Kind.MOD_DROP)


def test_sums_of_three_polynomials_stay_at_the_level_of_their_factors() -> None:
    """They are relinearised first; a drop takes two polynomials."""
    made = rs.kernel(scheme="bfv", x=rs.Encrypted(16, bound=3))(lambda x: (x * x + (x + 1) * (x * 2)) * (x - 1))

    def deep_enough(trial: Circuit) -> bool:
        return all(step.level >= 3 for step in trial.steps if step.kind is Kind.SQUARE)

    after = descend(scheduled(made, x=(16,)), deep_enough)
    sums = [step for step in after.steps if step.kind is Kind.ADD and step.size == 3]
    assert [step.level for step in sums] == [3]
    assert all(step.size == 2 for step in after.steps if step.kind is Kind.MOD_DROP)


def levels(program: rs.Program, kind: Kind) -> list[int]:
    return [step.level for step in program.circuit.steps if step.kind is kind]


def test_a_program_descends_and_decrypts_rightly() -> None:
    """A set with room to spare: fewer primes from one multiplication to the next, a result on one, all of it right."""
    pinned = rs.ParamRequest(n=8192, data_bits=(43, 43, 43, 43), special_bits=(42,))
    made = kernel(params=pinned)
    program = made.compile()
    squares = levels(program, Kind.SQUARE)
    assert squares == sorted(squares, reverse=True)
    assert squares[-1] < 3
    outputs = [program.circuit.steps[number] for number in program.circuit.outputs]
    assert [step.level for step in outputs] == [0]
    budget = noise.bound(program.circuit, program.params, encryption="public").bits
    assert math.isclose(budget, program.noise_bits)
    assert budget >= 1.0
    x = np.arange(16) % 7 - 3
    client = program.client()
    answer = program.server(client.evaluation_keys).evaluate(client.encrypt(x=x))
    np.testing.assert_array_equal(client.decrypt(answer), made.clear(x=x))
