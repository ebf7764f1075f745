# SPDX-License-Identifier: Apache-2.0
"""The choice of a parameter set for a traced kernel: the smallest that is secure and accurate.

For each ring degree, from small to large, the kernel is lowered for that many slots; its depth and noise give the
modulus it needs, and the first degree whose security limit allows that modulus is taken. The requirements of the
neighbours are kept: the alternatives of the parameter box.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from ringsmith import _native
from ringsmith.compiler.params import noise, primes
from ringsmith.compiler.params.keys import Keys
from ringsmith.compiler.params.sets import ParameterSet, judge, table_of
from ringsmith.compiler.params.steps import described
from ringsmith.compiler.scheduling import schedule_bfv, schedule_ckks
from ringsmith.errors import ParameterError, RingsmithError
from ringsmith.frontend.definition import CERTAIN, FAILURE_BITS
from ringsmith.ir.circuit import SWITCHES, Circuit
from ringsmith.ir.geometry import Slots, slots_of
from ringsmith.ir.slot_program import SlotProgram

DEGREES = tuple(1 << k for k in range(10, 18))
# Scales are about as large as the primes they are divided by, and these stay below 62 bits.
#: Data primes of a set (rlwe::MAX_PRIMES).
_MOST_PRIMES = 64
_MAX_SCALE = 60
#: Primes up to this length take the CPU engine's fastest transforms; chosen BFV primes are no longer.
CPU_TOWER_BITS = 46
# Bits kept between the bound on the noise and the point where BFV decrypts wrongly.
_BFV_MARGIN = 1.0
# By how many bits a larger scale may have a smaller modulus: its primes and base are not exactly as long as wished.
_SLACK_BITS = 6
# The largest total of data primes tried, in bits.
_MAX_BITS = 3600


@dataclass(frozen=True)
class Requirements:
    """Requirements of a kernel."""

    scheme: str
    tolerance: float
    security: int
    standard: str
    plain_bound: float
    plain_modulus: int | None
    encryption: str
    publish: bool = False
    tower_bits: int = CPU_TOWER_BITS
    assume: noise.Assume = noise.Assume.NONE
    failure_bits: int = FAILURE_BITS
    guarantee: str = CERTAIN
    #: Products of ciphertexts that follow each other, whatever the layout.
    least_depth: int = 0
    #: The least degree that is tried.
    least_degree: int = 0
    #: Results keep level and budget, for another program that takes them.
    keep: bool = False

    def wanted(self, n: int) -> float:
        """Return log2 of the error that a result may have before anything is added to publish it."""
        return math.log2(self.tolerance) - (noise.log2_publication(n, self.failure_bits) if self.publish else 0.0)

    def bound(self, circuit: Circuit, params: ParameterSet) -> noise.Noise:
        """Return the noise of a circuit under what is assumed."""
        if self.encryption == "extended" and not params.special:
            raise ParameterError(f'encryption="extended" needs special primes, the set {params.name} has none')
        return noise.bound(
            circuit, params, encryption=self.encryption, assume=self.assume, failure_bits=self.failure_bits,
            guarantee=self.guarantee,
        )  # fmt: skip

    def of_results(self, circuit: Circuit, params: ParameterSet, bits: float) -> list[Any]:
        """Return the noise of each result of a circuit whose guarantee is `bits`."""
        return noise.of_results(
            circuit, params, encryption=self.encryption, failure_bits=self.failure_bits, guarantee=self.guarantee,
            bits=bits,
        )  # fmt: skip

    def budget(self, n: int) -> float:
        """Return the bits of noise budget that a BFV result must be sure to keep."""
        return _BFV_MARGIN + (noise.publication_budget(n) if self.publish else 0.0)

    def scheduled(self, program: SlotProgram, fresh: int = 0) -> schedule_ckks.Schedule:
        """Return a CKKS program with its relinearisations and rescales placed; `fresh`: depth after a refresh."""
        return schedule_ckks.schedule(program, keep=self.keep, fresh=fresh)

    def at_level(self, program: SlotProgram, level: int) -> Circuit:
        """Return the BFV circuit of a program with all of it at a level."""
        return schedule_bfv.schedule(program, level)

    def account(self, circuit: Circuit) -> Callable[[int, int, int, int], int]:
        """Return the circuit's time by n, data primes, special primes and digits, in the engine's unit."""
        return described(circuit, self.encryption).work


class NoSetError(ParameterError):
    """No degree has a set that is secure and accurate enough."""


class TooDeepError(NoSetError):
    """Every secure modulus is too short for the levels: with refreshes a set may do."""


@dataclass(frozen=True)
class Rejected:
    """A degree that does not do, and why; `too_deep`: its modulus is too short for the levels."""

    n: int
    reason: str
    too_deep: bool = False


@dataclass(frozen=True)
class Choice:
    """A chosen set, the circuit for it, its noise figure and the smaller degrees that did not do."""

    params: ParameterSet
    circuit: Circuit
    noise_bits: float
    rejected: tuple[Rejected, ...]


#: A kernel's slot program, or what else `Requirements.scheduled` and `at_level` take.
Lower = Callable[[Slots], Any]
#: Tells whether a circuit's constants are ordinary plaintexts under a set.
Ordinary = Callable[[Circuit, ParameterSet], bool]


def choose(requirements: Requirements, lower: Lower, ordinary: Ordinary) -> tuple[Choice, Requirements]:
    """Return the smallest set for a kernel, and the requirements with what was assumed for it.

    `lower` gives the kernel's program for ciphertexts of some slots. Where the set has room for the worst plaintexts,
    its noise figure is theirs; if the kernel's constants turn out contrived, the search starts anew with the worst case
    for them.
    """
    found = smallest(requirements, lower)
    worst = replace(requirements, assume=noise.Assume.ALL)
    if (bits := _good_enough(worst, found.circuit, found.params)) is not None:
        return replace(found, noise_bits=bits), worst
    if requirements.assume is noise.Assume.NONE and not ordinary(found.circuit, found.params):
        return choose(replace(requirements, assume=noise.Assume.CONSTANTS), lower, ordinary)
    return found, requirements


def smallest(requirements: Requirements, lower: Lower) -> Choice:
    """Return the first degree's set that does."""
    rejected: list[Rejected] = []
    for choice in candidates(requirements, lower):
        if isinstance(choice, Rejected):
            rejected.append(choice)
            continue
        return Choice(choice.params, choice.circuit, choice.noise_bits, tuple(rejected))
    last = rejected[-1] if rejected else Rejected(0, "no degree tried")
    raise (TooDeepError if last.too_deep else NoSetError)(
        f"no parameter set is secure and accurate enough: {last.reason}"
    )


