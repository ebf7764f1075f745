# SPDX-License-Identifier: Apache-2.0
"""Static noise: what a circuit's results can be off by, and whether anything overflows, before it runs.

The bounds of single operations are the engine's (`CkksEstimator`, `BfvEstimator`); here they are
carried along a circuit. They fail with probability below 2^-failure_bits.

What a plaintext does depends on its values: multiplying by it raises BFV noise by its gain, encoding it for CKKS rounds
its coefficients. Both have a worst case that only contrived values reach, and a limit that ordinary ones stay below
(but for one in 2^40). `Assume` says which of them a bound holds for; with the smaller limits a program's plaintexts are
measured before they are used (`Effects`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from ringsmith import _native
from ringsmith.errors import KernelError, ParameterError
from ringsmith.kernel.circuit import Circuit, Step
from ringsmith.kernel.slots import Kind
from ringsmith.params.sets import ParameterSet

_T = TypeVar("_T")

#: Statistical security in bits of a published decryption, and how many decryptions share it.
PUBLISH_BITS, PUBLISH_QUERIES = 30, 1024


#: A bound fails with probability below 2^-FAILURE_BITS unless another figure is asked for.
FAILURE_BITS = 40
#: The same for results that are published: who collects them must not find one that exceeds its bound.
PUBLISHED_FAILURE_BITS = 128


def failure_bits_of(*, publish: bool) -> int:
    """Return the failure probability that a kernel's bounds keep."""
    return PUBLISHED_FAILURE_BITS if publish else FAILURE_BITS


class Assume(IntEnum):
    """Which plaintexts are taken to be the worst possible ones; the others are ordinary. Each includes those before."""

    NONE = 0
    CONSTANTS = 1
    ALL = 2


#: A plaintext as it is encoded: its number and scale.
Encoded = tuple[int, float]
#: Measured plaintexts: BFV log2 of the gain, CKKS the rounding times the scale.
Effects = Mapping[Encoded, float]
_WITH_PLAIN = {
    "bfv": (Kind.MULTIPLY_PLAIN, Kind.LINEAR_TRANSFORM),
    "ckks": (Kind.MULTIPLY_PLAIN, Kind.LINEAR_TRANSFORM, Kind.ADD_PLAIN, Kind.SUB_PLAIN),
}


def encodings(circuit: Circuit) -> dict[Encoded, Step]:
    """Return the plaintexts whose values bear on the noise, each with the first step that uses it."""
    found: dict[Encoded, Step] = {}
    for step in circuit.steps:
        for plain in step.plains if step.kind in _WITH_PLAIN[circuit.scheme] else []:
            if _factor(circuit, plain, step.plain_scale) is None:
                found.setdefault((plain, step.plain_scale), step)
    return found


def _factor(circuit: Circuit, plain: int, scale: float) -> int | None:
    """Return the integer that an unscaled plaintext has in all slots: a factor, neither spread nor rounded."""
    return circuit.plains[plain].integer if scale == 1.0 else None


@dataclass(frozen=True)
class Plaintexts:
    """What bounds reckon with: what was measured, else what is assumed."""

    assume: Assume = Assume.NONE
    measured: Effects | None = None

    def effect(self, circuit: Circuit, key: Encoded, ordinary: float) -> float | None:
        """Return the effect of a plaintext; None for the worst case."""
        if self.measured is not None and key in self.measured:
            return self.measured[key]
        constant = circuit.plains[key[0]].constant
        return None if self.assume >= (Assume.CONSTANTS if constant else Assume.ALL) else ordinary


def ordinary_effect(params: ParameterSet) -> float:
    """Return the limit that the effects of ordinary plaintexts stay below."""
    if params.scheme == "bfv":
        return _bfv_estimator(params, FAILURE_BITS).log2_random_gain
    return ckks_estimator(params).random_rounding


ORDINARY = Plaintexts()
WORST = Plaintexts(Assume.ALL)


@dataclass(frozen=True)
class CkksNoise:
    """log2 of the bound on a result's error, and the bits by which the fullest step exceeds its modulus (< 0: room)."""

    log2_error: float
    overflow_bits: float
    fullest: Step


def ckks_estimator(params: ParameterSet, failure_bits: int = FAILURE_BITS) -> _native.CkksEstimator:
    """Return the engine's bounds for a set."""
    return _native.CkksEstimator(
        params.n, list(params.moduli), list(params.special), dnum=params.dnum, secret=params.secret,
        error=params.error, failure_bits=failure_bits,
    )  # fmt: skip


