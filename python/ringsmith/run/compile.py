# SPDX-License-Identifier: Apache-2.0
"""From a kernel and the shapes of its arguments to a program with parameters."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from ringsmith.errors import KernelError, ParameterError
from ringsmith.kernel import levels_bfv, schedule, schedule_bfv
from ringsmith.kernel.circuit import Circuit
from ringsmith.kernel.geometry import slots_of
from ringsmith.kernel.graph import content_hash
from ringsmith.kernel.kernel import Kernel
from ringsmith.kernel.lower import lower
from ringsmith.kernel.manual import Chain
from ringsmith.kernel.manual_range import largest_result
from ringsmith.kernel.numbers import magnitude
from ringsmith.kernel.slots import CIPHER_PRODUCTS, SlotProgram
from ringsmith.kernel.trace import record, trace
from ringsmith.params import choose, noise, primes
from ringsmith.params.sets import ParameterSet, ParamRequest, check, find
from ringsmith.run.plaintexts import constants_are_ordinary
from ringsmith.run.program import Program, Signature

Shapes = Mapping[str, tuple[int, ...]]
#: A manual kernel without parameters is first traced on a chain that is longer than any real one.
_LONG_CHAIN = 40


def default_encryption(scheme: str) -> str:
    """CKKS clients hold the secret key and encrypt under it (half the bytes); BFV under the public key."""
    return "secret" if scheme == "ckks" else "public"


def compile_kernel(
    kernel: Kernel, shapes: Shapes, encryption: str | None = None, tower_bits: int = choose.CPU_TOWER_BITS
) -> Program:
    """Trace, choose or check parameters, refuse what would decrypt wrongly, and return the program."""
    encryption = encryption or kernel.encryption or default_encryption(kernel.scheme)
    _check_ranges(kernel)
    wish = wish_of(kernel, 0.0, encryption)
    if kernel.params is not None:
        choice, wish = _pinned(kernel, shapes, wish)
    elif kernel.manual:
        choice = _manual(kernel, shapes, wish)
    else:
        graph = trace(kernel, shapes)
        wish = replace(wish_of(kernel, graph.output.bound, encryption), tower_bits=tower_bits)
        choice, wish = choose.choose(wish, partial(lower, graph, kernel.arguments), constants_are_ordinary)
    if kernel.scheme == "bfv" and not kernel.manual:
        choice = _levelled(choice, wish)
    if kernel.params is None and not kernel.manual:
        choice = choose.fewer_digits(choice, wish)
    arguments = {n: (shapes[n], a.encrypted, a.low, a.high) for n, a in kernel.arguments.items()}
    signature = Signature(kernel.name, kernel.variant, kernel.scheme, kernel.tolerance, arguments, kernel.publish)
    return Program.assembled(signature, choice.params, choice.circuit, choice.noise_bits, choice.rejected, encryption)


def _check_ranges(kernel: Kernel) -> None:
    """Refuse arguments that the kernel's own plain modulus cannot tell apart."""
    half = (kernel.plain_modulus or 0) // 2
    for name, argument in kernel.arguments.items():
        largest = magnitude(argument.range(name, exact=kernel.scheme == "bfv"))
        if half and largest > half:
            raise ParameterError(
                f"argument {name}: values up to {largest} wrap modulo plain_modulus {kernel.plain_modulus}; "
                f"declare at most {half}, or use a larger modulus"
            )


def traced_hash(kernel: Kernel, shapes: Shapes, params: ParameterSet) -> bytes:
    """Return a hash of what a kernel's function computes now, with what it captures (a manual one under `params`)."""
    if not kernel.manual:
        return content_hash(trace(kernel, shapes).nodes())
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


def _levelled(choice: choose.Choice, wish: choose.Wish) -> choose.Choice:
    """Run a BFV circuit at the lowest levels that keep the margin, or its budget where that is below the margin."""

    def budget(circuit: Circuit) -> float:
        return wish.bound(circuit, choice.params).bits

    enough = min(choice.noise_bits, wish.budget(choice.params.n))
    circuit = levels_bfv.descend(choice.circuit, lambda circuit: budget(circuit) >= enough)
    return replace(choice, circuit=circuit, noise_bits=budget(circuit))


def wish_of(kernel: Kernel, plain_bound: float, encryption: str) -> choose.Wish:
    """Return what a kernel asks of its parameters."""
    return choose.Wish(
        kernel.scheme,
        kernel.tolerance,
        kernel.security,
        kernel.standard,
        plain_bound,
        kernel.plain_modulus,
        encryption,
        kernel.publish,
        assume=noise.Assume.ALL if kernel.worst_case else noise.Assume.NONE,
        failure_bits=noise.failure_bits_of(publish=kernel.publish),
    )


def _checked(kernel: Kernel, plain_bound: float) -> ParameterSet:
    """Return the pinned set, with a plaintext modulus for BFV when the set leaves it open."""
    request = find(kernel.params) if isinstance(kernel.params, str) else kernel.params
    if not isinstance(request, ParamRequest):
        raise ParameterError(f"params={kernel.params!r}: the name of a set or a ParamRequest")
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


