# SPDX-License-Identifier: Apache-2.0
"""Plain matrix times encrypted vector by generalised diagonals with baby steps and giant steps.

y_i = sum_d W[i, j(i, d)] rot(x, d st) over the distances d between result slot i and operand slot j, both spaced by
the operand's stride st (Halevi and Shoup, CRYPTO 2014 and 2018). With g giant and b baby steps the rotations are
g + b - 2 instead of g b - 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ringsmith.kernel.align import PlainView
from ringsmith.kernel.layout import Packed, power_of_two
from ringsmith.kernel.location import Location
from ringsmith.kernel.slots import Builder, Index, Kind

# What one rotation costs in multiplications by a plaintext, for choosing between methods.
_ROTATION_COST = 8


@dataclass(frozen=True)
class Plan:
    """Distances to visit (in strides, below `cycle`), baby steps per giant step, and an estimated cost."""

    stride: int
    cycle: int
    baby: int
    distances: tuple[int, ...]
    cost: int


def plan(x: Packed, rows: int) -> Plan | None:
    """Plan the product of a matrix of `rows` rows with a vector; None if the vector is not one evenly spaced run."""
    columns = x.shape[0]
    if len(np.unique(x.ct)) > 1 or columns < 2:
        return None
    steps = np.unique(np.diff(x.slot) % x.period)
    if len(steps) > 1:
        return None
    stride = int(steps[0])
    if stride == 0 or x.period % stride or max(rows, columns) * stride > x.period:
        return None
    cycle = x.period // stride
    distances = tuple(
        sorted({(j - i) % cycle for i in (0, rows - 1) for j in range(columns)} | _between(rows, columns, cycle))
    )
    baby = _baby_steps(distances)
    giants = len({d // baby for d in distances})
    babies = len({d % baby for d in distances})
    return Plan(stride, cycle, baby, distances, _ROTATION_COST * (giants + babies - 2) + len(distances))


def _between(rows: int, columns: int, cycle: int) -> set[int]:
    """Return every distance j - i for 0 <= i < rows, 0 <= j < columns."""
    return {distance % cycle for distance in range(-(rows - 1), columns)}


def _baby_steps(distances: tuple[int, ...]) -> int:
    """Return the power of two near the square root that needs the fewest rotations."""
    top = power_of_two(math.isqrt(len(distances)) + 1) * 2
    choices = [1 << k for k in range(top.bit_length())]
    return min(choices, key=lambda b: (len({d // b for d in distances}) + len({d % b for d in distances}), b))


def spread_cost(x: Packed, rows: int, slots: int) -> int:
    """Return the comparable cost of multiplying `rows` repetitions of the vector and summing by rotations."""
    per_ct = max(slots // x.period, 1)
    cts = -(-rows // per_ct)
    return cts * (1 + _ROTATION_COST * (power_of_two(x.shape[0]).bit_length() - 1))


def multiply(builder: Builder, x: Packed, matrix: PlainView, chosen: Plan, where: Location) -> Packed:
    """Return matrix @ x by the plan; result element i stands `i` strides after the operand's first element."""
    x = x.compact()
    rows = matrix.picked.shape[0]
    first = int(x.slot[0])
    target = (first + chosen.stride * np.arange(rows)) % x.period
    total = -1
    for giant in sorted({d // chosen.baby for d in chosen.distances}):
        inner = -1
        shift = giant * chosen.baby
        for distance in (d for d in chosen.distances if d // chosen.baby == giant):
            gather = _diagonal(matrix, target, distance, chosen, x.period)
            if gather is None:
                continue
            plain = builder.plains.number(
                matrix.node, np.tile(np.roll(gather, shift * chosen.stride), builder.slots // x.period)
            )
            turned = builder.add(Kind.ROTATE, x.cts, where, steps=(distance - shift) * chosen.stride)
            term = builder.add(Kind.MULTIPLY_PLAIN, (turned,), where, plain)
            inner = term if inner < 0 else builder.add(Kind.ADD, (inner, term), where)
        if inner >= 0:
            inner = builder.add(Kind.ROTATE, (inner,), where, steps=shift * chosen.stride)
            total = inner if total < 0 else builder.add(Kind.ADD, (total, inner), where)
    zeros = np.ones(x.period, dtype=bool)
    zeros[target] = False
    return Packed(
        (total,), np.zeros(rows, dtype=np.intp), target, x.period, np.tile(zeros, builder.slots // x.period)[None]
    )


def _diagonal(matrix: PlainView, target: Index, distance: int, chosen: Plan, period: int) -> Index | None:
    """Return, for each slot of a period, the matrix element that meets the operand `distance` strides away."""
    rows, columns = matrix.picked.shape
    i = np.arange(rows)
    j = (i + distance) % chosen.cycle
    inside = j < columns
    if not inside.any():
        return None
    gather = np.full(period, -1, dtype=np.intp)
    gather[target[inside]] = matrix.picked[i[inside], j[inside]]
    return gather
