# SPDX-License-Identifier: Apache-2.0
"""From a kernel and the shapes of its arguments to a program with parameters."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ringsmith.compiler import keys_limit, refreshes, remedies
from ringsmith.compiler.assemble import assemble
from ringsmith.compiler.compiled import Compiled
from ringsmith.compiler.constants import constants_are_ordinary
from ringsmith.compiler.lowering.choices import Choices
from ringsmith.compiler.lowering.lower import LayoutSearch, Results, lowered
from ringsmith.compiler.lowering.price import price
from ringsmith.compiler.manual_range import largest_result
from ringsmith.compiler.params import choose, joint, noise, primes
from ringsmith.compiler.params.bootstrapping import native
from ringsmith.compiler.params.planned import planned
from ringsmith.compiler.params.sets import ParameterSet, check, find
from ringsmith.compiler.passes.absorb import absorbed
from ringsmith.compiler.passes.affine import folded
from ringsmith.compiler.passes.balance import balanced
from ringsmith.compiler.passes.gather import gathered
from ringsmith.compiler.remedies import Grows
from ringsmith.compiler.rounds import check_one_round, cut
from ringsmith.compiler.scheduling import levels_bfv, schedule_bfv
from ringsmith.compiler.signature import Signature, producers_of
from ringsmith.compiler.user_functions import UserFunctions
from ringsmith.errors import KernelError, ParameterError
from ringsmith.frontend.declare import real_arguments
from ringsmith.frontend.definition import KernelDefinition
from ringsmith.frontend.manual import Chain
from ringsmith.frontend.measured import promised
from ringsmith.frontend.param_request import BootstrapGoal, ParamRequest
from ringsmith.frontend.trace import real_shapes, record, trace
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.geometry import Slots, slots_of
from ringsmith.ir.graph import Graph, Op, content_hash
from ringsmith.ir.handed import Source
from ringsmith.ir.layout_note import LayoutNote
from ringsmith.ir.numbers import magnitude
from ringsmith.ir.reading import Reading
from ringsmith.ir.slot_program import CIPHER_PRODUCTS, SlotProgram, TooLongError
from ringsmith.progress import tell

Shapes = Mapping[str, tuple[int, ...]]
#: A manual kernel without parameters is first traced on a chain that is longer than any real one.
_LONG_CHAIN = 40
#: Ways to compute an affine part are compared at this degree, as programs of at most this number of operations.
_PRICED_DEGREE, _PRICED_LENGTH = 8192, 2000


class WrapsError(ParameterError):
    """Results wrap modulo the plaintext modulus of a given set."""


class UnboundedError(KernelError):
    """Values may leave float64 by what is known of their ranges."""


def default_encryption(scheme: str) -> str:
    """CKKS clients hold the secret key and encrypt under it (half the bytes); BFV under the public key."""
    return "secret" if scheme == "ckks" else "public"


def layouts_of(
    kernel: KernelDefinition, shapes: Shapes, results: Callable[[Slots], Results] = lambda _: {}
) -> LayoutSearch:
    """Trace an automatic kernel and return what lowers it for ciphertexts of any slots; `results`: the arguments that
    are results of other kernels."""
    tell("trace the function")
    traced = promised(kernel, shapes, check_one_round(trace(kernel, shapes)))
    arguments = real_arguments(kernel.arguments)

    def price_of(graph: Graph) -> float:
        """Return the price at a middling degree, by each decision's own estimate; infinite for a long program."""
        slots = slots_of(kernel.scheme, _PRICED_DEGREE)
        try:
            return price(lowered(graph, arguments, slots, Choices({}), _PRICED_LENGTH, results(slots)))
        except TooLongError:
            return math.inf

    tell(f"gather {len(traced.nodes())} operations")
    graph = folded(gathered(balanced(traced)), price_of)
    _check_finite(graph)
    if kernel.publish:
        _check_errors_certain(graph)
    return LayoutSearch(absorbed(graph), arguments, results)


