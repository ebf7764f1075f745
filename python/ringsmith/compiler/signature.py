# SPDX-License-Identifier: Apache-2.0
"""Signature of a kernel, kept in its program: name, scheme, tolerance, arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.frontend.declare import Argument, Encrypted, Plain, parts_of
from ringsmith.frontend.definition import CERTAIN, FAILURE_BITS
from ringsmith.ir.numbers import as_array

Array = NDArray[Any]
#: A program whose result is an argument of another: name, identity, numbers of the outputs that hold it.
Producer = tuple[str, bytes, list[int]]


def producers_of(native: _native.Program) -> dict[str, Producer]:
    """Return the programs whose results are arguments, by argument."""
    found = {name: native.producer(name) for name, _, encrypted, _, _ in native.arguments if encrypted}
    return {name: own for name, own in found.items() if own is not None}


@dataclass(frozen=True)
class Signature:
    """Kernel metadata of a program: name, variant, scheme, tolerance; shape, secrecy and range of arguments."""

    name: str
    variant: str
    scheme: str
    tolerance: float
    arguments: Mapping[str, tuple[tuple[int, ...], bool, float, float]]
    publish: bool = False
    guarantee: str = CERTAIN
    #: Of the encrypted arguments that are results of other programs: the name, the identity, the outputs that hold it.
    producers: Mapping[str, Producer] = field(default_factory=dict)
    #: In words where its ranges come from, if from samples.
    measured: str = ""
    #: The guarantee fails with probability below 2^-failure_bits.
    failure_bits: int = FAILURE_BITS

    @classmethod
    def of(cls, native: _native.Program) -> Signature:
        """Return that of a program read from bytes."""
        arguments = {name: (tuple(shape), secret, low, high) for name, shape, secret, low, high in native.arguments}
        promised = native.guarantee
        return cls(
            native.name, native.variant, native.scheme, promised["tolerance"], arguments, promised["publish"],
            promised["strength"], producers_of(native), failure_bits=promised["failure_bits"],
        )  # fmt: skip

    def part(self, name: str) -> Argument:
        """Return the declaration of an argument of the program, which may be a part of a complex one."""
        shape, encrypted, low, high = self.arguments[name]
        return (Encrypted if encrypted else Plain)(*shape, low=low, high=high)

    @cached_property
    def declared(self) -> Mapping[str, Argument]:
        """The arguments as they are given: two parts of one shape, secrecy and range are a complex argument."""
        found: dict[str, Argument] = {}
        for name, (shape, encrypted, low, high) in self.arguments.items():
            whole, _, end = name.rpartition(".")
            pair = [self.arguments.get(part) for part in parts_of(whole)]
            if whole and end in ("real", "imag") and pair[0] == pair[1]:
                kind = Encrypted if encrypted else Plain
                found[whole] = kind(*shape, low=low, high=high, complex=True)
            else:
                found[name] = self.part(name)
        return found

    def parts(self, *, encrypted: bool) -> list[str]:
        """Return the names of the program's encrypted or plain arguments, complex ones as two."""
        return [name for name, entry in self.arguments.items() if entry[1] is encrypted]

    def names(self, *, encrypted: bool) -> list[str]:
        """Return the names of the encrypted or of the plain arguments as they are given."""
        return [name for name, argument in self.declared.items() if argument.encrypted is encrypted]

    @cached_property
    def taken(self) -> list[str]:
        """The names of the arguments, as they are given, that are results of other programs."""
        return [name for name in self.declared if name in self.producers or parts_of(name)[0] in self.producers]

    def check(
        self, given: Mapping[str, Any], *, encrypted: bool, part: bool = False, sent: bool = False
    ) -> dict[str, Array]:
        """Return checked arrays for exactly the encrypted or the plain arguments of the program, in its order; as a
        `part`, for one or more of them; `sent`, without those that are results of other programs."""
        wanted = [name for name in self.names(encrypted=encrypted) if not (sent and name in self.taken)]
        if part and given and set(given) <= set(wanted):
            wanted = [name for name in wanted if name in given]
        parts = [name for name in self.parts(encrypted=encrypted) if not (sent and name in self.producers)]
        if parts != wanted and sorted(given) == sorted(parts):  # What another side has taken apart.
            return {name: self.part(name).check(name, given[name], exact=False) for name in parts}
        if sorted(given) != sorted(wanted):
            kind = "encrypted" if encrypted else "plain"
            have, got = ", ".join(wanted) or "(none)", ", ".join(given) or "(none)"
            others = ""
            if sent and self.taken:
                others = f"; {', '.join(self.taken)}: the result of another, server.evaluate(..., {self.taken[0]}=y)"
            raise InputError(f"{self.name} takes the {kind} arguments {have}, not {got}{others}")
        checked: dict[str, Array] = {}
        for name in wanted:
            argument = self.declared[name]
            argument.fix(name, as_array(given[name], f"argument {name}").shape)
            array = argument.check(name, given[name], exact=self.scheme == "bfv")
            if argument.complex:
                checked |= zip(parts_of(name), (array.real.copy(), array.imag.copy()), strict=True)
            else:
                checked[name] = array
        return {name: checked[name] for name in parts if name in checked}
