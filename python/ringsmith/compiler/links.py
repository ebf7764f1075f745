# SPDX-License-Identifier: Apache-2.0
"""Kernels that take the results of others: whose, in which shape, range and layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ringsmith.compiler.compile import default_encryption, layouts_of, requirements_of
from ringsmith.compiler.lowering.lower import LayoutSearch, Results
from ringsmith.compiler.params.choose import Requirements
from ringsmith.compiler.scheduling import schedule_ckks
from ringsmith.errors import KernelError, ParameterError
from ringsmith.frontend.declare import Encrypted, parts_of
from ringsmith.frontend.definition import PROBABLE, KernelDefinition, Shapes
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import Graph
from ringsmith.ir.handed import Handed, handed


@dataclass(frozen=True, eq=False)
class Linked:
    """A kernel whose arguments are all declared, and what lowers it.

    `takes`: the arguments of its program that are results, by the number of the kernel that makes it and, of a complex
    one, the part (0 real, 1 imaginary; -1 all of it).
    """

    kernel: KernelDefinition
    shapes: Shapes
    search: LayoutSearch
    takes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def alone(cls, kernel: KernelDefinition, shapes: Shapes) -> Linked:
        """Return a kernel that takes nothing."""
        return cls(kernel, shapes, layouts_of(kernel, shapes))

    def wish(self) -> Requirements:
        """Return the kernel's requirements."""
        encryption = self.kernel.encryption or default_encryption(self.kernel.scheme)
        wish = requirements_of(self.kernel, self.search.graph.output.bound, encryption)
        return replace(wish, least_depth=self.search.graph.least_depth())


def linked(kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes]) -> list[Linked]:
    """Return the kernels with every result that one of them takes declared as what it is."""
    done: list[Linked] = []
    for number, (kernel, given) in enumerate(zip(kernels, shapes, strict=True)):
        if kernel.manual or kernel.params is not None:
            raise ParameterError(
                f"{kernel.name}: kernels of which one takes another's result are automatic and leave their parameters "
                f"open; {'mode' if kernel.manual else 'params'}= is given"
            )
        takes: dict[str, tuple[int, int]] = {}
        arguments = dict(kernel.arguments)
        for name, argument in kernel.arguments.items():
            if isinstance(argument, Encrypted) and argument.of is not None:
                by = _maker(kernel, name, argument.of, kernels[:number])
                arguments[name] = _declared(kernel, name, kernels[by], done[by].search.graph)
                parts = parts_of(name) if arguments[name].complex else (name,)
                takes |= {part: (by, place if len(parts) > 1 else -1) for place, part in enumerate(parts)}
        made = kernel.options(arguments=arguments)
        own = made.shapes(**given)
        done.append(Linked(made, own, layouts_of(made, own, partial(_results, list(done), takes)), takes))
    return done


def _maker(kernel: KernelDefinition, name: str, of: KernelDefinition, before: Sequence[KernelDefinition]) -> int:
    """Return the number of the kernel whose result an argument is."""
    found = next((number for number, one in enumerate(before) if one is of), None)
    if found is None:
        raise ParameterError(
            f"{kernel.name} takes the result of {of.name} as {name}; give that very kernel before it: "
            f"rs.compile([{of.name}, {kernel.name}])"
        )
    if kernel.guarantee != PROBABLE and of.guarantee == PROBABLE:
        raise ParameterError(
            f"{kernel.name} promises a certain guarantee, but {name}, the result of {of.name}, has a probable one; "
            f'make both "certain", or {kernel.name} with guarantee="probable"'
        )
    if kernel.publish and not of.publish:
        raise ParameterError(
            f"{kernel.name} is made to publish, but {of.name}, whose result it takes, is not: its bound fails too "
            "often; make both with publish=True"
        )
    return found


def _declared(kernel: KernelDefinition, name: str, maker: KernelDefinition, graph: Graph) -> Encrypted:
    """Return the declaration of a result as an argument."""
    node, reading = graph.output, graph.reading
    if reading.divisor > 1:
        raise KernelError(
            f"argument {name}: the result of {maker.name} is a sum with divisor {reading.divisor}, which another "
            "kernel cannot take; return the sum, and divide what comes last",
            kernel.where,
        )
    shape = node.shape[1:] if reading.complex else node.shape
    low, high = node.low.min(), node.high.max()
    ends = {"low": low.item() if hasattr(low, "item") else low, "high": high.item() if hasattr(high, "item") else high}
    return Encrypted(*shape, **ends, complex=reading.complex)


def _results(done: Sequence[Linked], takes: Mapping[str, tuple[int, int]], slots: Slots) -> Results:
    """Return the results that are arguments for ciphertexts of some slots."""
    found: dict[str, Handed] = {}
    for name, (by, part) in takes.items():
        program = done[by].search(slots)
        depths = dict.fromkeys(range(len(program.outputs)), 0)
        if done[by].kernel.scheme == "ckks":
            planned = schedule_ckks.schedule(program)
            depths = {number: planned.planned[step].depth for number, step in enumerate(planned.outputs)}
        ct, slot = (
            (own if part < 0 else own[part]) for own in (program.output_ct, program.output_slot)
        )  # fmt: skip
        found[name] = handed(ct, slot, program.output_period, program.output_zeros, depths)
    return found
