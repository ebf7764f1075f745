# SPDX-License-Identifier: Apache-2.0
"""The diagonals of a linear map between two layouts: which there are, and the plaintext of each.

Which there are is found for every layout that is looked at, in a few passes over the entries; a plaintext is made each
time it is asked for, since those of a large convolution would take more memory than its entries.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.image_layouts import ImageLayout, layouts
from ringsmith.compiler.lowering.layout import Packed
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Node
from ringsmith.ir.slot_program import PlainOperand

Numbers = NDArray[np.int32]
#: A table of places is made up to this length; a longer one is searched.
_TABLE = 1 << 24
#: A layout is not offered when by itself it costs this multiple of the cheapest; most layouts that are offered.
_HOPELESS, _MOST_LAYOUTS = 3.0, 4


@dataclass(frozen=True, eq=False)
class Block:
    """What leads from one ciphertext to another: the numbers of its diagonals, the giant and the baby step of each."""

    source: int
    target: int
    numbers: Index
    giants: Index
    babies: Index

    @property
    def cost(self) -> float:
        """The price of the transform."""
        giants, babies = (int(np.count_nonzero(np.unique(own))) for own in (self.giants, self.babies))
        return cost.transform(babies, giants, len(self.numbers))


@dataclass(frozen=True, eq=False)
class Way:
    """A layout of the result, and the transforms that make it; partial sums stand `layout.period` slots apart."""

    layout: ImageLayout
    blocks: list[Block]
    entries: _Entries

    @property
    def width(self) -> int:
        """With what period plaintexts repeat."""
        return max(self.entries.period, self.layout.period)

    @cached_property
    def cost(self) -> float:
        """The price, that of the sums and of ciphertexts beyond the first included."""
        sums = cost.summed(self.width // self.layout.period) * self.layout.cts
        return sum(block.cost for block in self.blocks) + sums + cost.CIPHERTEXT * (self.layout.cts - 1)

    @cached_property
    def plains(self) -> _Plains:
        """The plaintexts of all diagonals."""
        return _Plains(self)


class LinearMaps:
    """What was found of a graph's linear maps for ciphertexts of some slots: it serves all lowerings."""

    def __init__(self, slots: Slots) -> None:
        """Start with nothing found."""
        self.slots = slots
        self._layouts: dict[tuple[object, ...], list[ImageLayout]] = {}
        self._ways: dict[tuple[int, bytes], list[Way]] = {}
        self._operands: dict[Way, list[PlainOperand]] = {}

    def ways(self, x: Packed, node: Node) -> list[Way]:
        """Return the cheapest ways to apply a map, which has entries, to a tensor in its layout, cheapest first."""
        places = np.stack([x.ct.reshape(-1), x.slot.reshape(-1)])
        operand = blake2b(places.tobytes() + repr((x.shape, x.period)).encode()).digest()
        key = id(node), operand
        if key not in self._ways:
            stride = node.attributes["stride"]
            image = operand, node.shape, stride
            if image not in self._layouts:
                self._layouts[image] = list(layouts(x, node.shape, stride, self.slots))
            found = [_Entries(x, layout, node).way() for layout in self._layouts[image]]
            found.sort(key=lambda way: way.cost)
            self._ways[key] = [way for way in found if way.cost <= _HOPELESS * found[0].cost][:_MOST_LAYOUTS]
        return self._ways[key]

    def terms(self, way: Way, block: Block) -> list[tuple[int, int, PlainOperand]]:
        """Return giant step, baby step and plaintext of each diagonal of a block, by rising steps."""
        if way not in self._operands:
            self._operands[way] = way.plains.operands(self.slots)
        operands = self._operands[way]
        order = np.lexsort((block.babies, block.giants))
        steps = zip(block.giants[order].tolist(), block.babies[order].tolist(), strict=True)
        return [(*step, operands[number]) for step, number in zip(steps, block.numbers[order].tolist(), strict=True)]