def compile_kernel(
    kernel: KernelDefinition, shapes: Shapes, encryption: str | None = None, tower_bits: int = choose.CPU_TOWER_BITS,
    search: LayoutSearch | None = None, sources: Mapping[str, Source] | None = None, *, keep: bool = False,
    advise: bool = True,
) -> Compiled:  # fmt: skip
    """Trace, choose or check parameters, refuse what would decrypt wrongly, and return the program.

    `search`: `layouts_of` the kernel, where they are known. `sources`: the programs whose results are arguments of a
    kernel with given parameters. `keep`: another program will take the result, which keeps its level and budget.
    `advise`: a refusal names remedies that were tried, each at the price of a search.
    """
    encryption = encryption or kernel.encryption or default_encryption(kernel.scheme)
    _check_ranges(kernel)
    requirements = replace(requirements_of(kernel, 0.0, encryption), keep=keep)
    layouts: tuple[LayoutNote, ...] = ()
    reading, proven = Reading(), frozenset[tuple[str, float]]()
    if kernel.manual:
        choose_manual = _manual if kernel.params is None else _pinned_manual
        choice = choose_manual(kernel, shapes, requirements)
    else:
        try:
            search = search or layouts_of(kernel, shapes)
            if kernel.params is None:
                requirements = requirements_of(kernel, search.graph.output.bound, encryption)
                requirements = replace(requirements, tower_bits=tower_bits, least_depth=search.graph.least_depth())
            settle = _settling(kernel, requirements, search, sources or {})
            way = keys_limit.within(kernel.keys_limit, search, settle, _narrowing(kernel, requirements))
        except (KernelError, ParameterError) as error:
            grows = _grows(kernel, error) if advise else None
            if grows is None:
                raise
            raise _advised(error, _advice(kernel, shapes, encryption, grows)) from None
        reading, proven = search.graph.reading, _proven(search.graph)
        choice, layouts = way.choice, way.search.described(way.choice.params.geometry)
    own = real_shapes(kernel.arguments, shapes)
    arguments = {n: (own[n], a.encrypted, a.low, a.high) for n, a in real_arguments(kernel.arguments).items()}
    signature = Signature(
        kernel.name,
        kernel.variant,
        kernel.scheme,
        kernel.tolerance,
        arguments,
        kernel.publish,
        kernel.guarantee,
        failure_bits=kernel.failure_bits,
    )
    native = assemble(signature, choice.params, choice.circuit, choice.noise_bits, encryption, reading)
    made = kernel.measured
    told = f"ranges measured on {made.samples} samples, widened by {made.margin:g} of their extent" if made else ""
    signature = replace(signature, producers=producers_of(native), measured=told)
    functions = UserFunctions.of(choice.circuit)
    return Compiled(signature, choice.params, native, choice.circuit, choice.rejected, functions, layouts, proven)


def _check_errors_certain(graph: Graph) -> None:
    """Refuse promises about errors where noise is to hide a decryption: it has to cover the largest error there is."""
    for node in graph.nodes():
        if "error" in node.attributes:
            raise KernelError(
                "within: error= is taken on trust, and with publish=True a false promise would give the key away; "
                "leave out error= or publish",
                node.where,
            )


def _proven(graph: Graph) -> frozenset[tuple[str, float]]:
    """Return the promises, by place and bound, that interval arithmetic proves for every value they are made of."""
    proven: dict[tuple[str, float], bool] = {}
    for node in graph.nodes():
        if node.op is Op.WITHIN:
            key = f"{Path(node.where.file).name}:{node.where.line}", float(node.attributes["bound"])
            proven[key] = proven.get(key, True) and node.args[0].bound <= node.attributes["bound"]
    return frozenset(key for key, holds in proven.items() if holds)


