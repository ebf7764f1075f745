# SPDX-License-Identifier: Apache-2.0
"""From the graph of tensor operations to a program on packed vectors of slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import cast

import numpy as np

from ringsmith.compiler.lowering import basis, search
from ringsmith.compiler.lowering.align import PlainView, combine_plain, negate
from ringsmith.compiler.lowering.choices import Choices, Decision
from ringsmith.compiler.lowering.context import Context, Operand, Value, combined
from ringsmith.compiler.lowering.contraction import matmul
from ringsmith.compiler.lowering.fuse import fuse
from ringsmith.compiler.lowering.layout import Packed, pack
from ringsmith.compiler.lowering.powers import Powers
from ringsmith.compiler.lowering.reduce import sum_axis
from ringsmith.compiler.lowering.sent import Sent, View
from ringsmith.errors import KernelError
from ringsmith.frontend.declare import Argument
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import Graph, Node, Op
from ringsmith.ir.handed import Handed
from ringsmith.ir.layout_note import LayoutNote
from ringsmith.ir.slot_program import Builder, Kind, SlotProgram
from ringsmith.location import Location
from ringsmith.progress import tell

#: Arguments that are results of other programs, by name.
Results = Mapping[str, Handed]
_PLAIN_KIND = {Op.ADD: Kind.ADD_PLAIN, Op.SUB: Kind.SUB_PLAIN, Op.MULTIPLY: Kind.MULTIPLY_PLAIN}
_KIND = {Op.ADD: Kind.ADD, Op.SUB: Kind.SUB, Op.MULTIPLY: Kind.MULTIPLY}


def lower(graph: Graph, arguments: Mapping[str, Argument], slots: Slots) -> SlotProgram:
    """Lower a graph for ciphertexts of these slots, in the cheapest layouts that are found for the whole of it."""
    return LayoutSearch(graph, arguments)(slots)


class LayoutSearch:
    """Lowers one graph for ciphertexts of any slots; `found` keeps what was found for each."""

    def __init__(
        self, graph: Graph, arguments: Mapping[str, Argument], results: Callable[[Slots], Results] = lambda _: {}
    ) -> None:
        """Start with nothing found. `results`: the arguments that are results of other programs, for any slots."""
        self.graph = graph
        self.arguments = arguments
        self.results = results
        self.found: dict[Slots, search.Found] = {}

    def __call__(self, slots: Slots) -> SlotProgram:
        """Return the program of the cheapest layouts."""
        if slots not in self.found:
            tell(f"layouts for {slots.count} slots")
            lower = partial(lowered, self.graph, self.arguments, slots, handed=self.results(slots))
            self.found[slots] = search.cheapest(lower)
        return self.found[slots].program

    def described(self, slots: Slots, count: int = 3) -> tuple[LayoutNote, ...]:
        """Return the cheapest layouts for these slots in words, the one taken first."""
        found = self.found[slots]
        nodes = self.graph.nodes()
        return tuple(
            LayoutNote(
                tuple((_subject(decision, nodes), option) for decision, option in layout.taken.items()),
                layout.price / found.layouts[0].price,
                layout.key_switches,
            )
            for layout in found.layouts[:count]
        )


def _subject(decision: Decision, nodes: Sequence[Node]) -> str:
    what, about = decision
    return f"argument {about}" if isinstance(about, str) else f"{what} in line {nodes[about].where.line}"


def lowered(
    graph: Graph, arguments: Mapping[str, Argument], slots: Slots, choices: Choices, limit: int | None = None,
    handed: Results | None = None,
) -> SlotProgram:  # fmt: skip
    """Lower a graph by choices; raise `TooLongError` beyond `limit` operations."""
    return fuse(_Lowering(graph, arguments, slots, choices, limit, handed or {}).run())


class _Lowering:
    """One walk over a graph."""

    def __init__(
        self, graph: Graph, arguments: Mapping[str, Argument], slots: Slots, choices: Choices, limit: int | None,
        handed: Results,
    ) -> None:  # fmt: skip
        self.handed = handed
        self.graph = graph
        self.arguments = arguments
        self.slots = slots
        self.choices = choices
        self.builder = Builder(slots, limit)
        self.sent = Sent(self.builder)
        self.context = Context(slots, self.builder, self.sent, choices)
        self.values: dict[int, Value] = {}
        self.views: dict[int, View] = {}
        self.numbers: dict[int, int] = {}

    def run(self) -> SlotProgram:
        graph = self.graph
        for name, node in graph.inputs.items():
            self.values[id(node)] = self._input(name, node)
        for number, node in enumerate(graph.nodes()):
            self.numbers[id(node)] = number
            if id(node) not in self.values:
                self.values[id(node)] = self._visit(node)
        result = self.values[id(graph.output)]
        if isinstance(result, PlainView):
            raise KernelError("the result does not depend on any encrypted argument", graph.output.where)
        result = result.compact()
        bounds = {name: node.bound for name, node in graph.inputs.items() if node.encrypted}
        sent = {name: self.sent.rows[name] for name in bounds}
        packing = result.ct, result.slot, result.period, result.zeros
        return self.builder.finish(sent, bounds, result.cts, packing, self.handed)

    def _input(self, name: str, node: Node) -> Value:
        if not node.encrypted:
            return PlainView.of(node)
        if name in self.handed:
            own = self.handed[name]
            cts = self.sent.apart(name, own.rows(self.slots), node.where)
            return Packed(cts, own.ct, own.slot, own.period, own.zeros)
        packing = cast(str, self.arguments[name].packing)
        if packing == "auto":
            self.views[id(node)] = View(name, np.arange(int(np.prod(node.shape))).reshape(node.shape))
            options = ["rows", "transposed"] if len(node.shape) > 1 else ["rows"]
            packing = self.choices.pick(("input", name), options)
        ct, slot, period, gather = pack(node.shape, packing, self.slots)
        return Packed(self.sent.place(name, gather, node.where), ct, slot, period, gather < 0)

    def _visit(self, node: Node) -> Value:
        if not node.encrypted:
            return PlainView.of(node)
        args = [self._operand(arg) for arg in node.args]
        if node.op in _KIND:
            return self._elementwise(node.op, args[0], args[1], node)
        if node.op is Op.MATMUL:
            return matmul(self.context, args[0], args[1], self.numbers[id(node)], node.where)
        if node.op is Op.JOIN:
            return self._join(node, [arg.value for arg in args])
        x = cast(Packed, args[0].value)
        if node.op is Op.INDEX:
            if view := args[0].view:
                self.views[id(node)] = View(view.name, view.picked.reshape(-1)[node.attributes["gather"]])
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

    def _operand(self, node: Node) -> Operand:
        return Operand(self.values[id(node)], self.views.get(id(node)))

    def _sum(self, x: Packed, axis: int | None, where: Location) -> Packed:
        axes = [axis] if axis is not None else list(range(len(x.shape) - 1, -1, -1))
        for one in axes:
            x = sum_axis(self.builder, x, one, where)
        return x

    def _elementwise(self, op: Op, a: Operand, b: Operand, node: Node) -> Packed:
        where = node.where
        if isinstance(a.value, Packed) and isinstance(b.value, Packed):
            return combined(self.context, _KIND[op], a, b, self.numbers[id(node)], where)
        if isinstance(a.value, Packed):
            return combine_plain(self.builder, _PLAIN_KIND[op], a.value, cast(PlainView, b.value), where)
        x, plain = cast(Packed, b.value), a.value
        if op is Op.SUB:
            return combine_plain(self.builder, Kind.ADD_PLAIN, negate(self.builder, x, where), plain, where)
        return combine_plain(self.builder, _PLAIN_KIND[op], x, plain, where)

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
