# SPDX-License-Identifier: Apache-2.0
"""Signature of a kernel, kept in its program: name, scheme, tolerance, arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.frontend.declare import Argument, Encrypted, Plain
from ringsmith.ir.numbers import as_array

Array = NDArray[Any]


@dataclass(frozen=True)
class Signature:
    """Kernel metadata of a program: name, variant, scheme, tolerance; shape, secrecy and range of arguments."""

    name: str
    variant: str
    scheme: str
    tolerance: float
    arguments: Mapping[str, tuple[tuple[int, ...], bool, float, float]]
    publish: bool = False

    @classmethod
    def of(cls, native: _native.Program) -> Signature:
        """Return that of a program read from bytes."""
        arguments = {name: (tuple(shape), secret, low, high) for name, shape, secret, low, high in native.arguments}
        promised = native.guarantee
        return cls(native.name, native.variant, native.scheme, promised["tolerance"], arguments, promised["publish"])

    def argument(self, name: str) -> Argument:
        """Return an argument's declaration again."""
        shape, encrypted, low, high = self.arguments[name]
        return (Encrypted if encrypted else Plain)(*shape, low=low, high=high)

    def names(self, *, encrypted: bool) -> list[str]:
        """Return the names of the encrypted or of the plain arguments."""
        return [name for name, entry in self.arguments.items() if entry[1] is encrypted]

    def check(self, given: Mapping[str, Any], *, encrypted: bool) -> dict[str, Array]:
        """Return checked arrays for exactly the encrypted or the plain arguments."""
        wanted = self.names(encrypted=encrypted)
        if sorted(given) != sorted(wanted):
            kind = "encrypted" if encrypted else "plain"
            have, got = ", ".join(wanted) or "(none)", ", ".join(given) or "(none)"
            raise InputError(f"{self.name} takes the {kind} arguments {have}, not {got}")
        checked = {}
        for name in wanted:
            argument = self.argument(name)
            argument.fix(name, as_array(given[name], f"argument {name}").shape)
            checked[name] = argument.check(name, given[name], exact=self.scheme == "bfv")
        return checked
