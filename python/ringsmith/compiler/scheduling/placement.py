# SPDX-License-Identifier: Apache-2.0
"""Where a CKKS program is refreshed: cuts through it, at the lowest total price.

The depth of an operation is the number of rescales on its longest way from an input. A cut at depth t refreshes what
operations beyond t take from values up to t and what has no level left for them. Depths are nodes, a segment between
two cuts is an edge of at most as many levels as a refresh leaves, its price that of its operations at their levels
and of the refreshes at its end, as measured (`prices`); the cheapest way through is found exactly. For a chain, where
one value crosses each cut, that is the cheapest placement there is; in a graph a value that is used again much later
may be refreshed twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from ringsmith.compiler.scheduling.prices import Prices
from ringsmith.ir.circuit import SWITCHES
from ringsmith.ir.kinds import FACTS, Kind
from ringsmith.ir.slot_program import CIPHER_PRODUCTS, PlainOperand, SlotOp, SlotProgram

_REFRESHES = tuple(kind for kind, facts in FACTS.items() if facts.key == "bootstrapping")
_SCALED = tuple(kind for kind, facts in FACTS.items() if "plaintext" in facts.attributes and facts.scale == "product")


@dataclass(frozen=True)
class Levels:
    """What a refresh leaves and needs, the limbs of the key switches that it takes, and prices in the ring."""

    top: int
    fresh: int
    least: int
    switches: tuple[int, ...]
    prices: Prices

    @property
    def between(self) -> int:
        """Rescales between two refreshes."""
        return self.fresh - self.least

    def price(self) -> float:
        """Return the price of a refresh."""
        return self.prices.of_refresh(self.switches)


def refreshed_by_hand(program: SlotProgram) -> bool:
    """Return whether a program says itself where it is refreshed."""
    return any(op.kind in _REFRESHES for op in program.ops)


def placed(program: SlotProgram, levels: Levels) -> SlotProgram:
    """Return the program with refreshes, as many as its depth needs."""
    if levels.between < 1:
        return program
    depths = _depths(program)
    cuts = _cheapest(program, depths, levels)
    return _Placing(program, depths, cuts).run() if cuts else program


def _rescales(op: SlotOp, plains: Sequence[PlainOperand]) -> int:
    """Return the rescales that an operation's normal form takes after its operands."""
    if op.kind in CIPHER_PRODUCTS:
        return 1
    if op.kind in _SCALED:
        return int(plains[op.plain].integer is None)
    return int(op.transform is not None and bool(op.plains))


def _depths(program: SlotProgram) -> list[int]:
    depths: list[int] = []
    for op in program.ops:
        before = max((depths[arg] for arg in op.args), default=0)
        depths.append(before + _rescales(op, program.plains))
    return depths


def _work(op: SlotOp, rescales: int) -> Counter[tuple[str, int]]:
    """Return what an operation takes: how often a kind of `prices`, on how many limbs more than are left after it."""
    found = Counter({("rescale", rescales): rescales})
    if op.transform is not None:
        found["rotation", rescales] += len(op.transform.rotations)
        found["plain_product", rescales] += max(len(op.plains), 1)
    elif op.kind in CIPHER_PRODUCTS:
        found["product", rescales] += 1
    elif op.kind in SWITCHES:
        found["rotation", rescales] += 1
    elif op.kind in _SCALED:
        found["plain_product", rescales] += 1
    else:
        found["addition", rescales] += 1
    return found


def _cheapest(program: SlotProgram, depths: Sequence[int], levels: Levels) -> list[int]:
    """Return the depths of the cuts on the cheapest way."""
    deepest = max(depths)
    work: list[Counter[tuple[str, int]]] = [Counter() for _ in range(deepest + 1)]
    for op, depth in zip(program.ops, depths, strict=True):
        work[depth].update(_work(op, _rescales(op, program.plains)))

    @cache
    def price(depth: int, limbs: int) -> float:
        """Return the price of the operations of a depth, which leave that many limbs."""
        return sum(often * levels.prices.of(kind, limbs + more) for (kind, more), often in work[depth].items())

    crossing = _crossing(program, depths)
    best: list[tuple[float, int]] = [(0.0, -1)]
    for end in range(1, deepest + 1):
        room = levels.fresh if end == deepest else levels.between
        ways = []
        for start in range(max(0, end - room), end):
            own = sum(price(depth, levels.fresh + 1 - (depth - start)) for depth in range(start + 1, end + 1))
            cut = crossing[start] * levels.price() if start else 0.0
            ways.append((best[start][0] + cut + own, start))
        best.append(min(ways))
    cuts, at = [], deepest
    while at > 0 and (at := best[at][1]) > 0:
        cuts.append(at)
    return cuts[::-1]


def _crossing(program: SlotProgram, depths: Sequence[int]) -> list[int]:
    """Return, for a cut after each depth, the values that need a refresh there."""
    last = list(depths)
    for op, depth in zip(program.ops, depths, strict=True):
        for arg in op.args:
            last[arg] = max(last[arg], depth)
    count = [0] * (max(depths) + 1)
    for own, until in zip(depths, last, strict=True):
        for depth in range(max(own, 1), until):
            count[depth] += 1
    return count


class _Placing:
    """Goes along a program and refreshes what crosses a cut without levels to spare."""

    def __init__(self, program: SlotProgram, depths: Sequence[int], cuts: Sequence[int]) -> None:
        self._program, self._depths, self._cuts = program, depths, cuts
        self._ops: list[SlotOp] = []
        self._numbers: list[int] = []
        #: Rescales since the last refresh, of the operations there are now.
        self._since: list[int] = []
        self._refreshed: dict[int, int] = {}

    def run(self) -> SlotProgram:
        for number, op in enumerate(self._program.ops):
            own = _rescales(op, self._program.plains)
            room = self._depths[number] - self._start(number) - own
            args = tuple(self._operand(arg, number, room) for arg in op.args)
            since = max((self._since[arg] for arg in args), default=0) + own
            self._numbers.append(self._append(replace(op, args=args), since))
        outputs = tuple(self._numbers[number] for number in self._program.outputs)
        return replace(self._program, ops=tuple(self._ops), outputs=outputs)

    def _start(self, number: int) -> int:
        """Return the cut before an operation."""
        return max((cut for cut in self._cuts if cut < self._depths[number]), default=0)

    def _operand(self, arg: int, user: int, room: int) -> int:
        own = self._numbers[arg]
        if self._start(arg) == self._start(user) or self._since[own] <= room:
            return own
        if arg not in self._refreshed:
            where = self._program.ops[arg].where
            self._refreshed[arg] = self._append(SlotOp(Kind.BOOTSTRAP, (own,), where), 0)
        return self._refreshed[arg]

    def _append(self, op: SlotOp, since: int) -> int:
        self._ops.append(op)
        self._since.append(since)
        return len(self._ops) - 1
