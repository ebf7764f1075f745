# SPDX-License-Identifier: Apache-2.0
"""BFV: at which level each operation runs.

Noise grows with every multiplication: after some of them the last primes hold noise alone and can be divided out. This
is the idea of the levelled multiplication of Kim, Polyakov and Zucca (ePrint 2021/204) for whole circuits: one level
for each multiplicative depth, the lowest at which results are still sure to decrypt. Operations on fewer primes are
cheaper, keys are cut to the levels they serve, results are shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ringsmith.ir.circuit import Circuit, Step
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import CIPHER_PRODUCTS


def descend(circuit: Circuit, fits: Callable[[Circuit], bool]) -> Circuit:
    """Return the circuit at the lowest levels that `fits` accepts, from the first depth on; as it is if none are.

    Only drops are added: operations, their order and their results' slots stay.
    """
    depths = _depths(circuit)
    top = max(step.level for step in circuit.steps)
    # One level for each depth, the last for the results.
    levels = [top] * (max(depths) + 2)
    best = circuit
    for depth in range(len(levels)):
        low, high = 0, levels[depth]
        while low < high:
            middle = (low + high) // 2
            trial = _at_levels(circuit, depths, levels[:depth] + [middle] * (len(levels) - depth))
            if fits(trial):
                high, best = middle, trial
            else:
                low = middle + 1
        levels[depth:] = [high] * (len(levels) - depth)
    return best


def _depths(circuit: Circuit) -> list[int]:
    """Return the number of multiplications of ciphertexts on the longest way to each step."""
    depths: list[int] = []
    for step in circuit.steps:
        before = max((depths[arg] for arg in step.args), default=0)
        depths.append(before + (step.kind in CIPHER_PRODUCTS))
    return depths


def _at_levels(circuit: Circuit, depths: list[int], levels: list[int]) -> Circuit:
    """Return the circuit with every operation at the level of its depth, and the drops that this takes.

    What has three polynomials stays at the level of its factors until it is relinearised or a result.
    """
    steps: list[Step] = []
    number: list[int] = []
    dropped: dict[tuple[int, int], int] = {}

    def at(new: int, level: int) -> int:
        step = steps[new]
        if step.level <= level:
            return new
        if (new, level) not in dropped:
            steps.append(Step(Kind.MOD_DROP, (new,), step.where, level, step.scale, step.size))
            dropped[new, level] = len(steps) - 1
        return dropped[new, level]

    for step in circuit.steps:
        args = [number[arg] for arg in step.args]
        level = step.level
        if args:
            level = min(steps[arg].level for arg in args)
            if all(steps[arg].size == 2 for arg in args):
                level = min(level, levels[max(depths[arg] for arg in step.args)])
            args = [at(arg, level) for arg in args]
        steps.append(replace(step, args=tuple(args), level=level))
        number.append(len(steps) - 1)
    outputs = tuple(at(number[output], levels[-1]) for output in circuit.outputs)
    return replace(circuit, steps=tuple(steps), outputs=outputs)
