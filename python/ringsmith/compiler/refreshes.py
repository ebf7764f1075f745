# SPDX-License-Identifier: Apache-2.0
"""Programs deeper than their set: refreshes placed, levels counted from them, values within the bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ringsmith.compiler.params import bootstrapping, choose, noise
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.compiler.scheduling import placement
from ringsmith.compiler.scheduling.schedule_ckks import Schedule
from ringsmith.errors import InputError, KernelError, ParameterError, RingsmithError
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.graph import Graph
from ringsmith.ir.slot_program import SlotProgram

Settled = TypeVar("Settled")


def by_hand(graph: Graph) -> bool:
    """Return whether a kernel says itself where it is refreshed."""
    return any("bootstraps" in node.attributes for node in graph.nodes())


def scheduled(program: SlotProgram, params: ParameterSet, requirements: choose.Requirements) -> Schedule:
    """Return the schedule of a program, with refreshes where it is deeper than a set that has a bootstrapping."""
    top, hand = len(params.moduli) - 1, placement.refreshed_by_hand(program)
    if not hand and params.bootstrapping is None:
        return requirements.scheduled(program)
    levels = _levels(params)
    if not hand:
        # The primes above belong to the refreshes and have other scales than values do.
        plain = requirements.scheduled(program, top - levels.fresh)
        if plain.depth <= top:
            return plain
    if any(packing.handed for packing in program.inputs.values()):
        raise ParameterError("a kernel that takes the result of another one is not refreshed; compile both as one")
    found = requirements.scheduled(program if hand else placement.placed(program, levels), top - levels.fresh)
    _check(found, levels)
    return found


def _levels(params: ParameterSet) -> placement.Levels:
    own = bootstrapping.native(params)
    return placement.Levels(
        len(params.moduli) - 1, own.output_level, own.input_level, tuple(own.effort()["switches"])
    )  # fmt: skip


def _check(found: Schedule, levels: placement.Levels) -> None:
    """Refuse a refresh below the levels that it takes."""
    for step in found.refreshed():
        missing = step.depth - (levels.top - levels.least)
        if missing > 0:
            raise noise.NoRoomError(
                f"{step.kind}: {missing} levels more are needed before this refresh; a refresh leaves "
                f"{levels.between} levels until the next one: refresh earlier, or leave the places to the compiler",
                step.where,
            )


def with_room(
    circuit: Circuit, params: ParameterSet, settle: Callable[[Circuit, ParameterSet], Settled]
) -> Settled:  # fmt: skip
    """Settle a circuit under a set whose bootstrapping serves the values that it refreshes."""
    if not circuit.refreshes():
        return settle(circuit, params)
    failure: RingsmithError | None = None
    for own in bootstrapping.bounded(circuit, params):
        try:
            return settle(circuit, own)
        except (noise.NotExactError, noise.NoRoomError):
            raise
        except (KernelError, ParameterError, InputError) as error:
            failure = error
    assert failure is not None
    raise failure


def fewer_keys(params: ParameterSet, room: int, bound: float | None) -> ParameterSet | None:
    """Return a set whose refreshes take keys of at most `room` bytes, or of the least there are; None where the set has
    no bootstrapping or a limit of its own. `bound`: on refreshed values, as the set was given it."""
    own = params.bootstrapping
    if own is None or own.key_bytes is not None:
        return None
    least = bootstrapping.native(params).least_key_bytes
    return replace(params, bootstrapping=replace(own, key_bytes=max(room, least), bound=bound))


def of_known_sets(error: choose.NoSetError | None, attempt: Callable[[ParamRequest], Settled]) -> Settled:
    """Return what the first named set with a bootstrapping gives; `error`: why there is no other set."""
    reasons = [] if error is None else [str(error)]
    for request in bootstrapping.known():
        try:
            return attempt(request)
        except (KernelError, ParameterError, InputError) as failure:
            reasons.append(f"with refreshes, in the set {request.name}: {failure}")
    raise choose.NoSetError("; ".join(reasons))