class _Entries:
    """A map's entries between the layouts of its operand and of its result."""

    def __init__(self, x: Packed, layout: ImageLayout, node: Node) -> None:
        self.node, self.layout = node, layout
        self.period = x.period.width
        self.base = min(self.period, layout.period)
        self._given = (x.slot.reshape(-1) % self.period).astype(np.int32)
        # Places of pairs of ciphertexts: a diagonal's place is that of its pair and its distance.
        self._source = x.ct.reshape(-1) * layout.cts * self.base
        self._target = layout.ct * self.base
        self._pairs = len(x.cts) * layout.cts

    @property
    def given(self) -> Numbers:
        """The slot of each entry's factor."""
        return np.asarray(self._given[self.node.attributes["columns"]])

    @property
    def made(self) -> Numbers:
        """The slot of each entry's result."""
        return np.asarray(self.layout.slot.astype(np.int32)[self.node.attributes["rows"]])

    @property
    def places(self) -> NDArray[np.integer]:
        """The place of each entry's diagonal."""
        distance = self.given
        distance -= self.made
        distance &= self.base - 1
        if self._pairs == 1:
            return distance
        entries = self.node.attributes
        return np.asarray(self._source[entries["columns"]] + self._target[entries["rows"]] + distance)

    def way(self) -> Way:
        """Return the transforms that make the result."""
        held = self.held
        pair = held // self.base
        _, starts = np.unique(pair, return_index=True)
        blocks = []
        for numbers in np.split(np.arange(len(held)), starts[1:]):
            source, target = divmod(int(pair[numbers[0]]), self.layout.cts)
            blocks.append(Block(source, target, numbers, *_steps(held[numbers] % self.base, self.base)))
        return Way(self.layout, blocks, self)

    @cached_property
    def held(self) -> Index:
        """The places of the diagonals that have entries, rising: diagonals are numbered by them."""
        places = self.places
        if self._pairs * self.base > _TABLE:
            return np.unique(places).astype(np.intp)
        seen = np.zeros(self._pairs * self.base, dtype=bool)
        seen[places] = True
        return np.flatnonzero(seen)

    @property
    def numbers(self) -> Index:
        """The number of each entry's diagonal."""
        places = self.places
        if self._pairs * self.base > _TABLE:
            return np.searchsorted(self.held, places)
        table = np.zeros(self._pairs * self.base, dtype=np.uint16 if len(self.held) < 1 << 16 else np.int32)
        table[self.held] = np.arange(len(self.held))
        return np.asarray(table[places])


def _steps(distances: Index, base: int) -> tuple[Index, Index]:
    """Return each distance modulo `base` as a giant and a baby step, the cheapest by powers of two."""
    gaps = np.diff(np.r_[distances, distances[0] + base])
    after = int(distances[(int(np.argmax(gaps)) + 1) % len(distances)])
    ways: list[tuple[float, int, Index, Index]] = []
    for start in dict.fromkeys((0, after)):
        number = (distances - start) % base
        # From the end of the largest gap, distances just below zero stay negative.
        begin = start - base if start > base // 2 else start
        for bits in range(base.bit_length()):
            giant = number >> bits << bits
            baby = number - giant + begin
            babies, giants = (int(np.count_nonzero(np.unique(own))) for own in (baby, giant))
            ways.append((cost.transform(babies, giants, 0), len(ways), giant, baby))
    _, _, giant, baby = min(ways, key=lambda way: way[:2])
    return giant, baby


class _Plains:
    """The plaintexts of a way's diagonals: where each entry stands in them."""

    def __init__(self, way: Way) -> None:
        self.way = way

    def gather(self, number: int, slots: Slots) -> Index:
        """Return the weight in each slot of a diagonal, -1 where there is none."""
        starts, places, picks = self._sorted
        own = slice(starts[number], starts[number + 1])
        gather = np.full(slots.count, -1, dtype=np.intp)
        gather[places[own]] = picks[own]
        return slots.repeat(gather, Slots(1, self.way.width))

    def operands(self, slots: Slots) -> list[PlainOperand]:
        """Return the plaintext of each diagonal, equal ones once."""
        entries, numbers = self.way.entries, self.way.entries.numbers
        picks = entries.node.attributes["picks"]
        # Diagonals of which these sums differ are different: few are left to compare.
        counts = np.bincount(numbers)
        sums = np.bincount(numbers, weights=self._places(numbers) * (picks + 1.0))
        alike: dict[tuple[int, float], list[PlainOperand]] = defaultdict(list)
        found = []
        for number, like in enumerate(zip(counts.tolist(), sums.tolist(), strict=True)):
            own = PlainOperand(entries.node.args[1], Diagonal(self, number, slots))
            equal = (one for one in alike[like] if np.array_equal(one.gather, own.gather))
            known = next(equal, None)
            if known is None:
                alike[like].append(own)
            found.append(known or own)
        return found

    def _places(self, numbers: Index) -> Numbers:
        """Return the slot of each entry, where the giant step leads its products from."""
        way = self.way
        giants, babies = (np.zeros(len(way.entries.held), dtype=np.int32) for _ in range(2))
        for block in way.blocks:
            giants[block.numbers], babies[block.numbers] = block.giants, block.babies
        # A step more or less of the operand's period leads to another partial sum, or to the same slot.
        if way.layout.period <= way.entries.period:
            places = way.entries.given - babies[numbers]
        else:
            places = way.entries.made + giants[numbers]
        return np.asarray(places & (way.width - 1), dtype=np.int32)

    @cached_property
    def _sorted(self) -> tuple[Index, Numbers, Numbers]:
        """The entries by diagonal: where each one's begin, their slots and their weights."""
        numbers = self.way.entries.numbers
        order = np.argsort(numbers, kind="stable")
        starts = np.r_[0, np.cumsum(np.bincount(numbers))]
        return starts, self._places(numbers)[order], self.way.entries.node.attributes["picks"][order]


@dataclass(frozen=True, eq=False)
class Diagonal:
    """The weight in each slot of a diagonal, made when it is called."""

    plains: _Plains
    number: int
    slots: Slots

    def __call__(self) -> Index:
        """Return it."""
        return self.plains.gather(self.number, self.slots)
