# SPDX-License-Identifier: Apache-2.0
"""Static noise: what a circuit's results can be off by, and whether anything overflows, before it runs.

The engine carries its bounds along the circuit (`_native.Circuit`), the same that hold a program's guarantee when it is
read. They fail with probability below 2^-failure_bits.

What a plaintext does depends on its values: multiplying by it raises BFV noise by its gain, encoding it for CKKS rounds
its coefficients. Both have a worst case that only contrived values reach, and a limit that ordinary ones stay below
(but for one in 2^40). `Assume` says which of them a bound holds for; with the smaller limits a program's plaintexts are
measured before they are used (`Effects`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ringsmith import _native
from ringsmith.compiler.params import bootstrapping
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.compiler.params.steps import described
from ringsmith.errors import KernelError, ParameterError
from ringsmith.frontend.definition import CERTAIN, FAILURE_BITS, PROBABLE
from ringsmith.ir.circuit import Circuit, Step

#: Statistical security in bits of a published decryption, and how many decryptions share it.
PUBLISH_BITS, PUBLISH_QUERIES = 30, 1024


class Assume(IntEnum):
    """Which plaintexts are taken to be the worst possible ones; the others are ordinary. Each includes those before."""

    NONE = 0
    CONSTANTS = 1
    ALL = 2


#: Measured plaintexts, by number and scale: BFV log2 of the gain, CKKS the rounding times the scale.
Effects = Mapping[tuple[int, float], float]


class NoRoomError(KernelError):
    """A given set has no room for a circuit's noise, its error or its levels."""


class TooFarError(NoRoomError):
    """Two refreshes of a kernel's own places are further apart than the levels of a set: of `n`, with refreshes that
    err by 2^`log2_error` on values up to 1; `levels` are needed between them."""

    n: int
    log2_error: float
    levels: int


class NotExactError(ParameterError):
    """A given set misses a circuit's tolerance: by `excess` bits; `params` is the set of one that is refreshed."""

    excess: float = math.inf
    params: ParameterSet | None = None


@dataclass(frozen=True)
class Noise:
    """Noise bound of a circuit's results.

    `bits`: CKKS log2 of the bound on an error, BFV the noise budget in bits that the poorest result keeps. `step` is
    that result in BFV, in CKKS the fullest step; `overflow_bits` are those by which it exceeds its modulus (< 0: room).
    """

    bits: float
    overflow_bits: float
    step: Step


def _estimator(params: ParameterSet, failure_bits: int) -> _native.BfvEstimator | _native.CkksEstimator:
    moduli, special = list(params.moduli), list(params.special)
    if params.scheme == "bfv":
        return _native.BfvEstimator(
            params.n, moduli, special, params.plain_modulus, dnum=params.dnum, secret=params.secret,
            error=params.error, failure_bits=failure_bits,
        )  # fmt: skip
    return _native.CkksEstimator(
        params.n, moduli, special, dnum=params.dnum, secret=params.secret, error=params.error,
        failure_bits=failure_bits,
    )  # fmt: skip


def ordinary_effect(params: ParameterSet) -> float:
    """Return the limit that the effects of ordinary plaintexts stay below."""
    estimator = _estimator(params, FAILURE_BITS)
    return estimator.log2_random_gain if isinstance(estimator, _native.BfvEstimator) else estimator.random_rounding


def bound(
    circuit: Circuit,
    params: ParameterSet,
    *,
    encryption: str,
    assume: Assume = Assume.NONE,
    failure_bits: int = FAILURE_BITS,
    guarantee: str = CERTAIN,
) -> Noise:
    """Return what the results of a circuit are sure to be under a set.

    In CKKS a promise about some of the slots (`rs.within`) counts for the error, not for overflow: the other
    slots hold other values and would spoil the rest if they wrapped.
    """
    failure_bits, refresh = _shared(circuit, params, failure_bits)
    estimator = _estimator(params, failure_bits)
    native = described(circuit, encryption, with_ranges=guarantee == PROBABLE, refresh=refresh)
    found = estimator.bound(native, assume.name.lower(), guarantee)
    return Noise(found["bits"], found["overflow_bits"], circuit.steps[int(found["step"])])