def ckks(
    circuit: Circuit,
    params: ParameterSet,
    *,
    encryption: str = "secret",
    plaintexts: Plaintexts = ORDINARY,
    failure_bits: int = FAILURE_BITS,
) -> CkksNoise:
    """Bound the error of a CKKS circuit's results and find its fullest step.

    Two walks: with the author's promises (`rs.within`) for the error of the slots that matter, and for overflow without
    those that leave out slots, since what nobody looks at holds other values and would spoil the rest if it wrapped.
    """
    estimator = ckks_estimator(params, failure_bits)
    promised = _CkksWalk(circuit, params, estimator, promises=True, encryption=encryption, plaintexts=plaintexts)
    values = promised.run()
    # Not a number: values and errors beyond the range of doubles.
    errors = (estimator.log2_slot_error(values[number]) for number in circuit.outputs)
    log2_error = max(math.inf if math.isnan(error) else error for error in errors)
    if any(step.kind is Kind.WITHIN and not step.everywhere for step in circuit.steps):
        free = _CkksWalk(circuit, params, estimator, promises=False, encryption=encryption, plaintexts=plaintexts)
        free.run()
    else:
        free = promised
    return CkksNoise(log2_error, free.overflow_bits, free.fullest)


class _CkksWalk:
    """Carries the engine's estimates along a circuit."""

    def __init__(
        self,
        circuit: Circuit,
        params: ParameterSet,
        estimator: _native.CkksEstimator,
        *,
        promises: bool,
        encryption: str,
        plaintexts: Plaintexts,
    ) -> None:
        self.circuit = circuit
        self.promises = promises
        self.encryption = encryption
        self.plaintexts = plaintexts
        self.estimator = estimator
        self.log2_moduli = [math.log2(q) for q in params.moduli]
        self.overflow_bits = -math.inf
        self.fullest = circuit.steps[0]

    def run(self) -> list[_native.CkksEstimate]:
        names = [name for name, packing in self.circuit.inputs.items() for _ in packing.gather]
        values: list[_native.CkksEstimate] = []
        for step in self.circuit.steps:
            if step.kind is Kind.INPUT:
                value = self._encrypted(self.circuit.bounds[names[len(values)]], step)
            else:
                value = self._step(step, [values[arg] for arg in step.args])
            values.append(value)
            self._measure(step, value)
        return values

    def _encrypted(self, bound: float, step: Step) -> _native.CkksEstimate:
        # Nobody measures what a client encrypts, so its rounding is the worst there is; a zero is not rounded.
        encoded = self.estimator.encode(bound, step.level, step.scale, rounding=None if bound else 0.0)
        public = self.encryption == "public" or step.kind is Kind.ENCRYPT_ZERO
        return self.estimator.encrypt_public(encoded) if public else self.estimator.encrypt_secret(encoded)

    def _step(self, step: Step, args: list[_native.CkksEstimate]) -> _native.CkksEstimate:
        e = self.estimator
        match step.kind:
            case Kind.ENCRYPT_ZERO:
                return self._encrypted(0.0, step)
            case Kind.ADD | Kind.SUB:
                return e.add(args[0], args[1])
            case Kind.MULTIPLY:
                return e.multiply(args[0], args[1])
            case Kind.SQUARE:
                return e.multiply(args[0], args[0])
            case Kind.ADD_PLAIN | Kind.SUB_PLAIN:
                return e.add(args[0], self._encoded(step.plain, step))
            case Kind.MULTIPLY_PLAIN:
                return self._multiply_plain(step, args[0])
            case Kind.RELINEARIZE:
                return e.relinearize(args[0])
            case Kind.RELINEARIZE_RESCALE:
                return e.relinearize_rescale(args[0])
            case Kind.LINEAR_TRANSFORM:
                return e.linear_transform(args[0], _giants(step, lambda plain: self._encoded(plain, step)))
            case Kind.ROTATE:
                return e.rotate(args[0])
            case Kind.RESCALE:
                return e.rescale(args[0])
            case Kind.MOD_DROP:
                return e.drop_to(args[0], step.level)
            case Kind.WITHIN:
                return e.limit(args[0], step.bound) if self.promises or step.everywhere else args[0]
        return args[0]

    def _encoded(self, plain: int, step: Step) -> _native.CkksEstimate:
        if _factor(self.circuit, plain, step.plain_scale) is not None:
            rounding: float | None = 0.0
        else:
            key = (plain, step.plain_scale)
            rounding = self.plaintexts.effect(self.circuit, key, self.estimator.random_rounding)
        bound = self.circuit.plains[plain].bound
        return self.estimator.encode(bound, step.level, step.plain_scale, rounding=rounding)

    def _multiply_plain(self, step: Step, value: _native.CkksEstimate) -> _native.CkksEstimate:
        factor = _factor(self.circuit, step.plain, step.plain_scale)
        if factor is not None:
            return _repeated(self.estimator, value, abs(factor))
        return self.estimator.multiply(value, self._encoded(step.plain, step))

    def _measure(self, step: Step, value: _native.CkksEstimate) -> None:
        """Keep the step that comes nearest to half its modulus; the engine wants room for the scale itself."""
        content = log2_sum(math.log2(max(value.message, 1.0)), self.estimator.log2_slot_error(value))
        needed = content + math.log2(value.scale) + 1.0
        over = needed - sum(self.log2_moduli[: value.level + 1])
        if over > self.overflow_bits:
            self.overflow_bits, self.fullest = over, step


