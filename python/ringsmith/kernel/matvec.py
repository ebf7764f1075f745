# SPDX-License-Identifier: Apache-2.0
"""Plain matrix times encrypted vector by generalised diagonals with baby steps and giant steps.

y_i = sum_d W[i, j(i, d)] rot(x, d st) over the distances d between result slot i and operand slot j, both spaced by
the operand's stride st (Halevi and Shoup, CRYPTO 2014 and 2018). With g giant and b baby steps the rotations are
g + b - 2 instead of g b - 1. A vector that fills both rows of slots meets diagonals that lead to the other row too: its
baby steps are those of the vector and of the vector with its rows swapped, and both share the giant steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ringsmith.kernel.align import PlainView
from ringsmith.kernel.geometry import Index, Slots
from ringsmith.kernel.layout import Packed, power_of_two
from ringsmith.kernel.location import Location
from ringsmith.kernel.slots import Builder, Kind

# What one rotation costs in multiplications by a plaintext, for choosing between methods.
_ROTATION_COST = 8


@dataclass(frozen=True)
class Plan:
    """Distances to visit, baby steps per giant step, and an estimated cost.

    Distances are in strides: `ring` has one slot for each place of an operand's element.
    """

    stride: int
    ring: Slots
    baby: int
    distances: tuple[int, ...]
    cost: int


def plan(x: Packed, rows: int, slots: Slots) -> Plan | None:
    """Plan the product of a matrix of `rows` rows with a vector; None if the vector is not one evenly spaced run."""
    columns = x.shape[0]
    if len(np.unique(x.ct)) > 1 or columns < 2:
        return None
    stride = int(slots.minus(x.slot[1], x.slot[0], x.period))
    ring = _ring(x.period, slots, stride, max(rows, columns))
    if ring is None:
        return None
    places = slots.plus(x.slot[0], stride * np.arange(columns), x.period)
    if not np.array_equal(places, slots.plus(x.slot, 0, x.period)):
        return None
    distances = _distances(rows, columns, ring)
    baby = _baby_steps(distances, ring)
    giants, babies = _steps(distances, baby, ring)
    # One row swap serves all baby steps of the other row.
    switches = giants + babies - 2
    return Plan(stride, ring, baby, distances, _ROTATION_COST * switches + len(distances))


def _ring(period: Slots, slots: Slots, stride: int, count: int) -> Slots | None:
    """Return the places at a stride: in one row of slots if `count` fit into its period, else in all, else None."""
    if stride == 0 or stride >= period.width or period.width % stride:
        return None
    if count * stride <= period.width:
        return Slots(1, period.width // stride)
    whole = period == slots and count * stride <= slots.count
    return Slots(slots.rows, slots.width // stride) if whole else None


def _distances(rows: int, columns: int, ring: Slots) -> tuple[int, ...]:
    """Return every distance from i to j for 0 <= i < rows, 0 <= j < columns, rising."""
    found: set[int] = set()
    for i in range(0, rows, ring.width):
        for j in range(0, columns, ring.width):
            row = (j - i) // ring.width % ring.rows
            least, end = 1 - min(rows - i, ring.width), min(columns - j, ring.width)
            found |= {row * ring.width + distance % ring.width for distance in range(least, end)}
    return tuple(sorted(found))


def _split(distance: int, baby: int, ring: Slots) -> tuple[int, int]:
    """Return a distance as a giant step inside the row and what is left for the baby step."""
    giant = distance % ring.width // baby * baby
    return giant, distance - giant


def _steps(distances: tuple[int, ...], baby: int, ring: Slots) -> tuple[int, int]:
    """Return the number of giant steps and of baby steps."""
    giants, babies = zip(*(_split(distance, baby, ring) for distance in distances), strict=True)
    return len(set(giants)), len(set(babies))


def _baby_steps(distances: tuple[int, ...], ring: Slots) -> int:
    """Return the power of two near the square root that needs the fewest rotations."""
    top = power_of_two(math.isqrt(len(distances)) + 1) * 2
    choices = [1 << k for k in range(top.bit_length())]
    return min(choices, key=lambda baby: (sum(_steps(distances, baby, ring)), baby))


def spread_cost(x: Packed, rows: int, slots: Slots) -> int:
    """Return the comparable cost of multiplying `rows` repetitions of the vector and summing by rotations."""
    per_ct = max(slots.count // x.period.count, 1)
    cts = -(-rows // per_ct)
    return cts * (1 + _ROTATION_COST * (power_of_two(x.shape[0]).bit_length() - 1))


def multiply(builder: Builder, x: Packed, matrix: PlainView, chosen: Plan, where: Location) -> Packed:
    """Return matrix @ x by the plan; result element i stands `i` strides after the operand's first element."""
    x = x.compact()
    slots, rows = builder.slots, matrix.picked.shape[0]
    target = slots.plus(x.slot[0], chosen.stride * np.arange(rows), x.period)
    split = {distance: _split(distance, chosen.baby, chosen.ring) for distance in chosen.distances}
    total = -1
    for giant in sorted({giant for giant, _ in split.values()}):
        inner = -1
        for distance in (d for d in chosen.distances if split[d][0] == giant):
            gather = _diagonal(matrix, target, distance, chosen, slots.count)
            if gather is None:
                continue
            # The giant step moves the products to where the diagonal belongs.
            moved = slots.turned(slots.repeat(gather, x.period), -giant * chosen.stride % slots.width)
            turned = builder.turn(x.cts[0], split[distance][1] * chosen.stride, where)
            term = builder.add(Kind.MULTIPLY_PLAIN, (turned,), where, builder.plains.number(matrix.node, moved))
            inner = term if inner < 0 else builder.add(Kind.ADD, (inner, term), where)
        if inner >= 0:
            inner = builder.turn(inner, giant * chosen.stride, where)
            total = inner if total < 0 else builder.add(Kind.ADD, (total, inner), where)
    zeros = np.ones(slots.count, dtype=bool)
    zeros[target] = False
    return Packed((total,), np.zeros(rows, dtype=np.intp), target, x.period, slots.repeat(zeros, x.period)[None])


def _diagonal(matrix: PlainView, target: Index, distance: int, chosen: Plan, count: int) -> Index | None:
    """Return, for each slot of the first period, the matrix element that meets the operand `distance` strides away."""
    rows, columns = matrix.picked.shape
    i = np.arange(rows)
    j = chosen.ring.plus(i, distance, chosen.ring)
    inside = j < columns
    if not inside.any():
        return None
    gather = np.full(count, -1, dtype=np.intp)
    gather[target[inside]] = matrix.picked[i[inside], j[inside]]
    return gather
