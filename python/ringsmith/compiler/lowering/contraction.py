# SPDX-License-Identifier: Apache-2.0
"""Matrix products: the ways to sum products along the contracted axis, of which one is picked."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from ringsmith.compiler.lowering import blocks, cost, fold, matvec
from ringsmith.compiler.lowering.align import PlainView, combine, combine_plain
from ringsmith.compiler.lowering.context import MOST_SENT, Context, Operand, combined, placed, without_zeros
from ringsmith.compiler.lowering.layout import Packed, pack, power_of_two, scattered
from ringsmith.compiler.lowering.moves import Mask
from ringsmith.compiler.lowering.reduce import sum_axis
from ringsmith.compiler.lowering.sent import View
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Op
from ringsmith.ir.kinds import Kind
from ringsmith.location import Location

#: Most ways in which partial sums of different widths are tried.
_WIDTHS = 3
#: A way is not offered when by itself it costs this multiple of the cheapest.
_HOPELESS = 4.0
#: Vectors over more ciphertexts than this are not multiplied one ciphertext at a time.
_MOST_PARTS = 64
#: Fewer rows of a matrix than this are not multiplied at a time.
_LEAST_ROWS = 8


def matmul(context: Context, a: Operand, b: Operand, place: int, where: Location) -> Packed:
    """Return a @ b as numpy has it for one and two axes; `place` is the node's in the graph."""
    if all(not isinstance(one.value, Packed) or one.value.whole for one in (a, b)):
        return _matmul(context, a, b, place, where)
    # Zeros that stand nowhere take no part; rows and columns of nothing else are zeros of the result.
    a, b = without_zeros(a, b)
    rows, columns = (_some(one, axis) for one, axis in ((a, -1), (b, 0)))
    whole = rows.all() and columns.all()
    own = a if rows.all() else a.taken(rows, 0), b if columns.all() else b.taken(columns, -1)
    if any(isinstance(one.value, PlainView) for one in own):
        own = placed(context, own[0], where), placed(context, own[1], where)
    found = _matmul(context, *own, place, where)
    return found if whole else scattered(found.view(found.ct.reshape(-1), found.slot.reshape(-1)), _grid(rows, columns))


def _some(x: Operand, axis: int) -> Mask:
    """Return which of the vectors along an axis, of extent K, have an element that is not zero."""
    if isinstance(x.value, PlainView):
        return np.ones(x.shape[:-1] if axis < 0 else x.shape[1:], dtype=bool)
    return np.asarray(x.value.held.any(axis=axis))


def _grid(rows: Mask, columns: Mask) -> Mask:
    return np.asarray(np.multiply.outer(rows, columns))


def _matmul(context: Context, a: Operand, b: Operand, place: int, where: Location) -> Packed:
    ways = _ways(context, a, b, where)
    ways["summed"] = (_summed_cost(context, a, b), lambda: _summed(context, a, b, place, where))
    least = min(own for own, _ in ways.values())
    names = sorted((name for name in ways if ways[name][0] <= _HOPELESS * least), key=lambda name: ways[name][0])
    return ways[context.choices.pick(("product", place), names)][1]()


#: What a way costs by itself, and what does it.
_Ways = dict[str, tuple[float, Callable[[], Packed]]]


def _ways(context: Context, a: Operand, b: Operand, where: Location) -> _Ways:
    """Return the ways other than multiplying elements and summing."""
    if a.view and b.view:
        return _sent_product(context, a, b, a.view, b.view, where)
    if isinstance(a.value, PlainView) and len(a.shape) == 2 and isinstance(b.value, Packed):
        vectors = b if len(b.shape) == 1 else b.transposed()
        ways = _plain_matrix(context, vectors, a.value, where)
        return ways if len(b.shape) == 1 else {name: (own, _transposing(make)) for name, (own, make) in ways.items()}
    if isinstance(a.value, Packed) and isinstance(b.value, PlainView) and len(b.shape) == 2:
        return _plain_matrix(context, a, PlainView(b.value.node, b.value.picked.T), where)
    return {}


def _transposing(make: Callable[[], Packed]) -> Callable[[], Packed]:
    def transposed() -> Packed:
        found = make()
        return found.view(found.ct.T, found.slot.T)

    return transposed


