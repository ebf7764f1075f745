# SPDX-License-Identifier: Apache-2.0
"""Programs deeper than their set: refreshes placed, levels counted from them, values within the bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ringsmith.compiler.params import bootstrapping, choose, noise, planned
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.compiler.params.steps import described
from ringsmith.compiler.scheduling import placement, prices
from ringsmith.compiler.scheduling.schedule_ckks import Schedule
from ringsmith.errors import InputError, KernelError, ParameterError, RingsmithError
from ringsmith.frontend.definition import FAILURE_BITS
from ringsmith.frontend.param_request import BootstrapGoal, ParamRequest
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
    _check(found, levels, params)
    return found


def _levels(params: ParameterSet) -> placement.Levels:
    own = bootstrapping.native(params)
    return placement.Levels(
        len(params.moduli) - 1, own.output_level, own.input_level, tuple(own.effort()["switches"]),
        prices.of_ring(params.n),
    )  # fmt: skip


def _check(found: Schedule, levels: placement.Levels, params: ParameterSet) -> None:
    """Refuse a refresh below the levels that it takes."""
    for step in found.refreshed():
        missing = step.depth - (levels.top - levels.least)
        if missing > 0:
            far = noise.TooFarError(
                f"{step.kind}: {missing} levels more are needed before this refresh; a refresh leaves "
                f"{levels.between} levels until the next one: refresh earlier, or leave the places to the compiler",
                step.where,
            )
            far.n, far.levels = params.n, levels.between + missing
            far.log2_error = math.log2(bootstrapping.native(params).added(FAILURE_BITS))
            raise far


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
        except noise.NotExactError as missed:
            missed.params = own
            raise
        except noise.NoRoomError:
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


#: A kernel under a set: what is chosen, and what was assumed for it.
Found = tuple[choose.Choice, choose.Requirements]
Attempt = Callable[[ParamRequest], Found]
_REFUSED = (KernelError, ParameterError, InputError)


def told_of_passes(missed: noise.NotExactError, request: ParamRequest, attempt: Attempt) -> noise.NotExactError:
    """Return the refusal of a given set, which names two passes where they reach what one pass misses."""
    own = request.bootstrapping
    if missed.params is None or own is None or own.passes != 1:
        return missed
    try:
        attempt(replace(request, bootstrapping=replace(own, passes=2)))
    except _REFUSED:
        return missed
    return noise.NotExactError(
        f"{missed}; with passes=2 in its rs.Bootstrapping it is exact enough, for a level and twice the time"
    )


#: How often a set is planned anew for what the last one missed.
_PLANS = 3
#: With more refreshes a smaller ring, which has few levels between two, is slower than a larger one.
_FEW = 2


class _Search:
    """Looks for a set with a bootstrapping that does, and remembers why others do not."""

    def __init__(self, error: choose.NoSetError | None, attempt: Attempt, requirements: choose.Requirements) -> None:
        self._attempt, self._requirements = attempt, requirements
        self._reasons = [] if error is None else [str(error)]
        #: Why the last plan does not do.
        self._planned = ""
        #: What the named sets missed, smaller degrees first.
        self.goals: list[BootstrapGoal] = []

    def named(self, request: ParamRequest) -> Found | None:
        """Try a named set."""
        try:
            return self._attempt(request)
        except _REFUSED as failure:
            self._reasons.append(f"with refreshes, in the set {request.name}: {failure}")
            if goal := planned.goal_after(failure, self._requirements.failure_bits):
                self.goals.append(goal)
        return None

    def planned(self, goal: BootstrapGoal) -> Found | None:
        """Try sets that are planned for a goal, each for what the one before missed."""
        wanted: BootstrapGoal | None = goal
        for _ in range(_PLANS):
            if wanted is None:
                break
            try:
                own = planned.planned(wanted, self._requirements.security, self._requirements.standard)
                return self._attempt(own)
            except _REFUSED as failure:
                self._planned = f"with refreshes, in a set planned for n = {goal.n}: {failure}"
                closer = planned.goal_after(failure, self._requirements.failure_bits)
                wanted = None if closer is None else replace(closer, levels=goal.levels, passes=goal.passes)
        return None

    def refusal(self) -> choose.NoSetError:
        """Return why none does."""
        return choose.NoSetError("; ".join([*self._reasons, *[self._planned] * bool(self._planned)]))

    def cheaper(self, found: Found) -> Found:
        """Return what a set planned in a smaller ring gives, if it takes less time."""
        if not self.goals or found[0].circuit.refreshes() > _FEW:
            return found
        other = self.planned(self.goals[0])
        return other if other is not None and self._work(other) < self._work(found) else found

    def _work(self, found: Found) -> int:
        choice, bits = found[0], self._requirements.failure_bits
        own = choice.params
        steps = described(choice.circuit, self._requirements.encryption, refresh=(bootstrapping.native(own), bits))
        return steps.work(own.n, len(own.moduli), len(own.special), own.dnum)


def of_sets(error: choose.NoSetError | None, attempt: Attempt, requirements: choose.Requirements) -> Found:
    """Return what the first named set with a bootstrapping gives, or what one planned for the kernel gives; `error`:
    why there is no set without.

    A plan is made where no named set does, of two passes only where none of one does, and where the set of a larger
    ring was taken for its precision alone.
    """
    search = _Search(error, attempt, requirements)
    for request in bootstrapping.known():
        if found := search.named(request):
            return search.cheaper(found)
    for passes in (1, 2):
        for goal in search.goals:
            if found := search.planned(replace(goal, passes=passes)):
                return found
    raise search.refusal()
