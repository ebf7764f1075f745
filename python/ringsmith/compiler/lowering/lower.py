# SPDX-License-Identifier: Apache-2.0
"""From the graph of tensor operations to a program on packed vectors of slots."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, cast

import numpy as np

from ringsmith.compiler.lowering import basis, cost, search, sparse
from ringsmith.compiler.lowering.align import PlainView, combine_plain, negate
from ringsmith.compiler.lowering.choices import Choices, Decision
from ringsmith.compiler.lowering.context import MOST_SENT, Context, Operand, Value, combined
from ringsmith.compiler.lowering.contraction import matmul
from ringsmith.compiler.lowering.diagonals import LinearMaps
from ringsmith.compiler.lowering.fuse import fuse
from ringsmith.compiler.lowering.layout import Packed, pack, packings
from ringsmith.compiler.lowering.moves import Mask
from ringsmith.compiler.lowering.places import moved_to_rows, nothing, placed_zeros, present, settled
from ringsmith.compiler.lowering.powers import Powers
from ringsmith.compiler.lowering.reduce import sum_axis
from ringsmith.compiler.lowering.sent import Sent, View
from ringsmith.errors import KernelError
from ringsmith.frontend.declare import Argument
from ringsmith.ir import nodes
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Graph, Node, Op
from ringsmith.ir.handed import Handed
from ringsmith.ir.kinds import Kind
from ringsmith.ir.layout_note import LayoutNote
from ringsmith.ir.slot_program import Builder, SlotProgram
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
        self, graph: Graph, arguments: Mapping[str, Argument], results: Callable[[Slots], Results] = lambda _: {},
        key: float = cost.KEY,
    ) -> None:  # fmt: skip
        """Start with nothing found. `results`: the arguments that are results of other programs, for any slots; `key`:
        the price of a rotation key."""
        self.graph = graph
        self.arguments = arguments
        self.results = results
        self.key = key
        self.found: dict[Slots, search.Found] = {}
        self._maps: dict[Slots, LinearMaps] = {}

    def thrifty(self) -> LayoutSearch:
        """Return the search for layouts of few rotation keys."""
        other = LayoutSearch(self.graph, self.arguments, self.results, cost.DEAR_KEY)
        other._maps = self._maps
        return other

    def __call__(self, slots: Slots) -> SlotProgram:
        """Return the program of the cheapest layouts."""
        if slots not in self.found:
            tell(f"layouts for {slots.count} slots")
            maps = self._maps.setdefault(slots, LinearMaps(slots))
            lower = partial(lowered, self.graph, self.arguments, slots, handed=self.results(slots), maps=maps)
            self.found[slots] = search.cheapest(lower, self.key)
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
    handed: Results | None = None, maps: LinearMaps | None = None,
) -> SlotProgram:  # fmt: skip
    """Lower a graph by choices; raise `TooLongError` beyond `limit` operations. `maps`: what is known of its maps."""
    maps = maps or LinearMaps(slots)
    return fuse(_Lowering(graph, arguments, slots, choices, limit, handed or {}, maps).run())


class _Lowering:
    """One walk over a graph."""

    def __init__(
        self, graph: Graph, arguments: Mapping[str, Argument], slots: Slots, choices: Choices, limit: int | None,
        handed: Results, maps: LinearMaps,
    ) -> None:  # fmt: skip
        self.handed = handed
        self.graph = graph
        self.arguments = arguments
        self.slots = slots
        self.choices = choices
        self.builder = Builder(slots, limit)
        self.sent = Sent(self.builder)
        self.context = Context(slots, self.builder, self.sent, choices, maps)
        self.values: dict[int, Value] = {}
        self.views: dict[int, View] = {}
        self.numbers: dict[int, int] = {}
        self.order = graph.nodes()
        self.lengths = _reshaped(graph)
        self.alike: dict[Any, int] = {}

    def run(self) -> SlotProgram:
        graph = self.graph
        for name, node in graph.inputs.items():
            self.values[id(node)] = self._input(name, node)
        for number, node in enumerate(self.order):
            self.numbers[id(node)] = number
            if id(node) not in self.values:
                self.values[id(node)] = self._visit(node)
        result = self.values[id(graph.output)]
        if isinstance(result, PlainView):
            raise KernelError("the result does not depend on any encrypted argument", graph.output.where)
        result = settled(self.builder, result, graph.output.where)
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
            options = packings(node.shape) + (["transposed"] if len(node.shape) > 1 else [])
            lengths = self.lengths.get(node.low.size, ())
            others = [_ROWS_OF + str(length) for length in lengths if length != node.shape[-1]]
            # An argument that is used in another shape alone comes in that shape.
            options = others + options if len(others) == 1 and self._reshaped_alone(node) else options + others
            packing = self.choices.pick(("input", name), options)
        if packing.startswith(_ROWS_OF):
            length = int(packing.removeprefix(_ROWS_OF))
            ct, slot, period, gather = pack((node.low.size // length, length), "rows", self.slots)
            ct, slot = ct.reshape(node.shape), slot.reshape(node.shape)
        else:
            ct, slot, period, gather = pack(node.shape, packing, self.slots)
        return Packed(self.sent.place(name, gather, node.where), ct, slot, period, gather < 0)

    def _reshaped_alone(self, node: Node) -> bool:
        """Return whether an argument is used in other shapes alone."""
        return all(user.op is Op.INDEX and _in_order(user) for user in self.order if node in user.args)

    def _visit(self, node: Node) -> Value:
        if not node.encrypted:
            return PlainView.of(node)
        args = [self._operand(arg) for arg in node.args]
        if node.op in _KIND:
            return self._elementwise(node.op, args[0], args[1], node)
        if node.op is Op.MATMUL:
            return matmul(self.context, args[0], args[1], self.numbers[id(node)], node.where)
        if node.op is Op.LINEAR:
            return sparse.applied(self.context, args[0], node, self.numbers[id(node)])
        if node.op is Op.JOIN:
            return self._join(node, args)
        x = cast(Packed, args[0].value)
        if node.op is Op.INDEX:
            view = args[0].view and args[0].view.gather(node.attributes["gather"])
            if view is not None:
                self.views[id(node)] = view
            return self._viewed(node, x.gather(node.attributes["gather"]), view, args)
        if node.op is Op.WITHIN:
            x = x.compact()
            bound, everywhere = node.attributes["bound"], x.fills(self.slots)
            error = node.attributes.get("error", math.inf)
            cts = tuple(self.builder.within(ct, bound, everywhere, node.where, error=error) for ct in x.cts)
            if "bootstraps" in node.attributes:
                cts = tuple(self.builder.bootstrap(ct, node.where) for ct in cts)
            return Packed(cts, x.ct, x.slot, x.period, x.zeros)
        if node.op is Op.NEGATE:
            return negate(self.builder, x, node.where)
        if node.op is Op.POWER:
            return Powers(self.builder, x, node.where).get(node.attributes["exponent"])
        if node.op in (Op.POLYNOMIAL, Op.CHEBYSHEV):
            x = placed_zeros(self.builder, x, node.where)
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

    def _join(self, node: Node, args: list[Operand]) -> Packed:
        """Join parts: zeros stand nowhere, other plain elements are added to zeros or have ciphertexts of their own."""
        picked = node.attributes["gather"]
        zero, plain = self._known(node)
        view = self._join_view(node, args, zero | plain)
        if view is not None and not plain.any():
            self.views[id(node)] = view
        if plain.any() and self.choices.pick(("plain parts", self.numbers[id(node)]), _PLAIN_PARTS) == _PLAIN_PARTS[0]:
            return self._joined([self._encrypted(arg.value, args, node.where) for arg in args], _less(picked, zero))
        parts = [arg.value for arg in args]
        joined = self._viewed(node, self._joined(parts, _less(picked, zero | plain)), view, args)
        if not plain.any():
            return joined
        others = [self._plain_part(part, arg) for part, arg in zip(node.args, args, strict=True)]
        return combine_plain(
            self.builder, Kind.ADD_PLAIN, joined, PlainView.of(nodes.join(others, picked, node.where)), node.where
        )

    def _known(self, node: Node) -> tuple[Mask, Mask]:
        """Return which elements of a join are constants of zero, and which other ones are plain."""
        zero, plain = [], []
        for part in node.args:
            known = np.full(part.low.size, part.op is Op.CONSTANT)
            zero.append(known & ((part.low == 0) & (part.high == 0)).reshape(-1).astype(bool))
            plain.append(~zero[-1] & (not part.encrypted))
        return tuple(np.concatenate(own)[node.attributes["gather"]] for own in (zero, plain))

    def _join_view(self, node: Node, args: list[Operand], known: Mask) -> View | None:
        """Return a join of one argument's views as a view, with zeros in place of what is known; None if it is none."""
        views = [arg.view for arg in args]
        names = {view.name for view in views if view is not None}
        if len(names) != 1 or any(view is None and part.encrypted for view, part in zip(views, node.args, strict=True)):
            return None
        numbers = [np.full(arg.shape, -1) if arg.view is None else arg.view.picked for arg in args]
        every = np.concatenate([own.reshape(-1) for own in numbers])
        return View(names.pop(), np.where(known, -1, every[node.attributes["gather"]]))

    def _viewed(self, node: Node, x: Packed, view: View | None, args: list[Operand]) -> Packed:
        """Return a view as it stands, or laid out anew: by the client, if it is one of an argument, or by moves."""
        x = present(self.builder, x, node.where)
        options = ["as it stands"]
        if view is not None and _laid_out(node, args):
            options += [f"sent as it is used, by {packing}" for packing in packings(node.shape)]
        if (node.op is Op.JOIN and not x.whole) or _repeats(node):
            options.append("moved")
        # Equal views, as of a padding that is written again at each use, are laid out alike.
        content = x.cts, x.ct.tobytes(), x.slot.tobytes(), x.shape
        if len(options) == 1 or (content not in self.alike and len(self.alike) == _MOST_VIEWS):
            return x
        way = self.choices.pick(("view", self.alike.setdefault(content, self.numbers[id(node)])), options)
        if way == "moved":
            return moved_to_rows(self.builder, x, node.where)
        if way == "as it stands" or view is None:
            return x
        return self._sent(view, way.rsplit(" ", 1)[1], node.where) or x

    def _sent(self, view: View, packing: str, where: Location) -> Packed | None:
        """Return a view that the client sends, its zeros in places; None if it takes too many ciphertexts."""
        ct, slot, period, gather = pack(view.picked.shape, packing, self.slots)
        if len(gather) > MOST_SENT:
            return None
        own = np.where(gather < 0, -1, view.picked.reshape(-1)[gather])
        return self.sent.laid(view, ct, slot, period, own, where)

    def _joined(self, parts: Sequence[Value], picked: Index) -> Packed:
        """Join packed parts; `picked` takes nothing (-1) of plain ones."""
        packed = [part if isinstance(part, Packed) else _no_place(part, self.slots) for part in parts]
        period = reduce(Slots.join, (part.period for part in packed))
        offsets = np.cumsum([0] + [len(part.cts) for part in packed])
        shifted = (np.where(part.held, part.ct + offset, -1) for part, offset in zip(packed, offsets, strict=False))
        ct = np.concatenate([own.reshape(-1) for own in shifted])
        slot = np.concatenate([part.slot.reshape(-1) for part in packed])
        cts = tuple(number for part in packed for number in part.cts)
        zeros = np.concatenate([part.zeros for part in packed])
        return Packed(cts, ct, slot, period, zeros).gather(picked)

    def _encrypted(self, value: Value, others: list[Operand], where: Location) -> Packed:
        """Return a plain part as ciphertexts: (x - x) + plain, which needs no key."""
        if isinstance(value, Packed):
            return value
        some = next(other.value for other in others if isinstance(other.value, Packed)).cts[0]
        zeros = nothing(self.builder, some, value.picked.shape, where)
        return combine_plain(self.builder, Kind.ADD_PLAIN, zeros, value, where)

    def _plain_part(self, part: Node, arg: Operand) -> Node:
        """Return a part of a join if it is plain, else zeros."""
        if isinstance(arg.value, PlainView):
            return part
        return nodes.constant(np.zeros(part.shape, dtype=part.low.dtype), part.where, exact=part.exact)


