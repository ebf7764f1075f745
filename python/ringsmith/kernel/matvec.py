# SPDX-License-Identifier: Apache-2.0
"""Plain matrix times encrypted vector by generalised diagonals with baby steps and giant steps.

y_i = sum_d W[i, j(i, d)] rot(x, d st) over the distances d between result slot i and operand slot j, both spaced by
the operand's stride st (Halevi and Shoup, CRYPTO 2014 and 2018): one linear transform. With g giant and b baby steps
the rotations are g + b - 2 instead of g b - 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringsmith.kernel import cost
from ringsmith.kernel.align import PlainView
from ringsmith.kernel.layout import Packed, power_of_two
from ringsmith.kernel.location import Location
from ringsmith.kernel.slots import Builder, Index, Transform


@dataclass(frozen=True)
class Plan:
    """Distances to visit (in strides, below `cycle`), baby steps per giant step, and its cost in rotations."""

    stride: int
    cycle: int
    baby: int
    distances: tuple[int, ...]
    cost: float


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
    return Plan(stride, cycle, baby, distances, _cost(distances, baby))


def _between(rows: int, columns: int, cycle: int) -> set[int]:
    """Return every distance j - i for 0 <= i < rows, 0 <= j < columns."""
    return {distance % cycle for distance in range(-(rows - 1), columns)}


def _baby_steps(distances: tuple[int, ...]) -> int:
    """Return the power of two of least cost."""
    choices = [1 << k for k in range(power_of_two(len(distances)).bit_length())]
    return min(choices, key=lambda baby: (_cost(distances, baby), baby))


def _cost(distances: tuple[int, ...], baby: int) -> float:
    giants, babies = {d // baby for d in distances} - {0}, {d % baby for d in distances} - {0}
    return cost.transform(len(babies), len(giants), len(distances))


def spread_cost(x: Packed, rows: int, slots: int) -> float:
    """Return the comparable cost of multiplying `rows` repetitions of the vector and summing by rotations."""
    per_ct = max(slots // x.period, 1)
    cts = -(-rows // per_ct)
    return cts * (cost.PLAIN + cost.summed(power_of_two(x.shape[0])))


def multiply(builder: Builder, x: Packed, matrix: PlainView, chosen: Plan, where: Location) -> Packed:
    """Return matrix @ x by the plan; result element i stands `i` strides after the operand's first element."""
    x = x.compact()
    rows = matrix.picked.shape[0]
    first = int(x.slot[0])
    target = (first + chosen.stride * np.arange(rows)) % x.period
    terms: dict[int, dict[int, int]] = {}
    for distance in chosen.distances:
        gather = _diagonal(matrix, target, distance, chosen, x.period)
        if gather is None:
            continue
        shift = distance // chosen.baby * chosen.baby
        turned = np.tile(np.roll(gather, shift * chosen.stride), builder.slots // x.period)
        plain = builder.plains.number(matrix.node, turned)
        terms.setdefault(shift * chosen.stride, {})[(distance - shift) * chosen.stride] = plain
    total = builder.transform(x.cts[0], Transform.of(terms, builder.slots), where)
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