def _grows(kernel: KernelDefinition, error: KernelError | ParameterError) -> Grows | None:
    """Return the quantity for which there was no room, None if it is not that."""
    if isinstance(error, primes.PlainRangeError | WrapsError):
        return Grows.VALUES
    if isinstance(error, choose.NoSetError | UnboundedError | noise.NoRoomError | noise.NotExactError):
        return Grows.ERRORS if kernel.scheme == "ckks" else Grows.PRODUCTS
    return None


def _advised(error: KernelError | ParameterError, told: str) -> KernelError | ParameterError:
    """Return an error with advice at the end of its message."""
    if isinstance(error, KernelError):
        return type(error)(f"{error.message}; {told}", error.where)
    return type(error)(f"{error}; {told}")


def _advice(kernel: KernelDefinition, shapes: Shapes, encryption: str, grows: Grows) -> str:
    """Return what would make a kernel compile that no set serves, or not the given one."""

    def attempt(changed: KernelDefinition) -> int:
        if changed.params is not None:
            return compile_kernel(changed, shapes, encryption, advise=False).params.n
        return degree([changed], [shapes], encryption)

    def in_rounds(graph: Graph) -> tuple[int, int]:
        free = replace(kernel, params=None)
        parts, plan = cut(free, graph)
        return degree(parts, [one.shapes() for one in parts], encryption), len(plan.rounds)

    return remedies.advice(kernel, shapes, grows, attempt, in_rounds)


def degree(kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes], encryption: str | None = None) -> int:
    """Return the ring degree of the smallest set that serves automatic kernels together."""
    searches, wishes = [], []
    for one, own in zip(kernels, shapes, strict=True):
        search = layouts_of(one, own)
        wish = requirements_of(one, search.graph.output.bound, encryption or default_encryption(one.scheme))
        wishes.append(replace(wish, least_depth=search.graph.least_depth()))
        searches.append(search)
    if len(kernels) == 1:
        return choose.choose(wishes[0], searches[0], constants_are_ordinary)[0].params.n
    together = joint.joint(wishes, [one.name for one in kernels], [{} for _ in kernels])
    return choose.smallest(together, lambda slots: tuple(search(slots) for search in searches)).params.n


def _check_finite(graph: Graph) -> None:
    """Refuse values that may leave float64."""
    for node in graph.nodes():
        if not node.exact and not math.isfinite(node.bound):
            raise UnboundedError(f"{node.op}: values may exceed what float64 holds", node.where)


def _settling(
    kernel: KernelDefinition, requirements: choose.Requirements, search: LayoutSearch, sources: Mapping[str, Source]
) -> keys_limit.Settle:
    """Return what chooses a set for a kernel lowered in some way, or checks the given one, and settles the levels and
    digits for it."""

    def settle(lower: choose.Lower, least_degree: int) -> tuple[choose.Choice, choose.Requirements]:
        if kernel.params is not None:
            choice, found = _given(kernel, lower, search.graph, requirements, sources)
        else:
            wishes = replace(requirements, least_degree=least_degree)
            choice, found = _chosen(kernel, lower, search.graph, wishes)
        if kernel.scheme == "bfv" and not requirements.keep:
            choice = _levelled(choice, found)
        if kernel.params is None and not choice.circuit.refreshes():
            choice = choose.fewer_digits(choice, found, kernel.keys_limit)
        return choice, found

    return settle


def _given(
    kernel: KernelDefinition, lower: choose.Lower, graph: Graph, requirements: choose.Requirements,
    sources: Mapping[str, Source],
) -> tuple[choose.Choice, choose.Requirements]:  # fmt: skip
    """Compile for the kernel's own set; where refreshes in one pass miss its tolerance, say whether two do."""
    try:
        return _pinned(kernel, lower, graph, requirements, sources)
    except noise.NotExactError as missed:
        request = find(kernel.params) if isinstance(kernel.params, str) else kernel.params
        if not isinstance(request, ParamRequest):
            raise

        def attempt(own: ParamRequest) -> tuple[choose.Choice, choose.Requirements]:
            return _pinned(replace(kernel, params=own), lower, graph, requirements, sources)

        told = refreshes.told_of_passes(missed, request, attempt)
    raise told