def candidates(requirements: Requirements, lower: Lower) -> Iterator[Choice | Rejected]:
    """Yield, for each degree from small to large, a set or the reason why there is none."""
    fit = _fit_ckks if requirements.scheme == "ckks" else _fit_bfv
    cached = cache(lower)
    for n in (n for n in DEGREES if n >= requirements.least_degree):
        limit = _native.max_log2_qp(n, requirements.security, table=table_of(requirements.standard))
        if limit is None:
            yield Rejected(n, f"the table has no {requirements.security}-bit entry for n = {n}")
            continue
        yield fit(requirements, cached, n, limit)


def _parameter_set(
    requirements: Requirements, n: int, data: tuple[int, ...], special: tuple[int, ...], dnum: int, **more: float
) -> ParameterSet:
    log2_qp = sum(math.log2(q) for q in (*data, *special))
    return ParameterSet(
        scheme=requirements.scheme, n=n, moduli=data, special=special, dnum=dnum, secret="ternary", error="binomial:21",
        log2_scale=more.get("log2_scale", 0.0), plain_modulus=int(more.get("plain_modulus", 0)),
        security=judge(n, log2_qp, requirements.security, requirements.standard), name="chosen",
        source="chosen for this kernel",
    )  # fmt: skip


def _within_limit(requirements: Requirements, found: Choice, limit: int) -> Choice | Rejected:
    """Return the choice if it is secure, if need be with a shorter special prime where the noise allows one."""
    params = found.params
    if params.log2_qp <= limit:
        return found
    if special := _shorter_special(params, math.floor(limit - params.log2_q)):
        more = {"log2_scale": params.log2_scale, "plain_modulus": params.plain_modulus}
        shorter = _parameter_set(requirements, params.n, params.moduli, special, params.dnum, **more)
        bits = _good_enough(requirements, found.circuit, shorter)
        if bits is not None:
            return Choice(shorter, found.circuit, bits, ())
    wanted = params.security.wanted
    return Rejected(
        params.n,
        f"n = {params.n}: primes of {params.split} bits are needed there, {wanted} bits of security allow {limit}",
        too_deep=True,
    )