def log2_sum(a: float, b: float) -> float:
    """Return log2(2^a + 2^b); the terms may exceed the range of doubles."""
    low, high = sorted((a, b))
    return high + math.log2(1.0 + 2.0 ** max(low - high, -1000.0)) if math.isfinite(high) else high


def _repeated(estimator: _native.CkksEstimator, value: _native.CkksEstimate, count: int) -> _native.CkksEstimate:
    """Return a bound on `count` times a value: an exact integer adds no rounding, and 0 times it is no more than it."""
    total, block = None, value
    while count:
        if count & 1:
            total = block if total is None else estimator.add(total, block)
        block, count = estimator.add(block, block), count >> 1
    return value if total is None else total


def log2_publication(n: int, failure_bits: int = FAILURE_BITS) -> float:
    """Return log2 of the factor by which publishing raises the bound on a slot's error.

    The added noise has the deviation sqrt(12 queries) 2^(bits/2) times the bound; the largest of its n/2 slots stays
    below sqrt(n (ln(n/2) + failure_bits ln 2)) deviations (Li, Micciancio, Schultz, Sorrell, ePrint 2022/816).
    """
    tail = math.log(n / 2) + failure_bits * math.log(2)
    return PUBLISH_BITS / 2 + math.log2(math.sqrt(12 * PUBLISH_QUERIES * n * tail))


def publication_budget(n: int) -> float:
    """Return the bits of noise budget that publishing a BFV result takes (docs/bfv.md)."""
    return _native.bfv_publication_bits(n, security_bits=PUBLISH_BITS, queries=PUBLISH_QUERIES)


def power_of_two(log2: float) -> str:
    """Return 2^log2 in three digits, as a power where a double does not hold it, or infinity."""
    if not math.isfinite(log2):
        return "infinity"
    return f"{2.0**log2:.3g}" if abs(log2) < 1000 else f"2^{log2:.0f}"


def check_ckks(
    circuit: Circuit,
    params: ParameterSet,
    tolerance: float,
    *,
    encryption: str = "secret",
    plaintexts: Plaintexts = ORDINARY,
    failure_bits: int = FAILURE_BITS,
) -> CkksNoise:
    """Refuse a circuit that would overflow or miss its tolerance."""
    noise = ckks(circuit, params, encryption=encryption, plaintexts=plaintexts, failure_bits=failure_bits)
    step = noise.fullest
    if noise.overflow_bits > 0:
        raise KernelError(
            f"{step.kind}: value and error need {noise.overflow_bits:.1f} bits more than the modulus has "
            f"at level {step.level} (scale 2^{math.log2(step.scale):.1f}); use a smaller scale, a larger first prime "
            "or one more level",
            step.where,
        )
    if noise.log2_error > math.log2(tolerance):
        raise ParameterError(
            f"the result's error may reach {power_of_two(noise.log2_error)}, the tolerance is {tolerance:.3g}; use a "
            f"scale {math.ceil(noise.log2_error - math.log2(tolerance))} bits larger, or accept a larger tolerance"
        )
    return noise


def _bfv_estimator(params: ParameterSet, failure_bits: int) -> _native.BfvEstimator:
    return _native.BfvEstimator(
        params.n, list(params.moduli), list(params.special), params.plain_modulus,
        dnum=params.dnum, secret=params.secret, error=params.error, failure_bits=failure_bits,
    )  # fmt: skip