def _narrowing(kernel: KernelDefinition, requirements: choose.Requirements) -> keys_limit.Narrow:
    """Return what settles a circuit once more, refreshed in the same places with keys of fewer bytes."""
    request = find(kernel.params) if isinstance(kernel.params, str) else kernel.params
    given = request.bootstrapping if isinstance(request, ParamRequest) else None
    bound = given.bound if given else None

    def narrow(choice: choose.Choice, room: int) -> tuple[choose.Choice, choose.Requirements] | None:
        params = refreshes.fewer_keys(choice.params, room, bound)
        if params is None:
            return None
        settled, found = _settled(choice.circuit, params, requirements)
        return replace(settled, rejected=choice.rejected), found

    return narrow


def _chosen(
    kernel: KernelDefinition, lower: choose.Lower, graph: Graph, requirements: choose.Requirements
) -> tuple[choose.Choice, choose.Requirements]:
    """Choose a set, one with a bootstrapping where no other has the levels or the kernel is refreshed by hand."""
    error: choose.TooDeepError | None = None
    if not refreshes.by_hand(graph):
        try:
            return choose.choose(requirements, lower, constants_are_ordinary)
        except choose.TooDeepError as deep:
            if kernel.scheme != "ckks":
                raise
            error = deep
    return refreshes.of_sets(
        error, lambda request: _pinned(replace(kernel, params=request), lower, graph, requirements, {}), requirements
    )


def _check_ranges(kernel: KernelDefinition) -> None:
    """Refuse arguments that the kernel's own plain modulus cannot tell apart."""
    half = (kernel.plain_modulus or 0) // 2
    for name, argument in kernel.arguments.items():
        largest = magnitude(argument.range(name, exact=kernel.scheme == "bfv"))
        if half and largest > half:
            raise ParameterError(
                f"argument {name}: values up to {largest} wrap modulo plain_modulus {kernel.plain_modulus}; "
                f"declare at most {half}, or use a larger modulus"
            )


def traced_hash(kernel: KernelDefinition, shapes: Shapes, params: ParameterSet) -> bytes:
    """Return a hash of what a kernel's function computes now, with what it captures (a manual one under `params`)."""
    if not kernel.manual:
        graph = trace(kernel, shapes)
        return content_hash(graph.nodes()) + repr(graph.reading).encode()
    circuit = record(kernel, shapes, _chain_of(params))
    nodes = {id(plain.node): plain.node for plain in circuit.plains}
    gathers = [(list(nodes).index(id(plain.node)), plain.gather.tobytes()) for plain in circuit.plains]
    steps = [
        (s.kind, s.args, s.level, s.scale, s.size, s.plain, s.plain_scale, s.steps, s.bound, s.transform)
        for s in circuit.steps
    ]
    return hashlib.sha256(
        content_hash(list(nodes.values())) + repr((steps, gathers, circuit.outputs)).encode()
    ).digest()


def _levelled(choice: choose.Choice, requirements: choose.Requirements) -> choose.Choice:
    """Run a BFV circuit at the lowest levels that keep the margin, or its budget where that is below the margin."""

    def budget(circuit: Circuit) -> float:
        return requirements.bound(circuit, choice.params).bits

    enough = min(choice.noise_bits, requirements.budget(choice.params.n))
    circuit = levels_bfv.descend(choice.circuit, lambda circuit: budget(circuit) >= enough)
    return replace(choice, circuit=circuit, noise_bits=budget(circuit))


def requirements_of(kernel: KernelDefinition, plain_bound: float, encryption: str) -> choose.Requirements:
    """Return a kernel's requirements."""
    return choose.Requirements(
        kernel.scheme,
        kernel.tolerance,
        kernel.security,
        kernel.standard,
        plain_bound,
        kernel.plain_modulus,
        encryption,
        kernel.publish,
        assume=noise.Assume.ALL if kernel.worst_case else noise.Assume.NONE,
        failure_bits=kernel.failure_bits,
        guarantee=kernel.guarantee,
    )


