# SPDX-License-Identifier: Apache-2.0
"""Programs on packed vectors: operations on ciphertexts of a fixed number of slots, before levels and scales.

Every operation acts on all slots at once. Equal operations on equal operands are made once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Node, Op, frozen
from ringsmith.ir.handed import Handed
from ringsmith.ir.kinds import FACTS, Kind
from ringsmith.ir.numbers import magnitude
from ringsmith.location import Location

#: Products of two ciphertexts: three polynomials, and one multiplicative depth more.
CIPHER_PRODUCTS = tuple(kind for kind, facts in FACTS.items() if facts.parts == 3)


@dataclass(frozen=True, eq=False)
class PlainOperand:
    """A plaintext made when the program runs: slot s holds element `gather[s]` of a plain node, or 0 where it is -1.

    `given`: the gather, or what makes it each time it is asked for.
    """

    node: Node
    given: Index | Callable[[], Index]

    @property
    def gather(self) -> Index:
        """Of each slot the element of the node, -1 for none."""
        return self.given() if callable(self.given) else self.given

    @cached_property
    def bound(self) -> Any:
        """Return the largest magnitude a slot can hold: an int if the node is exact, else a float."""
        gather = self.gather
        used = gather[gather >= 0]
        return max(magnitude(end.reshape(-1)[used]) for end in (self.node.low, self.node.high))

    @cached_property
    def constant(self) -> bool:
        """Return whether the values are known before the program runs: no argument has part in them."""
        seen: set[int] = set()
        pending = [self.node]
        while pending:
            node = pending.pop()
            if node.op is Op.INPUT:
                return False
            pending.extend(arg for arg in node.args if id(arg) not in seen)
            seen.update(map(id, node.args))
        return True

    @cached_property
    def integer(self) -> int | None:
        """Return the integer that every slot holds, or None: such a plaintext needs no scale."""
        gather = self.gather
        if self.node.op is not Op.CONSTANT or (gather < 0).any():
            return None
        values = self.node.low.reshape(-1)[gather]
        first = values[0]
        whole = int(first) == first and (values == first).all() and abs(first) < 2**31
        return int(first) if whole else None

    @cached_property
    def uniform(self) -> bool:
        """Return whether every slot holds the same number: its encoding rounds one coefficient."""
        gather = self.gather
        if (gather < 0).any():
            return False
        held = self.node.low.reshape(-1)[gather] if self.node.op is Op.CONSTANT else gather
        return bool((held == held[0]).all())


#: Summands of a transform: `terms[giant rotation][baby rotation]` is a plaintext or -1.
Terms = Mapping[int, Mapping[int, int]]


@dataclass(frozen=True)
class Term:
    """A rotation of a transform's operand, times a plaintext (-1: none)."""

    rotation: int
    plain: int = -1


@dataclass(frozen=True)
class Giant:
    """A sum of terms that is rotated as a whole."""

    rotation: int
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Transform:
    """A linear transform of one ciphertext: giants by rising rotation, each with its terms by rising rotation."""

    giants: tuple[Giant, ...]

    @classmethod
    def of(cls, terms: Terms, slots: Slots) -> Transform:
        """Return the transform of terms, rotations in any form."""

        def inner(terms: Mapping[int, int]) -> tuple[Term, ...]:
            return tuple(sorted((Term(rotation(by, slots), plain) for by, plain in terms.items()), key=_rotation))

        giants = [Giant(rotation(giant, slots), inner(own)) for giant, own in terms.items()]
        return cls(tuple(sorted(giants, key=_rotation)))

    @property
    def terms(self) -> list[Term]:
        """The terms of all giants."""
        return [term for giant in self.giants for term in giant.terms]

    @property
    def plains(self) -> list[int]:
        """The plaintexts of the terms in order; empty if they have none."""
        return [term.plain for term in self.terms if term.plain >= 0]

    @property
    def rotations(self) -> list[int]:
        """The rotations that take a key: distinct babies, then giants."""
        babies = sorted({term.rotation for term in self.terms} - {0})
        return babies + [giant.rotation for giant in self.giants if giant.rotation]

    def renumbered(self, numbers: Mapping[int, int]) -> Transform:
        """Return it with other numbers of plaintexts."""
        return Transform(
            tuple(Giant(g.rotation, tuple(Term(t.rotation, numbers[t.plain]) for t in g.terms)) for g in self.giants)
        )


