# SPDX-License-Identifier: Apache-2.0
"""Plain matrix times encrypted vector by generalised diagonals with baby steps and giant steps.

y_i = sum_d W[i, j(i, d)] rot(x, d st) over the distances d between result slot i and operand slot j, both spaced by
the operand's stride st (Halevi and Shoup, CRYPTO 2014 and 2018): one linear transform. With g giant and b baby steps
the rotations are g + b - 2 instead of g b - 1. A vector that fills both rows of slots meets diagonals that lead to the
other row too: they make a transform of the vector with its rows swapped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.align import PlainView
from ringsmith.compiler.lowering.layout import Packed, power_of_two
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location


@dataclass(frozen=True)
class Diagonals:
    """Distances to visit, baby steps per giant step, and its cost in rotations.

    Distances are in strides: `ring` has one slot for each place of an operand's element.
    """

    stride: int
    ring: Slots
    baby: int
    distances: tuple[int, ...]
    cost: float


def diagonals(x: Packed, matrix: PlainView, slots: Slots) -> Diagonals | None:
    """Return the diagonals of a matrix (picks of -1 are zeros); None if the vector is not one evenly spaced run."""
    rows, columns = matrix.picked.shape
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
    if (matrix.picked < 0).any():
        held = [bool((_met(matrix, distance, ring) >= 0).any()) for distance in distances]
        distances = tuple(distance for distance, any_held in zip(distances, held, strict=True) if any_held)
    baby = _baby_steps(distances, ring)
    return Diagonals(stride, ring, baby, distances, _cost(distances, baby, ring))


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


def _split(distance: int, baby: int, ring: Slots) -> tuple[int, int, int]:
    """Return a distance as a row, a giant step inside the row and what is left for the baby step."""
    row, column = divmod(distance, ring.width)
    giant = column // baby * baby
    return row, giant, column - giant


def _baby_steps(distances: tuple[int, ...], ring: Slots) -> int:
    """Return the power of two of least cost."""
    choices = [1 << k for k in range(power_of_two(len(distances)).bit_length())]
    return min(choices, key=lambda baby: (_cost(distances, baby, ring), baby))


def _cost(distances: tuple[int, ...], baby: int, ring: Slots) -> float:
    split = [_split(distance, baby, ring) for distance in distances]
    total = 0.0
    for row in {row for row, _, _ in split}:
        own = [(giant, step) for at, giant, step in split if at == row]
        giants, babies = {giant for giant, _ in own} - {0}, {step for _, step in own} - {0}
        total += cost.transform(len(babies), len(giants), len(own)) + (cost.transform(1, 0, 0) if row else 0.0)
    return total


def multiply(builder: Builder, x: Packed, matrix: PlainView, chosen: Diagonals, where: Location) -> Packed:
    """Return matrix @ x by these; result element i stands `i` strides after the operand's first element."""
    x = x.compact()
    slots, rows = builder.slots, matrix.picked.shape[0]
    target = slots.plus(x.slot[0], chosen.stride * np.arange(rows), x.period)
    terms: dict[int, dict[int, dict[int, int]]] = {}
    for distance in chosen.distances:
        gather = _diagonal(matrix, target, distance, chosen, slots.count)
        row, giant, baby = _split(distance, chosen.baby, chosen.ring)
        # The giant step moves the products to where the diagonal belongs.
        moved = slots.turned(slots.repeat(gather, x.period), -giant * chosen.stride % slots.width)
        plain = builder.plains.number(matrix.node, moved)
        terms.setdefault(row, {}).setdefault(giant * chosen.stride, {})[baby * chosen.stride] = plain
    total = -1
    for row, own in sorted(terms.items()):
        source = builder.turn(x.cts[0], row * slots.width, where)
        product = builder.transform(source, own, where)
        total = product if total < 0 else builder.add(Kind.ADD, (total, product), where)
    zeros = np.ones(slots.count, dtype=bool)
    zeros[target] = False
    return Packed((total,), np.zeros(rows, dtype=np.intp), target, x.period, slots.repeat(zeros, x.period)[None])


def _diagonal(matrix: PlainView, target: Index, distance: int, chosen: Diagonals, count: int) -> Index:
    """Return, for each slot of the first period, the matrix element that meets the operand `distance` strides away."""
    gather = np.full(count, -1, dtype=np.intp)
    gather[target] = _met(matrix, distance, chosen.ring)
    return gather


def _met(matrix: PlainView, distance: int, ring: Slots) -> Index:
    """Return each row's element that meets the operand `distance` strides away; -1: none, or zero."""
    rows, columns = matrix.picked.shape
    i = np.arange(rows)
    j = ring.plus(i, distance, ring)
    return np.where(j < columns, matrix.picked[i, np.minimum(j, columns - 1)], -1)
