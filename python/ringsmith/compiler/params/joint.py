# SPDX-License-Identifier: Apache-2.0
"""One parameter set for several kernels: the search for one kernel, asked of all of them at once.

Whatever the search asks is answered by the kernel that needs most: the deepest schedule, the largest miss of a
tolerance, the fullest step, the poorest budget. So every kernel's bound is found for the common set itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ringsmith.compiler.params import noise
from ringsmith.compiler.params.choose import Requirements
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.compiler.scheduling import schedule_ckks
from ringsmith.errors import ParameterError
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.handed import Source
from ringsmith.ir.slot_program import SlotProgram


@dataclass(frozen=True, eq=False)
class Circuits:
    """The circuits of several kernels under one chain."""

    each: tuple[Circuit, ...]

    def switches_keys(self) -> bool:
        """Return whether any operation of any of them needs a key switch."""
        return any(circuit.switches_keys() for circuit in self.each)


@dataclass(frozen=True, eq=False)
class Schedules:
    """The schedules of several CKKS kernels."""

    each: tuple[schedule_ckks.Schedule, ...]

    @property
    def depth(self) -> int:
        """Rescales of the deepest."""
        return max(one.depth for one in self.each)

    @property
    def planned(self) -> list[Any]:
        """The steps of all."""
        return [step for one in self.each for step in one.planned]

    def resolved(self, moduli: Sequence[int], log2_scale: float) -> Circuits:
        """Return the circuits for a chain."""
        return Circuits(tuple(one.resolved(moduli, log2_scale) for one in self.each))


@dataclass(frozen=True, kw_only=True)
class Joint(Requirements):
    """Requirements of several kernels of one scheme, `members` in their order; programs and circuits are all of
    theirs."""

    members: tuple[Requirements, ...]
    #: Of each kernel the arguments that are results of others, by the number of that kernel, which stands before it.
    links: tuple[Mapping[str, int], ...]

    def wanted(self, n: int) -> float:
        """Return log2 of the least error wanted."""
        return min(own.wanted(n) for own in self.members)

    def budget(self, n: int) -> float:
        """Return the largest budget wanted."""
        return max(own.budget(n) for own in self.members)

    def bound(self, circuit: Any, params: ParameterSet) -> noise.Noise:
        """Return the bound of the kernel that misses most, as if its wish were `wanted` or `budget`."""
        exact, n = self.scheme == "bfv", params.n
        found, circuits = list[noise.Noise](), list[Circuit]()
        for own, one, links in zip(self.members, circuit.each, self.links, strict=True):
            sources = {
                name: Source("", b"", self.members[by].of_results(circuits[by], params, found[by].bits))
                for name, by in links.items()
            }
            circuits.append(one.received(sources) if sources else one)
            found.append(own.bound(circuits[-1], params))
        wishes = [own.budget(n) if exact else own.wanted(n) for own in self.members]
        missed = [one.bits - wish for one, wish in zip(found, wishes, strict=True)]
        fullest = max(found, key=lambda one: one.overflow_bits)
        bits = min(missed) + self.budget(n) if exact else max(missed) + self.wanted(n)
        return replace(fullest, bits=bits)

    def scheduled(self, program: Any, fresh: int = 0) -> Any:
        """Return the schedules of all programs."""
        return Schedules(tuple(own.scheduled(one, fresh) for own, one in zip(self.members, program, strict=True)))

    def at_level(self, program: Any, level: int) -> Any:
        """Return the circuits of all programs at a level."""
        return Circuits(tuple(own.at_level(one, level) for own, one in zip(self.members, program, strict=True)))

    def account(self, circuit: Any) -> Callable[[int, int, int, int], int]:
        """Return the time of all together."""
        accounts = []
        for own, one, links in zip(self.members, circuit.each, self.links, strict=True):
            # Time does not depend on noise.
            sources = {
                name: Source("", b"", [(0.0, 0.0, 0.0)] * len(circuit.each[by].outputs)) for name, by in links.items()
            }
            accounts.append(own.account(one.received(sources)))
        return lambda *digits: sum(account(*digits) for account in accounts)


def joint(members: Sequence[Requirements], names: Sequence[str], links: Sequence[Mapping[str, int]]) -> Joint:
    """Return the requirements of several kernels together; ParameterError for those that nothing can have in common."""
    first = members[0]
    if len({own.standard for own in members}) > 1:
        raise ParameterError(_differ("standard", names, [own.standard for own in members]))
    moduli = {own.plain_modulus for own in members} - {None}
    if len(moduli) > 1:
        raise ParameterError(_differ("plain_modulus", names, [own.plain_modulus for own in members]))
    modulus = next(iter(moduli), None)
    for own, name in zip(members, names, strict=True):
        if modulus is not None and own.plain_modulus is None and 2 * own.plain_bound + 1 > modulus:
            raise ParameterError(
                f"results of {name} up to {own.plain_bound:.15g} wrap modulo the plain_modulus {modulus} of another "
                "kernel; leave that out, or compile them apart"
            )
    extended = any(own.encryption == "extended" for own in members)
    return Joint(
        first.scheme, min(own.tolerance for own in members), max(own.security for own in members), first.standard,
        max(own.plain_bound for own in members), modulus, "extended" if extended else first.encryption,
        tower_bits=min(own.tower_bits for own in members), least_depth=max(own.least_depth for own in members),
        members=tuple(members), links=tuple(links),
    )  # fmt: skip


def _differ(what: str, names: Sequence[str], values: Sequence[object]) -> str:
    own = ", ".join(f"{name} has {value or 'none'}" for name, value in zip(names, values, strict=True))
    return f"kernels under one set share their {what}: {own}"


#: Programs of all kernels for ciphertexts of some slots.
Programs = tuple[SlotProgram, ...]