def of_results(
    circuit: Circuit, params: ParameterSet, *, encryption: str, failure_bits: int, guarantee: str, bits: float
) -> list[Any]:  # fmt: skip
    """Return the noise of each result of a circuit whose guarantee is `bits`, as a program that takes it reckons."""
    failure_bits, refresh = _shared(circuit, params, failure_bits)
    native = described(circuit, encryption, with_ranges=guarantee == PROBABLE, refresh=refresh)
    return _estimator(params, failure_bits).results(native, bits)


def _shared(
    circuit: Circuit, params: ParameterSet, failure_bits: int
) -> tuple[int, tuple[_native.Bootstrapping, int] | None]:
    """Return the failure bits of noise, and the bootstrapping with them: refreshes have half of the probability that a
    program states."""
    if not (count := circuit.refreshes()):
        return failure_bits, None
    own = bootstrapping.native(params)
    if own.log2_failure + math.log2(count) > -failure_bits - 1:
        raise ParameterError(
            f"{count} refreshes fail with probability 2^{own.log2_failure + math.log2(count):.1f} in all, "
            f"2^-{failure_bits + 1} is their share; use a log2_failure of {-failure_bits - 1 - math.log2(count):.1f}, "
            "or a smaller failure_bits of the kernel"
        )
    return failure_bits + 1, (own, failure_bits + 1)


def log2_publication(n: int, failure_bits: int = FAILURE_BITS) -> float:
    """Return log2 of the factor by which publishing raises the bound on a slot's error."""
    return _native.ckks_publication_bits(n, failure_bits)


def publication_budget(n: int) -> float:
    """Return the bits of noise budget that publishing a BFV result takes (docs/bfv.md)."""
    return _native.bfv_publication_bits(n, security_bits=PUBLISH_BITS, queries=PUBLISH_QUERIES)


def power_of_two(log2: float) -> str:
    """Return 2^log2 in three digits, as a power where a double does not hold it, or infinity."""
    if not math.isfinite(log2):
        return "infinity"
    return f"{2.0**log2:.3g}" if abs(log2) < 1000 else f"2^{log2:.0f}"


def _bits(count: float) -> str:
    return f"{count:.1f} bits" if math.isfinite(count) else "over 1000 bits"


def check_ckks(noise: Noise, tolerance: float) -> None:
    """Refuse a circuit that would overflow or miss its tolerance."""
    step = noise.step
    if noise.overflow_bits > 0:
        raise NoRoomError(
            f"{step.kind}: value and error need {_bits(noise.overflow_bits)} more than the modulus has "
            f"at level {step.level} (scale 2^{math.log2(step.scale):.1f}); use a smaller scale, a larger first prime "
            "or one more level",
            step.where,
        )
    if noise.bits > math.log2(tolerance):
        missed = NotExactError(
            f"the result's error may reach {power_of_two(noise.bits)}, the tolerance is {tolerance:.3g}; use a "
            f"scale {math.ceil(noise.bits - math.log2(tolerance))} bits larger, or accept a larger tolerance"
        )
        missed.excess = noise.bits - math.log2(tolerance)
        raise missed


def check_bfv(noise: Noise, params: ParameterSet, *, publish: bool) -> None:
    """Refuse a circuit whose results might not decrypt, or with `publish` not be flooded."""
    budget, step = noise.bits, noise.step
    if budget <= 0:
        raise NoRoomError(
            f"{step.kind}: the noise may exceed what log2 q = {params.log2_q:.0f} bits hold by {-budget:.1f} bits, "
            f"so the result could decrypt wrongly; use about {math.ceil(-budget) + 1} bits more of modulus, "
            "or fewer multiplications",
            step.where,
        )
    needed = publication_budget(params.n) if publish else 0.0
    if budget < needed:
        raise NoRoomError(
            f"publish=True: hiding the noise of a result takes {needed:.1f} bits of noise budget, the circuit is sure "
            f"to leave {budget:.1f} of log2 q = {params.log2_q:.0f}; "
            f"use about {math.ceil(needed - budget)} bits more of modulus",
            step.where,
        )