def _checked(kernel: KernelDefinition, plain_bound: float) -> ParameterSet:
    """Return the pinned set, with a plaintext modulus for BFV when the set leaves it open."""
    request = find(kernel.params) if isinstance(kernel.params, str) else kernel.params
    if isinstance(request, BootstrapGoal):
        request = planned(request, kernel.security, kernel.standard)
    if not isinstance(request, ParamRequest):
        raise ParameterError(f"params={kernel.params!r}: the name of a set, a ParamRequest or a BootstrapGoal")
    t = kernel.plain_modulus
    if kernel.scheme == "bfv" and t is None and request.plain_modulus is None:
        t = primes.plain_modulus(request.n, 2 * int(plain_bound) + 2)
    params = check(
        request, kernel.scheme, security=kernel.security, standard=kernel.standard,
        allow_insecure=kernel.allow_insecure, plain_modulus=t,
    )  # fmt: skip
    if kernel.scheme == "bfv":
        _check_plain_modulus(kernel, params, plain_bound)
    return params


def _check_plain_modulus(kernel: KernelDefinition, params: ParameterSet, plain_bound: float) -> None:
    t = params.plain_modulus
    if t % (2 * params.n) != 1:
        raise ParameterError(
            f"plaintext modulus {t} is not 1 mod {2 * params.n}, so n = {params.n} cannot pack values; "
            f"use {primes.plain_modulus(params.n, max(t, 2))}"
        )
    if kernel.plain_modulus is None and 2 * plain_bound + 1 > t:
        size = plain_bound if plain_bound < 1 << 64 else f"2^{int(plain_bound).bit_length() - 1}"
        raise WrapsError(f"results up to {size} wrap modulo t = {t}; use a larger plaintext modulus")


def _pinned(
    kernel: KernelDefinition, lower: choose.Lower, graph: Graph, requirements: choose.Requirements,
    sources: Mapping[str, Source],
) -> tuple[choose.Choice, choose.Requirements]:  # fmt: skip
    """Compile for a given set, for the worst plaintexts if it has room for them."""
    params = _checked(kernel, graph.output.bound)
    program = lower(params.geometry)
    circuit = _scheduled(kernel, program, params, requirements)
    circuit = circuit.received(sources) if sources else circuit
    try:
        return _settled(circuit, params, requirements)
    except KernelError:
        if kernel.scheme != "bfv" or requirements.keep:
            raise
    # A set whose digits are too long to relinearise still carries a last product.
    circuit = schedule_bfv.schedule(program, len(params.moduli) - 1, relinearize_results=False)
    circuit = circuit.received(sources) if sources else circuit
    return _settled(circuit, params, requirements)


def _pinned_manual(kernel: KernelDefinition, shapes: Shapes, requirements: choose.Requirements) -> choose.Choice:
    """Compile a manual kernel for a given set."""
    params = _checked(kernel, 0)
    circuit = record(kernel, shapes, _chain_of(params))
    if kernel.scheme == "bfv":
        params = _checked(kernel, largest_result(circuit))
    return _settled(circuit, params, requirements)[0]


def _settled(
    circuit: Circuit, params: ParameterSet, requirements: choose.Requirements
) -> tuple[choose.Choice, choose.Requirements]:
    """Check a circuit under a set, whose bootstrapping gets room for what is refreshed."""
    return refreshes.with_room(circuit, params, lambda circuit, own: _checked_under(circuit, own, requirements))


