# SPDX-License-Identifier: Apache-2.0
"""Plain vectors times the rows of a matrix that fills several ciphertexts: the inner products are packed together.

Summing the slots of a row leaves one result in a row's worth of slots. With f ciphertexts, each row's products are
first folded to an f-th of its width, those of the q-th ciphertext at the q-th part of the row; then the f ciphertexts
are added, and one sum remains where there were f, of fewer slots. Folding costs no level: it is part of the product
with the vector, a linear transform whose masks hold the vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.align import PlainView
from ringsmith.compiler.lowering.layout import Packed, power_of_two
from ringsmith.compiler.lowering.reduce import shifted_sum
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location


@dataclass(frozen=True)
class _Rows:
    """Rows that start at multiples of `padded * stride` (but for less than a stride), elements `stride` slots apart."""

    stride: int
    padded: int

    def part(self, factor: int) -> int:
        """Return the slots of an f-th of a row."""
        return self.stride * self.padded // factor


def inner_products(builder: Builder, x: Packed, weights: PlainView, where: Location) -> Packed | None:
    """Return the sums of x * weights along the last axis; None where folding is impossible or costs more."""
    x = x.compact()
    x = x.view(x.ct, builder.slots.plus(x.slot, 0, x.period))
    rows = _rows(x, builder.slots)
    if rows is None or len(x.cts) == 1 or not x.whole:
        return None
    factor = _factor(len(x.cts), rows.padded)
    if factor == 1:
        return None
    return _folded(builder, x, np.broadcast_to(weights.picked, x.shape), weights, rows, factor, where)


def _rows(x: Packed, slots: Slots) -> _Rows | None:
    """Return how rows lie, if they all lie alike."""
    width = x.shape[-1]
    if width < 2 or (x.ct != x.ct[..., :1]).any():
        return None
    steps = np.unique(np.diff(x.slot, axis=-1))
    stride, padded = int(steps[0]), power_of_two(width)
    if len(steps) > 1 or stride < 1 or power_of_two(stride) != stride:
        return None
    span, places = stride * padded, x.ct * slots.count + x.slot
    apart = len(np.unique(places)) == x.slot.size
    aligned = x.period.width % span == 0 and (x.slot[..., 0] % span < stride).all()
    return _Rows(stride, padded) if apart and aligned else None


def _factor(cts: int, padded: int) -> int:
    """Return the power of two by which folding costs least; 1: not at all."""

    def costs(factor: int) -> float:
        results = -(-cts // factor)
        return cts * cost.transform(factor - 1, 0, factor) + results * (cost.summed(padded // factor) + cost.CIPHERTEXT)

    unfolded = cts * (cost.PLAIN + cost.summed(padded) + cost.CIPHERTEXT)
    best = min((1 << k for k in range(1, padded.bit_length())), key=costs)
    return best if costs(best) < unfolded else 1


def _folded(
    builder: Builder, x: Packed, picked: Index, weights: PlainView, rows: _Rows, factor: int, where: Location
) -> Packed:
    part, groups = rows.part(factor), -(-len(x.cts) // factor)
    slots = builder.slots
    totals, zeros = [-1] * groups, np.ones((groups, slots.count), dtype=bool)
    slot = x.slot.reshape(-1)
    block = slot % (part * factor) // part
    for number, here in enumerate(x.elements_of()):
        group, own = divmod(number, factor)
        terms: dict[int, int] = {}
        for source in np.unique(block[here]):
            elements = here[block[here] == source]
            shift = int(source - own) * part
            places = slot[elements] - shift
            gather = np.full(slots.count, -1, dtype=np.intp)
            gather[places] = picked.reshape(-1)[elements]
            zeros[group, places] = False
            terms[shift] = builder.plains.number(weights.node, slots.repeat(gather, x.period))
        product = builder.transform(x.cts[number], {0: terms}, where)
        totals[group] = product if totals[group] < 0 else builder.add(Kind.ADD, (totals[group], product), where)
    ct, place = x.ct[..., 0], x.slot[..., 0] + x.ct[..., 0] % factor * part
    starts = zip(totals, slots.repeat(zeros, x.period), strict=True)
    done = [shifted_sum(builder, start, rows.stride, rows.padded // factor, where) for start in starts]
    cts, zero = tuple(total for total, _ in done), np.stack([own for _, own in done])
    return Packed(cts, ct // factor, place, x.period, zero)