def _rotation(part: Term | Giant) -> int:
    return part.rotation


# Not frozen, as a circuit's steps are not: layouts are searched by making many programs.
@dataclass(slots=True, unsafe_hash=True)
class SlotOp:
    """One operation: operands as indices into the program, a plaintext's index or -1, rotation steps (left).

    `transform` is that of a linear transform. `bound` belongs to `within`: the author's promise about the values that
    later operations use, or, if `everywhere`, about all slots; `error`, about their errors.
    """

    kind: Kind
    args: tuple[int, ...]
    where: Location = field(compare=False)
    plain: int = -1
    steps: int = 0
    bound: float = math.inf
    everywhere: bool = False
    error: float = math.inf
    transform: Transform | None = None

    @property
    def plains(self) -> list[int]:
        """The plaintexts it uses."""
        own = [self.plain] if self.plain >= 0 else []
        return own + (self.transform.plains if self.transform else [])


@dataclass(frozen=True, eq=False)
class InputPacking:
    """How an encrypted argument is laid out: slot s of ciphertext c holds element `gather[c, s]`, 0 where -1.

    `pack`, when given, is a user's own function (array, slots) -> rows that does more than place elements: it replaces
    `gather`, and `trace` holds its answers to probes. `handed`: it is the result of another program, and -1 may be
    anything.
    """

    name: str
    gather: Index
    pack: Any = None
    trace: NDArray[Any] | None = None
    handed: Handed | None = None


@dataclass(frozen=True, eq=False)
class SlotProgram:
    """Operations in order, the plaintexts they use, and where the result's elements stand in the output ciphertexts."""

    slots: Slots
    inputs: Mapping[str, InputPacking]
    bounds: Mapping[str, float]
    ops: tuple[SlotOp, ...]
    plains: tuple[PlainOperand, ...]
    outputs: tuple[int, ...]
    output_ct: Index
    output_slot: Index
    output_period: Slots
    output_zeros: NDArray[np.bool_]

    def compact(self) -> SlotProgram:
        """Return the program without plaintexts that no operation uses."""
        used = sorted({plain for op in self.ops for plain in op.plains})
        numbers = {old: new for new, old in enumerate(used)} | {-1: -1}
        ops = tuple(
            replace(op, plain=numbers[op.plain], transform=op.transform and op.transform.renumbered(numbers))
            for op in self.ops
        )
        return replace(self, ops=ops, plains=tuple(self.plains[old] for old in used))

    def __getstate__(self) -> dict[str, Any]:
        """Return a picklable state."""
        return {**self.__dict__, "inputs": dict(self.inputs), "bounds": dict(self.bounds)}


def rotation(steps: int, slots: Slots) -> int:
    """Return the shortest rotation to the left that does what one by `steps` does."""
    steps %= slots.width
    return steps - slots.width if steps > slots.width // 2 else steps


class Plains:
    """The plaintexts of a program, equal ones shared."""

    def __init__(self) -> None:
        """Start without any."""
        self.items: list[PlainOperand] = []
        self._known: dict[tuple[int, bytes], int] = {}

    def number(self, node: Node, gather: Index) -> int:
        """Return the number of a plaintext, added if it is new."""
        key = (id(node), gather.tobytes())
        if key not in self._known:
            self._known[key] = len(self.items)
            self.items.append(PlainOperand(node, gather))
        return self._known[key]

    def shared(self, operand: PlainOperand) -> int:
        """Return the number of a plaintext of which each has one operand, added if it is new."""
        key = (id(operand), b"")
        if key not in self._known:
            self._known[key] = len(self.items)
            self.items.append(operand)
        return self._known[key]


#: Where a result stands: of each element output and slot, then the outputs' period and slots that are zero.
Packing = tuple[Index, Index, Slots, NDArray[np.bool_]]


class TooLongError(Exception):
    """A program has more operations than its builder may take."""