def _shorter_special(params: ParameterSet, bits: int) -> tuple[int, ...]:
    """Return a special prime of that many bits for a set that has one; none where there is no such prime."""
    if len(params.special) != 1 or bits < math.log2(2 * params.n) + 2:
        return ()
    try:
        return primes.of_sizes(params.n, [bits], (*params.moduli, params.plain_modulus))
    except ParameterError:
        return ()


def _good_enough(requirements: Requirements, circuit: Circuit, params: ParameterSet) -> float | None:
    """Return the noise figure of a circuit under a set, or None if it misses what is wished."""
    found = requirements.bound(circuit, params)
    exact = requirements.scheme == "bfv"
    good = found.bits >= requirements.budget(params.n) if exact else _accurate(requirements, params.n, found)
    return found.bits if good else None


def _accurate(requirements: Requirements, n: int, found: noise.Noise) -> bool:
    """Return whether a CKKS circuit meets the tolerance and nothing overflows."""
    return found.bits <= requirements.wanted(n) and found.overflow_bits <= 0


def fewer_digits(choice: Choice, requirements: Requirements, keys_limit: int | None = None) -> Choice:
    """Spend room that the degree leaves on special primes, hence fewer digits, where that makes the circuit faster, or
    where the evaluation keys exceed a limit of bytes and then take less.

    Time is the engine's account of the circuit's steps at their levels (crates/program/src/cost).
    """
    params = choice.params
    count, limit = len(params.moduli), params.security.limit
    if not params.special or limit is None:
        return choice
    work = partial(requirements.account(choice.circuit), params.n, count)
    keys = None if keys_limit is None else Keys.of(choice.circuit)

    def taken(own: ParameterSet) -> tuple[int, int]:
        excess = keys.nbytes(own) - keys_limit if keys and keys_limit is not None else 0
        return max(excess, 0), work(len(own.special), own.dnum)

    best, least = choice, taken(params)
    for specials in range(2, count + 1):
        special = primes.special_primes(params.n, params.moduli, specials, params.plain_modulus)
        more = {"log2_scale": params.log2_scale, "plain_modulus": params.plain_modulus}
        wider = _parameter_set(requirements, params.n, params.moduli, special, -(-count // specials), **more)
        if wider.log2_qp > limit:
            break
        if taken(wider) < least and (bits := _good_enough(requirements, choice.circuit, wider)) is not None:
            best, least = replace(choice, params=wider, noise_bits=bits), taken(wider)
    return best


# ------------------------------------------------------------------------------------------------ CKKS


def _fit_ckks(requirements: Requirements, lower: Lower, n: int, limit: int) -> Choice | Rejected:
    """Find the least scale that meets the tolerance in a set that is secure.

    A larger tolerance accepts every set that a smaller one does and meets them in the same order: it never fails where
    the smaller one succeeds.
    """
    least = int(math.log2(2 * n)) + 4
    precision = max(least, math.ceil(-requirements.wanted(n)) + 8)
    if precision + 4 > limit:
        return Rejected(n, f"n = {n} allows {limit} bits in all; the precision alone takes a scale of {precision} bits")
    if (requirements.least_depth + 1) * least > limit:
        return _too_deep(n, limit, requirements.least_depth, least)
    scheduled = requirements.scheduled(lower(slots_of("ckks", n)))
    if (scheduled.depth + 1) * least > limit:
        return _too_deep(n, limit, scheduled.depth, least)
    if scheduled.depth + 1 > _MOST_PRIMES:
        needed = f"n = {n}: {scheduled.depth + 1} data primes are needed, a set has {_MOST_PRIMES} at most"
        return Rejected(n, needed, too_deep=True)
    first = _least_scale(requirements, scheduled, n, least)
    room = limit - _least_special(requirements, scheduled, n)
    if first > _MAX_SCALE:
        return Rejected(n, f"n = {n}: {_too_inaccurate(requirements, scheduled, n)}")
    # Every prime is about as long as the scale, the base longer than that.
    rejected = _too_deep(n, limit, scheduled.depth, first)
    for scale in range(first, min(_MAX_SCALE, math.ceil(room / (scheduled.depth + 1))) + 1):
        if found := _with_scale(requirements, scheduled, n, scale):
            secure = _within_limit(requirements, found, limit)
            if isinstance(secure, Choice):
                return secure
            rejected = secure
            if found.params.log2_q > room + _SLACK_BITS:
                break
    return rejected


def _too_deep(n: int, limit: int, depth: int, least: int) -> Rejected:
    reason = f"n = {n} allows {limit} bits; {depth + 1} primes of {least} bits or more exceed them"
    return Rejected(n, reason, too_deep=True)


def _least_special(requirements: Requirements, scheduled: schedule_ckks.Schedule, n: int) -> float:
    """Return the bits of the shortest special prime, if one is needed."""
    return math.log2(2 * n) + 2 if _needs_special(requirements, scheduled) else 0.0


def _least_scale(requirements: Requirements, scheduled: schedule_ckks.Schedule, n: int, least: int) -> int:
    """Return the least scale in bits that is accurate enough, by bisection; one more than the largest if none is."""
    low, high = least, _MAX_SCALE + 1
    while low < high:
        middle = (low + high) // 2
        if _log2_error(requirements, scheduled, n, middle) <= requirements.wanted(n):
            high = middle
        else:
            low = middle + 1
    return low


def _log2_error(requirements: Requirements, scheduled: schedule_ckks.Schedule, n: int, scale: int) -> float:
    """Return log2 of the error at a scale in bits, whether or not the base has room for the result."""
    trial = _trial(requirements, scheduled, n, scale, 60.0)
    return math.inf if trial is None else trial[1].bits


def _too_inaccurate(requirements: Requirements, scheduled: schedule_ckks.Schedule, n: int) -> str:
    """Say what the largest scale reaches."""
    reached = noise.power_of_two(_log2_error(requirements, scheduled, n, _MAX_SCALE))
    wanted = noise.power_of_two(requirements.wanted(n))
    return f"at the largest scale, 2^{_MAX_SCALE}, the error may still reach {reached}, which is more than {wanted}"


def _trial(
    requirements: Requirements, scheduled: schedule_ckks.Schedule, n: int, scale: int, base: float
) -> tuple[Choice, noise.Noise] | None:
    """Return the set for a scale and a base in bits, with its noise; None where there are no such primes."""
    try:
        data = primes.ckks_chain(n, scheduled.depth, scale, base)
        special = primes.special_primes(n, data, int(_needs_special(requirements, scheduled)))
    except RingsmithError:
        return None
    params = _parameter_set(requirements, n, data, special, len(data), log2_scale=scale)
    circuit = scheduled.resolved(data, scale)
    found = requirements.bound(circuit, params)
    return Choice(params, circuit, found.bits, ()), found


def _with_scale(requirements: Requirements, scheduled: schedule_ckks.Schedule, n: int, scale: int) -> Choice | None:
    """Return the set for a scale, its base just large enough for values and errors; None if it misses them."""
    base, best = 60.0, None
    for _ in range(4):
        trial = _trial(requirements, scheduled, n, scale, base)
        if trial is None:
            break
        choice, found = trial
        if _accurate(requirements, n, found):
            best = choice
            if found.overflow_bits >= -2.0:
                break
        if not found.overflow_bits < _MAX_BITS:
            break
        base = max(base + math.ceil(found.overflow_bits) + 1, math.log2(2 * n) + 4, scale / 2)
    return best


def _needs_special(requirements: Requirements, scheduled: schedule_ckks.Schedule) -> bool:
    """Return whether keys are switched, or the public key is extended."""
    switches = any(planned.kind in SWITCHES for planned in scheduled.planned)
    return switches or requirements.encryption == "extended"


# ------------------------------------------------------------------------------------------------ BFV

#: 2n of the least degree there is.
_LEAST_ORDER = 2048


def _fit_bfv(requirements: Requirements, lower: Lower, n: int, limit: int) -> Choice | Rejected:
    """Find the least modulus whose noise bound leaves a margin."""
    t = requirements.plain_modulus or primes.plain_modulus(n, 2 * int(requirements.plain_bound) + 2)
    if t.bit_length() > primes.MAX_PLAIN_BITS:
        raise ParameterError(f"plain_modulus {t} has more than {primes.MAX_PLAIN_BITS} bits")
    if t % _LEAST_ORDER != 1 or not _native.is_prime(t):
        raise ParameterError(
            f"plain_modulus={t}: values stand in slots, which need a prime 1 mod 2n, such as 65537 (n to 32768) "
            "or 786433 (n to 131072); without plain_modulus kernels compute with integers"
        )
    if t % (2 * n) != 1:
        return Rejected(n, f"plain modulus {t} is no prime 1 mod {2 * n}, so n = {n} cannot pack values")
    if t.bit_length() + 10 > limit:
        return Rejected(n, f"n = {n} allows {limit} bits in all; the plaintext modulus alone has {t.bit_length()}")
    program, margin = lower(slots_of("bfv", n)), requirements.budget(n)
    floor, step = t.bit_length() + 8, 8
    low, high = floor, floor
    found = _with_bits(requirements, program, n, high, t)
    while found.noise_bits < margin:
        low, high, step = high, high + step, step * 2
        if high > min(limit * 2, _MAX_BITS):
            return Rejected(n, f"n = {n} allows {limit} bits; the noise needs more than {low}")
        found = _with_bits(requirements, program, n, high, t)
    while high - low > 1:
        middle = (low + high) // 2
        trial = _with_bits(requirements, program, n, middle, t)
        if trial.noise_bits >= margin:
            found, high = trial, middle
        else:
            low = middle
    return _within_limit(requirements, found, limit)


def _with_bits(requirements: Requirements, program: SlotProgram, n: int, bits: int, t: int) -> Choice:
    """Return the set with `bits` bits of data primes, none longer than the engine's towers."""
    count = -(-bits // requirements.tower_bits)
    least = int(math.log2(2 * n)) + 2
    sizes = [max(least, bits // count + (i < bits % count)) for i in range(count)]
    data = primes.of_sizes(n, sizes, (t,))
    circuit = requirements.at_level(program, len(data) - 1)
    needs = circuit.switches_keys() or requirements.encryption == "extended"
    special = primes.of_sizes(n, [max(sizes)], (*data, t)) if needs else ()
    params = _parameter_set(requirements, n, data, special, len(data), plain_modulus=t)
    return Choice(params, circuit, requirements.bound(circuit, params).bits, ())