def _plain_matrix(context: Context, vectors: Operand, matrix: PlainView, where: Location) -> _Ways:
    """Return the ways by diagonals to multiply vectors along the last axis by a plain matrix."""
    x, matrix = vectors.value, _sparse(matrix)
    if not isinstance(x, Packed):
        return {}
    together = _together(x, context.slots)
    found = _block_ways(context, x, matrix, together, where) if len(together) <= _MOST_PARTS else {}
    if not found and 1 < len(together) <= _MOST_PARTS:
        found = _by_rows(context, x, matrix, together, where)
    if (not found or len(together) > 1) and len(x.shape) == 1 and (own := matvec.diagonals(x, matrix, context.slots)):
        found["diagonals"] = (own.cost, lambda: matvec.multiply(context.builder, x, matrix, own, where))
    return found


def _together(x: Packed, slots: Slots) -> list[Index]:
    """Return the columns that stand together in one ciphertext and one of its rows of slots, in all vectors."""
    row = slots.plus(x.slot, 0, x.period) // slots.width
    place = np.moveaxis(x.ct * slots.rows + row, -1, 0).reshape(x.shape[-1], -1)
    _, group = np.unique(place, axis=0, return_inverse=True)
    return [np.flatnonzero(group.reshape(-1) == number) for number in range(int(group.max()) + 1)]


def _sparse(matrix: PlainView) -> PlainView:
    """Return a matrix of constants with picks of -1 for its zeros, unless it has no other element."""
    if matrix.node.op is not Op.CONSTANT:
        return matrix
    held = (matrix.node.low != 0).reshape(-1)[matrix.picked]
    return PlainView(matrix.node, np.where(held, matrix.picked, -1)) if held.any() else matrix


def _columns(matrix: PlainView, own: Index) -> PlainView:
    return PlainView(matrix.node, matrix.picked[:, own])


def _block_ways(context: Context, x: Packed, matrix: PlainView, together: list[Index], where: Location) -> _Ways:
    """Return the ways for columns of several ciphertexts: each by itself, the cheapest of each first, then added."""
    parts = [(x.view(x.ct[..., own], x.slot[..., own]).compact(), _columns(matrix, own)) for own in together]
    # Columns of zeros add nothing.
    parts = [(part, own) for part, own in parts if (own.picked >= 0).any()]
    each = [blocks.ways(part, own, context.slots)[:_WIDTHS] for part, own in parts]
    found: _Ways = {}
    for chosen in zip(*each, strict=False):
        pieces = [(part, own, way) for (part, own), way in zip(parts, chosen, strict=True)]
        total = sum(way.cost for way in chosen)
        found[f"diagonals, partial sums {chosen[0].parts} apart"] = (total, _block_product(context, pieces, where))
    return found


def _by_rows(context: Context, x: Packed, matrix: PlainView, together: list[Index], where: Location) -> _Ways:
    """Return the cheapest way for as many rows of the matrix at a time as have room, each in ciphertexts of its own."""
    count = power_of_two(len(matrix.picked)) // 2
    while count >= _LEAST_ROWS:
        starts = range(0, len(matrix.picked), count)
        rows = [PlainView(matrix.node, matrix.picked[start : start + count]) for start in starts]
        if not all((own.picked >= 0).any() for own in rows):
            return {}
        each = [_block_ways(context, x, own, together, where) for own in rows]
        if all(each):
            return {f"diagonals, {count} rows at a time": _cheapest_each(each)}
        count //= 2
    return {}


def _cheapest_each(each: list[_Ways]) -> tuple[float, Callable[[], Packed]]:
    """Return the cost of the cheapest ways, and what joins their results."""
    chosen = [min(ways.values(), key=lambda way: way[0]) for ways in each]
    return sum(own for own, _ in chosen), lambda: _stacked([make() for _, make in chosen])


def _stacked(parts: list[Packed]) -> Packed:
    """Join tensors along the last axis, each in its own ciphertexts."""
    offsets = np.cumsum([0] + [len(part.cts) for part in parts])
    ct = np.concatenate([np.where(own.held, own.ct + at, -1) for own, at in zip(parts, offsets, strict=False)], axis=-1)
    slot = np.concatenate([part.slot for part in parts], axis=-1)
    period = reduce(Slots.join, (part.period for part in parts))
    zeros = np.concatenate([part.zeros for part in parts])
    return Packed(tuple(number for part in parts for number in part.cts), ct, slot, period, zeros)


def _block_product(
    context: Context, pieces: list[tuple[Packed, PlainView, blocks.Way]], where: Location
) -> Callable[[], Packed]:
    def make() -> Packed:
        products = (blocks.multiply(context.builder, x, matrix, way, where) for x, matrix, way in pieces)
        return reduce(lambda a, b: combine(context.builder, Kind.ADD, a, b, where), products)

    return make