def _check_plain_modulus(kernel: Kernel, params: ParameterSet, plain_bound: float) -> None:
    t = params.plain_modulus
    if t % (2 * params.n) != 1:
        raise ParameterError(
            f"plaintext modulus {t} is not 1 mod {2 * params.n}, so n = {params.n} cannot pack values; "
            f"use {primes.plain_modulus(params.n, max(t, 2))}"
        )
    if kernel.plain_modulus is None and 2 * plain_bound + 1 > t:
        size = plain_bound if plain_bound < 1 << 64 else f"2^{int(plain_bound).bit_length() - 1}"
        raise ParameterError(f"results up to {size} wrap modulo t = {t}; use a larger plaintext modulus")


def _pinned(kernel: Kernel, shapes: Shapes, wish: choose.Wish) -> tuple[choose.Choice, choose.Wish]:
    """Compile for a given set, for the worst plaintexts if it has room for them."""
    if kernel.manual:
        params = _checked(kernel, 0)
        circuit = record(kernel, shapes, _chain_of(params))
        if kernel.scheme == "bfv":
            params = _checked(kernel, largest_result(circuit))
        return _settled(circuit, params, wish)
    graph = trace(kernel, shapes)
    params = _checked(kernel, graph.output.bound)
    program = lower(graph, kernel.arguments, params.geometry)
    circuit = _scheduled(kernel, program, params)
    try:
        return _settled(circuit, params, wish)
    except KernelError:
        if kernel.scheme != "bfv":
            raise
    # A set whose digits are too long to relinearise still carries a last product.
    circuit = schedule_bfv.schedule(program, len(params.moduli) - 1, relinearize_results=False)
    return _settled(circuit, params, wish)


def _settled(circuit: Circuit, params: ParameterSet, wish: choose.Wish) -> tuple[choose.Choice, choose.Wish]:
    """Check a circuit under a set, with the worst case for every plaintext, else for those that need it."""
    worst = replace(wish, assume=noise.Assume.ALL)
    try:
        return choose.Choice(params, circuit, _checked_noise(circuit, params, worst), ()), worst
    except (KernelError, ParameterError):
        if wish.assume is noise.Assume.ALL:
            raise
    if not constants_are_ordinary(circuit, params):
        wish = replace(wish, assume=noise.Assume.CONSTANTS)
    return choose.Choice(params, circuit, _checked_noise(circuit, params, wish), ()), wish


def _chain_of(params: ParameterSet) -> Chain:
    return Chain(params.scheme, params.geometry, params.moduli, params.log2_scale)


def _scheduled(kernel: Kernel, program: SlotProgram, params: ParameterSet) -> Circuit:
    """Schedule a slot program on a given chain."""
    if kernel.scheme == "bfv":
        return schedule_bfv.schedule(program, len(params.moduli) - 1)
    scheduled = schedule.schedule(program)
    if scheduled.depth > len(params.moduli) - 1:
        deepest = max(scheduled.planned, key=lambda planned: planned.depth)
        raise KernelError(
            f"{deepest.kind}: level {scheduled.depth} of rescaling is needed, parameter set {params.name} has "
            f"{len(params.moduli) - 1} (log2 q = {'+'.join(str(q.bit_length()) for q in params.moduli)}); "
            f"add {scheduled.depth - len(params.moduli) + 1} data primes or lower the multiplicative depth",
            deepest.where,
        )
    return schedule.resolve(scheduled, params.moduli, params.log2_scale)


def _checked_noise(circuit: Circuit, params: ParameterSet, wish: choose.Wish) -> float:
    found = wish.bound(circuit, params)
    if wish.scheme == "bfv":
        noise.check_bfv(found, params, publish=wish.publish)
    else:
        noise.check_ckks(found, 2.0 ** wish.wanted(params.n))
    return found.bits


def _manual(kernel: Kernel, shapes: Shapes, wish: choose.Wish) -> choose.Choice:
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
        keys = trial.switches_keys() or wish.encryption == "extended"
        depth += sum(step.kind in CIPHER_PRODUCTS for step in trial.steps) > 0 and kernel.scheme == "bfv"
        data = (min(60, scale + 15), *([scale] * depth))
        request = ParamRequest(
            n=n, data_bits=data, special_bits=(max(data),) if keys else (), log2_scale=scale, name="chosen",
            source="chosen for this kernel",
        )  # fmt: skip
        try:
            pinned = kernel.options(params=replace(request, plain_modulus=t))
            choice, _ = _pinned(pinned, shapes, wish)
        except ParameterError as error:
            rejected.append(choose.Rejected(n, f"n = {n}: {error}"))
            continue
        return choose.Choice(choice.params, choice.circuit, choice.noise_bits, tuple(rejected))
    raise ParameterError(f"no parameter set fits: {rejected[-1].reason}")