_PLAIN_PARTS = ("apart", "added to zeros")
#: Most views for which layouts of their own are tried; later ones stand as they are.
_MOST_VIEWS = 12
#: A packing by rows of another length than the argument's, and of how many lengths one is tried.
_ROWS_OF, _MOST_LENGTHS = "rows of ", 3


def _less(picked: Index, zero: Mask) -> Index:
    return np.where(zero, -1, picked)


def _no_place(part: PlainView, slots: Slots) -> Packed:
    """Return a tensor of which no element stands anywhere."""
    ct = np.full(part.picked.shape, -1, dtype=np.intp)
    return Packed((), ct, np.zeros_like(ct), Slots(1, 1), np.zeros((0, slots.count), dtype=bool))


def _repeats(node: Node) -> bool:
    """Return whether a selection takes an element more than once."""
    picked = node.attributes["gather"]
    return node.op is Op.INDEX and len(np.unique(picked)) < picked.size


def _laid_out(node: Node, args: list[Operand]) -> bool:
    """Return whether a view may deserve its own layout: a join, repeated elements, or all elements in new rows."""
    if node.op is Op.JOIN or _repeats(node):
        return True
    rows, before = ([extent for extent in own if extent > 1][-1:] for own in (node.shape, args[0].shape))
    return node.low.size == int(np.prod(args[0].shape)) and rows != before


def _in_order(node: Node) -> bool:
    """Return whether a selection takes all elements in order."""
    picked = node.attributes["gather"].reshape(-1)
    return picked.size == node.args[0].low.size and np.array_equal(picked, np.arange(picked.size))


def _reshaped(graph: Graph) -> dict[int, list[int]]:
    """Return the lengths of rows that tensors are reshaped to, by the count of their elements, the first few."""
    found: dict[int, list[int]] = {}
    for node in graph.nodes():
        if node.op is Op.INDEX and node.encrypted and node.shape and node.shape[-1] > 1:
            lengths = found.setdefault(node.low.size, [])
            if _in_order(node) and node.shape[-1] not in lengths and len(lengths) < _MOST_LENGTHS:
                lengths.append(node.shape[-1])
    return found