def _sent_product(context: Context, a: Operand, b: Operand, left: View, right: View, where: Location) -> _Ways:
    """Return the way in which the client sends both operands spread over all products, the contracted axis outermost.

    Then sums are of whole ciphertexts as far as these go, and what remains is one short sum for all results.
    """
    one = left.picked if len(a.shape) == 2 else left.picked[None, :]
    two = right.picked if len(b.shape) == 2 else right.picked[:, None]
    shape = (two.shape[0], one.shape[0], two.shape[1])
    results = shape[1] * shape[2]
    per = max(context.slots.count // power_of_two(results), 1)
    cts = -(-shape[0] // per) * -(-results // context.slots.count)
    if cts > MOST_SENT:
        return {}
    left_view = View(left.name, np.broadcast_to(one.T[:, :, None], shape).reshape(shape[0], results))
    right_view = View(right.name, np.broadcast_to(two[:, None, :], shape).reshape(shape[0], results))

    def make() -> Packed:
        ct, slot, period, gather = pack(left_view.picked.shape, "rows", context.slots)

        def laid(view: View) -> Packed:
            own = np.where(gather < 0, -1, view.picked.reshape(-1)[gather])
            return context.sent.laid(view, ct, slot, period, own, where)

        products = combine(context.builder, Kind.MULTIPLY, laid(left_view), laid(right_view), where)
        total = sum_axis(context.builder, products, 0, where)
        wanted = a.shape[:-1] + b.shape[1:]
        return total.view(total.ct.reshape(wanted), total.slot.reshape(wanted))

    # Of the two operands, one may stand like this anyway.
    own = cts * 0.75 + 1.0 + cost.summed(min(per, power_of_two(shape[0])))
    return {"sent spread over all products": (own, make)}


def _summed_cost(context: Context, a: Operand, b: Operand) -> float:
    """Return a figure that compares to that of the other ways: sums of each ciphertext of products by rotations."""
    columns, results = a.shape[-1], int(np.prod(a.shape[:-1] + b.shape[1:], dtype=np.int64))
    cts = 1
    for x in (a.value, b.value):
        if isinstance(x, Packed):
            # Copies for the other operand's rows go to the repetitions first.
            copies = results * columns // int(np.prod(x.shape))
            cts = max(cts, len(x.cts) * -(-copies // (context.slots.count // x.period.count)))
    sums = cts * (cost.PLAIN + cost.summed(power_of_two(columns))) + (cts - 1) * cost.CIPHERTEXT
    lined_up = isinstance(a.value, PlainView) or isinstance(b.value, PlainView)
    # One of two encrypted operands is moved, or sent once more.
    return sums if lined_up else sums + cts * cost.CIPHERTEXT


def _summed(context: Context, a: Operand, b: Operand, place: int, where: Location) -> Packed:
    """Compute a @ b as sum_k a[.., k] b[k, ..]."""
    left = a.expanded(-2) if len(b.shape) == 2 else a
    right = b.transposed() if len(b.shape) == 2 else b
    if len(a.shape) == 2 and len(b.shape) == 2:
        right = right.expanded(0)
    if (folded := _folded(context, left, right, where)) is not None:
        return folded
    products = _products(context, left, right, place, where)
    return sum_axis(context.builder, products, len(products.shape) - 1, where)


def _products(context: Context, left: Operand, right: Operand, place: int, where: Location) -> Packed:
    """Return the products of elements."""
    for x, y in ((left, right), (right, left)):
        if isinstance(x.value, Packed) and isinstance(y.value, PlainView):
            return combine_plain(context.builder, Kind.MULTIPLY_PLAIN, x.value, y.value, where)
    return combined(context, Kind.MULTIPLY, left, right, place, where)


def _folded(context: Context, left: Operand, right: Operand, where: Location) -> Packed | None:
    """Return sum_k left[.., k] right[.., k] of rows over several ciphertexts and plain ones, packed together."""
    x, plain = (left.value, right.value) if isinstance(left.value, Packed) else (right.value, left.value)
    if not isinstance(x, Packed) or not isinstance(plain, PlainView):
        return None
    shape = np.broadcast_shapes(x.shape, plain.picked.shape)
    return fold.inner_products(context.builder, x.broadcast(shape), plain, where)
