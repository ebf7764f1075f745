# SPDX-License-Identifier: Apache-2.0
"""Programs whose evaluation keys stay within a limit of bytes: ways to compile a kernel, from the fastest to the one
that takes fewest keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from ringsmith.compiler.lowering.few_keys import in_chains, with_few_keys
from ringsmith.compiler.lowering.lower import LayoutSearch
from ringsmith.compiler.params import choose
from ringsmith.compiler.params.keys import Keys
from ringsmith.errors import KernelError, ParameterError
from ringsmith.ir.circuit import RELINEARIZATIONS
from ringsmith.ir.geometry import Slots
from ringsmith.ir.slot_program import SlotProgram

#: Rotations and lines of a program that an error names.
_NAMED = 3
#: How often as many rotation keys as a limit has room for are tried: fewer keys may take a larger ring.
_TRIALS = 3
_POWERS, _LAYOUTS = "rotations made of powers of two", "layouts of fewer keys"
_CHAINS, _REFRESHES = "rotations one after the other", "fewer keys of refreshes"

Lower = Callable[[Slots], SlotProgram]
#: Chooses a set for a kernel lowered in some way, of a degree at least.
Settle = Callable[[Lower, int], tuple[choose.Choice, choose.Requirements]]
#: Chooses keys of refreshes within a number of bytes, or the least there are; None where there is no choice.
Narrow = Callable[[choose.Choice, int], tuple[choose.Choice, choose.Requirements] | None]


@dataclass(frozen=True)
class Way:
    """A kernel compiled in one way: `how` in words, and the layouts searched."""

    how: str
    choice: choose.Choice
    requirements: choose.Requirements
    search: LayoutSearch

    @property
    def keys(self) -> Keys:
        """The evaluation keys."""
        return Keys.of(self.choice.circuit)

    @property
    def nbytes(self) -> int:
        """Bytes of the evaluation keys."""
        return self.keys.nbytes(self.choice.params)


def within(limit: int | None, search: LayoutSearch, settle: Settle, narrow: Narrow) -> Way:
    """Return the first way whose keys stay within a limit; ParameterError with the bytes of the least of all ways.

    The ways that need fewest keys do not depend on the limit, so a limit of those bytes is enough.
    """
    tried: list[Way] = []
    for way in _ways(limit, search, settle):
        for own in _narrowed(way, limit, narrow):
            if limit is None or own.nbytes <= limit:
                return own
            tried.append(own)
    raise ParameterError(_refused(tried[0], min(tried, key=lambda way: way.nbytes), limit or 0))


def _narrowed(way: Way, limit: int | None, narrow: Narrow) -> Iterator[Way]:
    """Yield a way, and with fewer keys of its refreshes where it has some."""
    yield way
    params = way.choice.params
    if limit is None or not way.keys.refreshes:
        return
    room = limit - (way.nbytes - way.keys.refresh_bytes(params))
    # Other keys make other noise, for which there may be no room.
    with suppress(KernelError, ParameterError):
        if settled := narrow(way.choice, room):
            yield Way(f"{way.how} and {_REFRESHES}" if way.how else _REFRESHES, *settled, way.search)


def _ways(limit: int | None, search: LayoutSearch, settle: Settle) -> Iterator[Way]:
    first = Way("", *settle(search, 0), search)
    yield first
    if limit is None:
        return
    # More rotations may make more noise than any set holds.
    with suppress(KernelError, ParameterError):
        yield _next(_CHAINS, first, settle(lambda slots: in_chains(search(slots)), first.choice.params.n))
    yield from _as_many_as_fit(limit, first, settle)
    thrifty = search.thrifty()
    for how, lower, own in (
        (_POWERS, _fewer(search, 0), search),
        (_LAYOUTS, thrifty, thrifty),
        (f"{_LAYOUTS} and {_POWERS}", _fewer(thrifty, 0), thrifty),
    ):
        # More rotations may make more noise than any set holds.
        with suppress(KernelError, ParameterError):
            yield Way(how, *settle(lower, 0), own)


def _as_many_as_fit(limit: int, first: Way, settle: Settle) -> Iterator[Way]:
    """Yield ways in which as many rotations keep keys of their own as there is room for."""
    way = first
    for _ in range(_TRIALS):
        params, keys = way.choice.params, way.keys
        room = limit - keys.relinearization_bytes(params) - keys.refresh_bytes(params)
        most = max(room // max(keys.galois_bytes(params), 1), 0)
        if most >= keys.automorphisms:
            return
        try:
            way = _next(_POWERS, way, settle(_fewer(way.search, most), params.n))
        except (KernelError, ParameterError):
            return
        yield way


def _next(how: str, way: Way, settled: tuple[choose.Choice, choose.Requirements]) -> Way:
    """Return another way of more noise than `way`, whose degrees that did not do were not tried again."""
    choice, requirements = settled
    return Way(how, replace(choice, rejected=(*way.choice.rejected, *choice.rejected)), requirements, way.search)


def _fewer(lower: Lower, most: int) -> Lower:
    """Return what lowers to programs of at most that many rotations, if powers of two allow it."""
    return lambda slots: with_few_keys(lower(slots), most)


def _refused(first: Way, least: Way, limit: int) -> str:
    """Say what the keys take, in the fastest way and in the one of fewest bytes, and which lines need them."""
    tried = f"; with {least.how} {_megabytes(least.nbytes)}" if least is not first else ""
    return (
        f"the evaluation keys take {_megabytes(first.nbytes)} at n = {first.choice.params.n}{tried}, more than "
        f"keys_limit={limit} bytes: {'; '.join(_by_line(least))}; allow keys_limit={least.nbytes} or more, or make the "
        "kernel smaller"
    )


def _by_line(way: Way) -> list[str]:
    """Return what the lines that need most keys need them for."""
    params, keys, steps = way.choice.params, way.keys, way.choice.circuit.steps
    lines: dict[int, set[int]] = defaultdict(set)
    for step in steps:
        lines[step.where.line].update(step.rotations)
    worst = sorted((line for line in lines if lines[line]), key=lambda line: -len(lines[line]))[:_NAMED]
    each = _megabytes(keys.galois_bytes(params))
    told = [f"line {line} needs {_some(lines[line])}, {each} each" for line in worst]
    if (products := [step for step in steps if step.kind in RELINEARIZATIONS]) and not told:
        deepest = max(products, key=lambda step: steps[step.args[0]].level)
        own = _megabytes(keys.relinearization_bytes(params))
        told.append(f"line {deepest.where.line} multiplies ciphertexts, whose relinearisation key takes {own}")
    return told


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.3g} MB"


def _some(rotations: set[int]) -> str:
    shown = ", ".join(map(str, sorted(rotations)[:_NAMED]))
    count = f"{len(rotations)} rotation{'s' if len(rotations) > 1 else ''}"
    return f"{count} ({shown}{', ...' if len(rotations) > _NAMED else ''})"
