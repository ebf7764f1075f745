# SPDX-License-Identifier: Apache-2.0
"""Bytes of a program's evaluation keys, and programs that stay within a limit of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from ringsmith.compiler.lowering.few_keys import with_few_keys
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.errors import ParameterError
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.geometry import Slots
from ringsmith.ir.slot_program import Kind, SlotProgram

#: Rotations and lines of a program that an error names.
_NAMED = 3


def key_bytes(circuit: Circuit, params: ParameterSet) -> int:
    """Return the bytes of one key, half of it a seed, for the primes of the highest level where keys are switched."""
    levels = [step.level for step in circuit.steps if step.key_switches]
    limbs = max(levels, default=0) + 1
    digits = -(-limbs // -(-len(params.moduli) // params.dnum))
    return digits * params.n * sum(q.bit_length() for q in (*params.moduli[:limbs], *params.special)) // 8


def other_keys(circuit: Circuit) -> int:
    """Return how many keys a circuit needs that are not rotations': for relinearisation, for the row swap."""
    kinds = {step.kind for step in circuit.steps}
    return int(bool(kinds & {Kind.RELINEARIZE, Kind.RELINEARIZE_RESCALE})) + int(Kind.SWAP_ROWS in kinds)


def most_rotations(circuit: Circuit, params: ParameterSet, limit: int) -> int:
    """Return for how many rotations a limit has room."""
    return max(limit // max(key_bytes(circuit, params), 1) - other_keys(circuit), 0)


def fits(circuit: Circuit, params: ParameterSet, limit: int) -> bool:
    """Tell whether the keys of a circuit stay within a limit."""
    return key_bytes(circuit, params) * (len(circuit.rotations()) + other_keys(circuit)) <= limit


def fewer(lower: Callable[[Slots], SlotProgram], most: int) -> Callable[[Slots], SlotProgram]:
    """Return what lowers to programs of at most that many rotations, if powers of two allow it."""
    return lambda slots: with_few_keys(lower(slots), most)


def check(circuit: Circuit, params: ParameterSet, limit: int) -> None:
    """Refuse a circuit whose keys exceed the limit, by the lines that need most of them."""
    if fits(circuit, params, limit):
        return
    each, count = key_bytes(circuit, params), len(circuit.rotations()) + other_keys(circuit)
    lines: dict[int, set[int]] = defaultdict(set)
    for step in circuit.steps:
        lines[step.where.line].update(step.rotations)
    worst = sorted(lines, key=lambda line: -len(lines[line]))[:_NAMED]
    needs = "; ".join(
        f"line {line} needs {len(lines[line])} rotations {_some(lines[line])}" for line in worst if lines[line]
    )
    raise ParameterError(
        f"{count} keys of {each / 2**20:.2f} MiB each at n = {params.n} exceed keys_limit={limit} bytes even with "
        f"rotations made of powers of two: {needs}; allow keys_limit={each * count} or more, or make the kernel smaller"
    )


def _some(rotations: set[int]) -> str:
    shown = ", ".join(map(str, sorted(rotations)[:_NAMED]))
    return f"({shown}{', ...' if len(rotations) > _NAMED else ''})"
