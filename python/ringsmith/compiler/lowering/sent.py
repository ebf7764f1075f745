# SPDX-License-Identifier: Apache-2.0
"""Ciphertexts that the client sends: an argument may come in several layouts, equal ciphertexts once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringsmith.compiler.lowering.layout import Packed
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location


@dataclass(frozen=True, eq=False)
class View:
    """A view of an argument whose layout the compiler is free to choose: element e is the argument's `picked[e]`, or
    zero where that is -1."""

    name: str
    picked: Index

    def gather(self, picked: Index) -> View:
        """Return the view whose element e is this one's element `picked[e]` (row-major)."""
        return View(self.name, self.picked.reshape(-1)[picked])


class Sent:
    """The client's ciphertexts, by argument: operation number and the element in each slot (-1: zero)."""

    def __init__(self, builder: Builder) -> None:
        """Start without any."""
        self.builder = builder
        self.rows: dict[str, dict[int, Index]] = {}
        self._known: dict[tuple[str, bytes], int] = {}

    def place(self, name: str, gather: Index, where: Location) -> tuple[int, ...]:
        """Return the ciphertexts in which an argument stands like this (ciphertexts x slots)."""
        return tuple(self._number(name, row, where) for row in gather)

    def apart(self, name: str, gather: Index, where: Location) -> tuple[int, ...]:
        """Return the ciphertexts of an argument that is the result of another program, each by itself."""
        numbers = tuple(self.builder.fresh(where) for _ in gather)
        self.rows[name] = dict(zip(numbers, gather, strict=True))
        return numbers

    def _number(self, name: str, row: Index, where: Location) -> int:
        key = (name, row.tobytes())
        if key not in self._known:
            self._known[key] = self.builder.fresh(where)
            self.rows.setdefault(name, {})[self._known[key]] = row
        return self._known[key]

    def like(self, view: View, target: Packed, slots: Slots, where: Location) -> Packed:
        """Return a view of an argument, its elements in the places of a tensor of the same shape (no two in one)."""
        gather = np.full(target.zeros.shape, -1, dtype=np.intp)
        gather[target.ct[target.held], target.slot[target.held]] = view.picked[target.held]
        return self.laid(view, target.ct, target.slot, target.period, slots.repeat(gather, target.period), where)

    def laid(self, view: View, ct: Index, slot: Index, period: Slots, gather: Index, where: Location) -> Packed:
        """Return an argument laid out by a map, with the element in each slot."""
        return Packed(self.place(view.name, gather, where), ct, slot, period, gather < 0)