def bfv(
    circuit: Circuit,
    params: ParameterSet,
    *,
    encryption: str = "public",
    plaintexts: Plaintexts = ORDINARY,
    failure_bits: int = FAILURE_BITS,
) -> tuple[float, Step]:
    """Return the noise budget in bits that the poorest result keeps, and the step that makes it."""
    estimator = _bfv_estimator(params, failure_bits)
    values: list[_native.BfvEstimate] = []
    for step in circuit.steps:
        args = [values[arg] for arg in step.args]
        values.append(_bfv_step(estimator, circuit, step, args, encryption, plaintexts))
    budgets = [(estimator.log2_budget(values[number]), circuit.steps[number]) for number in circuit.outputs]
    return min(budgets, key=lambda pair: pair[0])


def _bfv_step(
    e: _native.BfvEstimator,
    circuit: Circuit,
    step: Step,
    args: list[_native.BfvEstimate],
    encryption: str,
    plaintexts: Plaintexts,
) -> _native.BfvEstimate:
    """Carry the estimate through one operation."""
    match step.kind:
        case Kind.INPUT | Kind.ENCRYPT_ZERO:
            secret = encryption == "secret" and step.kind is Kind.INPUT
            # A zero below the top level is encrypted there and switched down.
            return _switched(e, e.encrypt_secret() if secret else e.encrypt_public(), step.level)
        case Kind.ADD | Kind.SUB:
            return e.add(args[0], args[1])
        case Kind.MULTIPLY:
            return e.multiply(args[0], args[1])
        case Kind.SQUARE:
            return e.multiply(args[0], args[0])
        case Kind.ADD_PLAIN | Kind.SUB_PLAIN:
            return e.add_plain(args[0])
        case Kind.MULTIPLY_PLAIN:
            return e.multiply_plain(args[0], log2_gain=_gain(e, circuit, step.plain, plaintexts))
        case Kind.LINEAR_TRANSFORM:
            return e.linear_transform(args[0], _giants(step, lambda plain: _gain(e, circuit, plain, plaintexts)))
        case Kind.RELINEARIZE:
            return e.relinearize(args[0])
        case Kind.ROTATE | Kind.SWAP_ROWS:
            return e.rotate(args[0])
        case Kind.MOD_DROP:
            return _switched(e, args[0], step.level)
    return args[0]


def _gain(e: _native.BfvEstimator, circuit: Circuit, plain: int, plaintexts: Plaintexts) -> float:
    """Return log2 of the gain of multiplying by a plaintext; a factor stays a constant polynomial."""
    factor = _factor(circuit, plain, 1.0)
    if factor is not None:
        return 2.0 * math.log2(max(abs(factor), 1))
    effect = plaintexts.effect(circuit, (plain, 1.0), e.log2_random_gain)
    return e.log2_worst_gain if effect is None else effect


def _giants(step: Step, plaintext: Callable[[int], _T]) -> list[tuple[bool, list[tuple[bool, _T | None]]]]:
    """Return a transform as the estimators take it: what rotates, and the estimate of each plaintext."""
    transform = step.transform
    if transform is None:
        raise AssertionError("a linear transform has a transform")
    return [
        (g.rotation != 0, [(t.rotation != 0, plaintext(t.plain) if t.plain >= 0 else None) for t in g.terms])
        for g in transform.giants
    ]


def _switched(e: _native.BfvEstimator, value: _native.BfvEstimate, level: int) -> _native.BfvEstimate:
    while value.level > level:
        value = e.mod_switch(value)
    return value


def check_bfv(
    circuit: Circuit,
    params: ParameterSet,
    *,
    encryption: str = "public",
    plaintexts: Plaintexts = ORDINARY,
    failure_bits: int = FAILURE_BITS,
    publish: bool = False,
) -> float:
    """Refuse a circuit whose results might not decrypt, or with `publish` not be flooded; return the budget left."""
    budget, step = bfv(circuit, params, encryption=encryption, plaintexts=plaintexts, failure_bits=failure_bits)
    if budget <= 0:
        raise KernelError(
            f"{step.kind}: the noise may exceed what log2 q = {params.log2_q:.0f} bits hold by {-budget:.1f} bits, "
            f"so the result could decrypt wrongly; use about {math.ceil(-budget) + 1} bits more of modulus, "
            "or fewer multiplications",
            step.where,
        )
    needed = publication_budget(params.n) if publish else 0.0
    if budget < needed:
        raise KernelError(
            f"publish=True: hiding the noise of a result takes {needed:.1f} bits of noise budget, the circuit is sure "
            f"to leave {budget:.1f} of log2 q = {params.log2_q:.0f}; "
            f"use about {math.ceil(needed - budget)} bits more of modulus",
            step.where,
        )
    return budget
