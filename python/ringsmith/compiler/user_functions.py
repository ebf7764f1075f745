# SPDX-License-Identifier: Apache-2.0
"""Packing functions of a user's that compute: they are no data, so a program with them stays in its process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ringsmith.ir.circuit import Circuit

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class UserFunctions:
    """Functions of the user's that compute what enters or leaves: they are no data, so they stay in this process.

    `pack` has one for each argument that is more than placed, `unpack` makes a result of `shape`; two sides compare
    them by `probes`, their answers.
    """

    pack: Mapping[str, Callable[[Array, int], Array]] = field(default_factory=dict)
    unpack: Callable[[Array], Array] | None = None
    shape: tuple[int, ...] = ()
    probes: tuple[Any, ...] = ()

    @classmethod
    def of(cls, circuit: Circuit) -> UserFunctions:
        """Return the functions of a circuit."""
        packings = {name: packing for name, packing in circuit.inputs.items() if packing.pack is not None}
        pack = {name: packing.pack for name, packing in packings.items()}
        probes = [(name, packing.trace) for name, packing in packings.items()]
        for plain in circuit.plains:
            attributes = plain.node.attributes
            if attributes.get("pack") is not None and attributes["name"] not in pack:
                pack[attributes["name"]] = attributes["pack"]
                probes.append((attributes["name"], attributes["trace"]))
        if circuit.output.unpack is not None:
            probes.append(("the result", circuit.output.trace))
        return cls(pack, circuit.output.unpack, circuit.output.shape, tuple(probes))

    @property
    def names(self) -> list[str]:
        """The names of the arguments they belong to, and of the result, for messages."""
        return [f"argument {name}" for name in self.pack] + (["the result"] if self.unpack is not None else [])
