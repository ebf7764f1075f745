# SPDX-License-Identifier: Apache-2.0
"""From the graph of tensor operations to a program on packed vectors of slots."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import cast

import numpy as np

from ringsmith.compiler.lowering import basis, fold, matvec
from ringsmith.compiler.lowering.align import PlainView, combine, combine_plain, negate
from ringsmith.compiler.lowering.fuse import fuse
from ringsmith.compiler.lowering.layout import Packed, pack
from ringsmith.compiler.lowering.powers import Powers
from ringsmith.compiler.lowering.reduce import sum_axis
from ringsmith.errors import KernelError
from ringsmith.frontend.declare import Argument
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import Graph, Node, Op
from ringsmith.ir.slot_program import Builder, InputPacking, Kind, SlotProgram
from ringsmith.location import Location

_PLAIN_KIND = {Op.ADD: Kind.ADD_PLAIN, Op.SUB: Kind.SUB_PLAIN, Op.MULTIPLY: Kind.MULTIPLY_PLAIN}
_KIND = {Op.ADD: Kind.ADD, Op.SUB: Kind.SUB, Op.MULTIPLY: Kind.MULTIPLY}

Value = Packed | PlainView


def lower(graph: Graph, arguments: Mapping[str, Argument], slots: Slots) -> SlotProgram:
    """Lower a graph for ciphertexts of these slots."""
    return fuse(_Lowering(arguments, slots).run(graph))


class _Lowering:
    """One walk over a graph."""

    def __init__(self, arguments: Mapping[str, Argument], slots: Slots) -> None:
        self.arguments = arguments
        self.slots = slots
        self.builder = Builder(slots)
        self.inputs: dict[str, InputPacking] = {}
        self.values: dict[int, Value] = {}

    def run(self, graph: Graph) -> SlotProgram:
        for name, node in graph.inputs.items():
            self.values[id(node)] = self._input(name, node)
        for node in graph.nodes():
            if id(node) not in self.values:
                self.values[id(node)] = self._visit(node)
        result = self.values[id(graph.output)]
        if isinstance(result, PlainView):
            raise KernelError("the result does not depend on any encrypted argument", graph.output.where)
        result = result.compact()
        bounds = {name: node.bound for name, node in graph.inputs.items() if node.encrypted}
        return self.builder.finish(self.inputs, bounds, result.cts, result.ct, result.slot)

    def _input(self, name: str, node: Node) -> Value:
        if not node.encrypted:
            return PlainView.of(node)
        packing = cast(str, self.arguments[name].packing)
        ct, slot, period, gather = pack(node.shape, packing, self.slots)
        self.inputs[name] = InputPacking(name, gather)
        cts = tuple(self.builder.fresh(node.where) for _ in gather)
        return Packed(cts, ct, slot, period, gather < 0)

    def _visit(self, node: Node) -> Value:
        if not node.encrypted:
            return PlainView.of(node)
        args = [self.values[id(arg)] for arg in node.args]
        if node.op in _KIND:
            return self._elementwise(node.op, args[0], args[1], node.where)
        if node.op is Op.MATMUL:
            return self._matmul(args[0], args[1], node.where)
        if node.op is Op.JOIN:
            return self._join(node, args)
        x = cast(Packed, args[0])
        if node.op is Op.INDEX:
            return x.gather(node.attributes["gather"])
        if node.op is Op.WITHIN:
            x = x.compact()
            bound, everywhere = node.attributes["bound"], x.fills(self.slots)
            cts = tuple(self.builder.within(ct, bound, everywhere, node.where) for ct in x.cts)
            return Packed(cts, x.ct, x.slot, x.period, x.zeros)
        if node.op is Op.NEGATE:
            return negate(self.builder, x, node.where)
        if node.op is Op.POWER:
            return Powers(self.builder, x, node.where).get(node.attributes["exponent"])
        if node.op is Op.POLYNOMIAL:
            return basis.of_powers(self.builder, x, node)
        if node.op is Op.CHEBYSHEV:
            return basis.of_chebyshev(self.builder, x, node)
        return self._sum(x, node.attributes["axis"], node.where)

    def _sum(self, x: Packed, axis: int | None, where: Location) -> Packed:
        axes = [axis] if axis is not None else list(range(len(x.shape) - 1, -1, -1))
        for one in axes:
            x = sum_axis(self.builder, x, one, where)
        return x

    def _elementwise(self, op: Op, a: Value, b: Value, where: Location) -> Packed:
        if isinstance(a, Packed) and isinstance(b, Packed):
            return combine(self.builder, _KIND[op], a, b, where)
        if isinstance(a, Packed):
            return combine_plain(self.builder, _PLAIN_KIND[op], a, cast(PlainView, b), where)
        x = cast(Packed, b)
        if op is Op.SUB:
            return combine_plain(self.builder, Kind.ADD_PLAIN, negate(self.builder, x, where), a, where)
        return combine_plain(self.builder, _PLAIN_KIND[op], x, a, where)

    def _matmul(self, a: Value, b: Value, where: Location) -> Packed:
        """Compute a @ b as sum_k a[.., k] b[k, ..], or by diagonals when a plain matrix meets one encrypted vector."""
        if isinstance(a, Packed) and isinstance(b, PlainView) and len(a.shape) == 1 and b.picked.ndim == 2:
            a, b = PlainView(b.node, b.picked.T), a
        if isinstance(a, PlainView) and isinstance(b, Packed) and len(b.shape) == 1 and a.picked.ndim == 2:
            rows = a.picked.shape[0]
            chosen = matvec.diagonals(b, rows, self.slots)
            if chosen is not None and chosen.cost < matvec.spread_cost(b, rows, self.slots):
                return matvec.multiply(self.builder, b, a, chosen, where)
        rank_a, rank_b = _rank(a), _rank(b)
        left = _expand(a, -2) if rank_b == 2 else a
        right = _transposed(b) if rank_b == 2 else b
        if rank_a == 2 and rank_b == 2:
            right = _expand(right, 0)
        folded = self._folded(left, right, where)
        if folded is not None:
            return folded
        products = self._elementwise(Op.MULTIPLY, left, right, where)
        return sum_axis(self.builder, products, len(products.shape) - 1, where)

    def _folded(self, left: Value, right: Value, where: Location) -> Packed | None:
        """Return sum_k left[.., k] right[.., k] of rows over several ciphertexts and plain ones, packed together."""
        x, plain = (left, right) if isinstance(left, Packed) else (right, left)
        if not isinstance(x, Packed) or not isinstance(plain, PlainView):
            return None
        shape = np.broadcast_shapes(x.shape, plain.picked.shape)
        return fold.inner_products(self.builder, x.broadcast(shape), plain, where)

    def _join(self, node: Node, args: list[Value]) -> Packed:
        packed = [self._encrypted(value, args, node.where) for value in args]
        period = reduce(Slots.join, (part.period for part in packed))
        offsets = np.cumsum([0] + [len(part.cts) for part in packed])
        picked = node.attributes["gather"]
        ct = np.concatenate([(part.ct + offset).reshape(-1) for part, offset in zip(packed, offsets, strict=False)])
        slot = np.concatenate([part.slot.reshape(-1) for part in packed])
        cts = tuple(number for part in packed for number in part.cts)
        return Packed(cts, ct[picked], slot[picked], period, np.concatenate([part.zeros for part in packed]))

    def _encrypted(self, value: Value, others: list[Value], where: Location) -> Packed:
        """Return a plain part as ciphertexts: (x - x) + plain, which needs no key."""
        if isinstance(value, Packed):
            return value
        some = next(other for other in others if isinstance(other, Packed)).cts[0]
        nothing = self.builder.add(Kind.SUB, (some, some), where)
        ct, slot, period, gather = pack(value.picked.shape, "rows", self.slots)
        zeros = np.ones_like(gather, dtype=bool)
        return combine_plain(
            self.builder, Kind.ADD_PLAIN, Packed((nothing,) * len(gather), ct, slot, period, zeros), value, where
        )


def _rank(value: Value) -> int:
    return len(value.shape) if isinstance(value, Packed) else value.picked.ndim


def _expand(value: Value, axis: int) -> Value:
    """Add an axis of extent 1 (before the last for axis -2)."""
    if isinstance(value, Packed):
        return value.view(np.expand_dims(value.ct, axis), np.expand_dims(value.slot, axis))
    return PlainView(value.node, np.expand_dims(value.picked, axis))


def _transposed(value: Value) -> Value:
    if isinstance(value, Packed):
        return value.view(value.ct.T, value.slot.T)
    return PlainView(value.node, value.picked.T)