def _checked_under(
    circuit: Circuit, params: ParameterSet, requirements: choose.Requirements
) -> tuple[choose.Choice, choose.Requirements]:
    """Check a circuit under a set, with the worst case for every plaintext, else for those that need it."""
    worst = replace(requirements, assume=noise.Assume.ALL)
    # Room for the worst plaintexts would be a larger error in the result that the next program takes.
    if not requirements.keep or requirements.assume is noise.Assume.ALL:
        try:
            return choose.Choice(params, circuit, _checked_noise(circuit, params, worst), ()), worst
        except (KernelError, ParameterError):
            if requirements.assume is noise.Assume.ALL:
                raise
    if not constants_are_ordinary(circuit, params):
        requirements = replace(requirements, assume=noise.Assume.CONSTANTS)
    return choose.Choice(params, circuit, _checked_noise(circuit, params, requirements), ()), requirements


def _chain_of(params: ParameterSet) -> Chain:
    own = native(params) if params.bootstrapping else None
    refresh = (own.input_level, own.output_level) if own else None
    return Chain(params.scheme, params.geometry, params.moduli, params.log2_scale, refresh)


def _scheduled(
    kernel: KernelDefinition, program: SlotProgram, params: ParameterSet, requirements: choose.Requirements
) -> Circuit:
    """Schedule a slot program on a given chain."""
    if kernel.scheme == "bfv":
        return requirements.at_level(program, len(params.moduli) - 1)
    scheduled = refreshes.scheduled(program, params, requirements)
    if scheduled.depth > len(params.moduli) - 1:
        deepest = max(scheduled.planned, key=lambda planned: planned.depth)
        raise noise.NoRoomError(
            f"{deepest.kind}: level {scheduled.depth} of rescaling is needed, parameter set {params.name} has "
            f"{len(params.moduli) - 1} (log2 q = {'+'.join(str(q.bit_length()) for q in params.moduli)}); "
            f"add {scheduled.depth - len(params.moduli) + 1} data primes or lower the multiplicative depth",
            deepest.where,
        )
    return scheduled.resolved(params.moduli, params.log2_scale)


def _checked_noise(circuit: Circuit, params: ParameterSet, requirements: choose.Requirements) -> float:
    found = requirements.bound(circuit, params)
    if requirements.scheme == "bfv":
        noise.check_bfv(found, params, publish=requirements.publish)
    else:
        noise.check_ckks(found, 2.0 ** requirements.wanted(params.n))
    return found.bits


def _manual(kernel: KernelDefinition, shapes: Shapes, requirements: choose.Requirements) -> choose.Choice:
    """Choose parameters for a manual kernel: as many primes as it drops, the scale from its tolerance."""
    rejected: list[choose.Rejected] = []
    scale = min(50, max(30, math.ceil(-math.log2(kernel.tolerance)) + 24))
    for n in choose.DEGREES:
        long = tuple([(1 << scale) + 1] * _LONG_CHAIN)
        trial = record(kernel, shapes, Chain(kernel.scheme, slots_of(kernel.scheme, n), long, scale))
        t = kernel.plain_modulus
        if kernel.scheme == "bfv" and t is None:
            t = primes.plain_modulus(n, 2 * largest_result(trial) + 2)
        depth = _LONG_CHAIN - 1 - min(step.level for step in trial.steps)
        keys = trial.switches_keys() or requirements.encryption == "extended"
        depth += sum(step.kind in CIPHER_PRODUCTS for step in trial.steps) > 0 and kernel.scheme == "bfv"
        data = (min(60, scale + 15), *([scale] * depth))
        request = ParamRequest(
            n=n, data_bits=data, special_bits=(max(data),) if keys else (), log2_scale=scale, name="chosen",
            source="chosen for this kernel",
        )  # fmt: skip
        try:
            pinned = kernel.options(params=replace(request, plain_modulus=t))
            choice = _pinned_manual(pinned, shapes, requirements)
        except ParameterError as error:
            rejected.append(choose.Rejected(n, f"n = {n}: {error}"))
            continue
        return choose.Choice(choice.params, choice.circuit, choice.noise_bits, tuple(rejected))
    raise ParameterError(f"no parameter set fits: {rejected[-1].reason}")
