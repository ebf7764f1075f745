# SPDX-License-Identifier: Apache-2.0
"""Layouts of a whole kernel: decisions are changed one at a time, and each change is priced on the whole program.

The first state takes each decision's own estimate. Decisions depend on each other (the layout of a product is that of
the next one's operand), so they are visited until no change of one makes the program cheaper.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.choices import Choices, Decision, Taken
from ringsmith.compiler.lowering.price import key_switches, price
from ringsmith.ir.slot_program import SlotProgram, TooLongError
from ringsmith.progress import tell

#: Most operations of all programs that are lowered after the first.
_MOST_OPERATIONS = 40_000
#: An alternative is given up at this multiple of the operations of the best one found.
_LONGER = 4
#: A first program with more operations than this is given up for others.
_LONG = 4_000


class Lower(Protocol):
    """Lowers one kernel by choices."""

    def __call__(self, choices: Choices, limit: int | None) -> SlotProgram:
        """Return the program, or raise `TooLongError`."""


@dataclass(frozen=True)
class Layout:
    """A layout of a whole kernel: the option taken at each decision, its price in rotations and its key switches."""

    taken: Taken
    price: float
    key_switches: int


@dataclass(frozen=True)
class Found:
    """The program of the cheapest layout found, and all layouts looked at, cheapest first."""

    program: SlotProgram
    layouts: tuple[Layout, ...]


def cheapest(lower: Lower, key: float = cost.KEY) -> Found:
    """Search the layouts of a kernel at one ring degree; `key`: the price of a rotation key."""
    choices, best = _first(lower)
    least, spent = price(best, key), len(best.ops)
    layouts = [Layout(choices.picked(), least, key_switches(best))]
    start, before = time.monotonic(), spent
    seen: set[frozenset[tuple[Decision, str]]] = set()
    while spent < _MOST_OPERATIONS and (trial := _next(choices, seen)) is not None:
        limit = _LONGER * len(best.ops) + 100
        tried = Choices(trial)
        try:
            program = lower(tried, limit)
        except TooLongError:
            spent += limit
            continue
        spent += len(program.ops)
        rest = _rest(choices, seen, len(program.ops), _MOST_OPERATIONS - spent)
        left = (time.monotonic() - start) / (spent - before) * rest
        tell(f"layouts for {program.slots.count} slots: {len(layouts) + 1} tried, about {left:.0f} s for the others")
        own = price(program, key)
        layouts.append(Layout(tried.picked(), own, key_switches(program)))
        if own < least:
            best, least, choices = program, own, tried
    return Found(best, tuple(sorted(layouts, key=lambda layout: layout.price)))


def _first(lower: Lower) -> tuple[Choices, SlotProgram]:
    """Return each decision's own estimate, or a change of one of them if that gives too long a program."""
    first = Choices({})
    try:
        return first, lower(first, _LONG)
    except TooLongError:
        pass
    seen: set[frozenset[tuple[Decision, str]]] = set()
    while (trial := _next(first, seen)) is not None:
        tried = Choices(trial)
        try:
            return tried, lower(tried, _LONG)
        except TooLongError:
            continue
    return first, lower(first, None)


def _rest(choices: Choices, seen: set[frozenset[tuple[Decision, str]]], each: int, most: int) -> int:
    """Return the operations still to lower, if no change makes the program cheaper and all programs are alike."""
    return max(0, min(most, each * sum(1 for _ in _changes(choices, seen))))


def _next(choices: Choices, seen: set[frozenset[tuple[Decision, str]]]) -> Taken | None:
    """Return choices that differ in one decision and were not tried yet; None if all were."""
    for key, trial in _changes(choices, seen):
        seen.add(key)
        return trial
    return None


def _changes(
    choices: Choices, seen: set[frozenset[tuple[Decision, str]]]
) -> Iterator[tuple[frozenset[tuple[Decision, str]], dict[Decision, str]]]:
    """Yield choices that differ in one decision and were not tried yet.

    Decisions that go by their own estimate do so again, in the layouts that the changed one leads to.
    """
    picked = choices.picked()
    asked = {decision: option for decision, option in picked.items() if option != choices.offered[decision][0]}
    seen.add(frozenset(asked.items()))
    for decision, options in choices.offered.items():
        for option in options:
            trial = {other: taken for other, taken in asked.items() if other != decision}
            if option != options[0]:
                trial[decision] = option
            if (key := frozenset(trial.items())) not in seen:
                yield key, trial