class Builder:
    """Collects the operations of a slot program; equal ones are shared, dead ones dropped at the end."""

    def __init__(self, slots: Slots, limit: int | None = None) -> None:
        """Start an empty program of at most `limit` operations."""
        self.slots = slots
        self.limit = limit
        self.ops: list[SlotOp] = []
        self.plains = Plains()
        self._known: dict[SlotOp, int] = {}

    def fresh(self, where: Location) -> int:
        """Add a ciphertext that the client sends."""
        return self._appended(SlotOp(Kind.INPUT, (), where))

    def within(
        self, arg: int, bound: float, everywhere: bool, where: Location, *, error: float = math.inf
    ) -> int:  # fmt: skip
        """Add a promise about the values of a ciphertext, and perhaps about their errors."""
        op = SlotOp(Kind.WITHIN, (arg,), where, bound=bound, everywhere=everywhere, error=error)
        return self._appended(op)

    def bootstrap(self, arg: int, where: Location) -> int:
        """Add a refresh of a ciphertext, or find the equal one."""
        return self._shared(SlotOp(Kind.BOOTSTRAP, (arg,), where))

    def add(self, kind: Kind, args: tuple[int, ...], where: Location, plain: int = -1, steps: int = 0) -> int:
        """Add an operation, or find the equal one."""
        if kind is Kind.ROTATE:
            steps = rotation(steps, self.slots)
            if steps == 0:
                return args[0]
        if kind is Kind.SWAP_ROWS and self.ops[args[0]].kind is Kind.SWAP_ROWS:
            return self.ops[args[0]].args[0]
        if kind is Kind.MULTIPLY and args[0] == args[1]:
            kind, args = Kind.SQUARE, args[:1]
        if kind in (Kind.ADD, Kind.MULTIPLY):
            args = (min(args), max(args))
        return self._shared(SlotOp(kind, args, where, plain, steps))

    def transform(self, arg: int, terms: Terms, where: Location) -> int:
        """Add a linear transform, or find the equal one; what rotates nothing is a product with a plaintext."""
        transform = Transform.of(terms, self.slots)
        if not transform.rotations and transform.plains:
            return self.add(Kind.MULTIPLY_PLAIN, (arg,), where, transform.plains[0])
        return self._shared(SlotOp(Kind.LINEAR_TRANSFORM, (arg,), where, transform=transform))

    def _shared(self, op: SlotOp) -> int:
        if op not in self._known:
            self._known[op] = self._appended(op)
        return self._known[op]

    def _appended(self, op: SlotOp) -> int:
        self.room_for(1)
        self.ops.append(op)
        return len(self.ops) - 1

    def room_for(self, count: int) -> None:
        """Raise `TooLongError` if there is no room for `count` further operations."""
        if self.limit is not None and len(self.ops) + count > self.limit:
            raise TooLongError

    def turn(self, arg: int, distance: int, where: Location) -> int:
        """Move slots by a distance: slot 0 receives slot `distance`. Rows first, so that rotations share their work."""
        if distance // self.slots.width % self.slots.rows:
            arg = self.add(Kind.SWAP_ROWS, (arg,), where)
        return self.add(Kind.ROTATE, (arg,), where, steps=distance)

    def finish(
        self,
        sent: Mapping[str, Mapping[int, Index]],
        bounds: Mapping[str, float],
        outputs: tuple[int, ...],
        result: Packing,
        handed: Mapping[str, Handed] | None = None,
    ) -> SlotProgram:
        """Drop what no output needs and number the rest anew, the client's ciphertexts first, argument by argument.

        `sent` holds the elements in the slots of each ciphertext of an argument. Of an argument that nothing needs, the
        first one stays. `result`: of each element output and slot, the outputs' period and where they are zero.
        `handed`: the arguments that are results of other programs.
        """
        alive = set(outputs)
        for number in range(len(self.ops) - 1, -1, -1):
            if number in alive:
                alive.update(self.ops[number].args)
        kept = {
            name: [number for number in rows if number in alive] or [next(iter(rows))] for name, rows in sent.items()
        }
        first = [number for numbers in kept.values() for number in numbers]
        order = first + sorted(number for number in alive if self.ops[number].kind is not Kind.INPUT)
        renumber = {old: new for new, old in enumerate(order)}
        ops = tuple(replace(op, args=tuple(renumber[a] for a in op.args)) for op in (self.ops[old] for old in order))
        results = tuple(renumber[o] for o in outputs)
        inputs = {name: InputPacking(name, np.stack([sent[name][own] for own in kept[name]])) for name in sent}
        for name, own in (handed or {}).items():
            places = list(sent[name])
            inputs[name] = replace(inputs[name], handed=own.only([places.index(number) for number in kept[name]]))
        return SlotProgram(
            self.slots, frozen(inputs), frozen(dict(bounds)), ops, tuple(self.plains.items), results, *result
        ).compact()  # fmt: skip
