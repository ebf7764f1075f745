# SPDX-License-Identifier: Apache-2.0
"""Static noise: what a circuit's results can be off by, and whether anything overflows, before it runs.

The bounds of single operations are the engine's (`CkksEstimator`, `BfvEstimator`); here they are
carried along a circuit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ringsmith import _native
from ringsmith.errors import KernelError, ParameterError
from ringsmith.kernel.circuit import Circuit, Step
from ringsmith.kernel.slots import Kind, PlainOperand
from ringsmith.params.sets import ParameterSet

#: Statistical security in bits of a published decryption, and how many decryptions share it.
PUBLISH_BITS, PUBLISH_QUERIES = 30, 1024


@dataclass(frozen=True)
class CkksNoise:
    """log2 of the bound on a result's error, and the bits by which the fullest step exceeds its modulus (< 0: room)."""

    log2_error: float
    overflow_bits: float
    fullest: Step


def ckks(circuit: Circuit, params: ParameterSet, *, encryption: str = "secret") -> CkksNoise:
    """Bound the error of a CKKS circuit's results and find its fullest step.

    Two walks: with the author's promises (`rs.within`) for the error of the slots that matter, and for overflow without
    those that leave out slots, since what nobody looks at holds other values and would spoil the rest if it wrapped.
    """
    promised = _CkksWalk(circuit, params, promises=True, encryption=encryption)
    values = promised.run()
    log2_error = max(promised.estimator.log2_slot_error(values[number]) for number in circuit.outputs)
    free = _CkksWalk(circuit, params, promises=False, encryption=encryption)
    free.run()
    return CkksNoise(log2_error, free.overflow_bits, free.fullest)


class _CkksWalk:
    """Carries the engine's estimates along a circuit."""

    def __init__(self, circuit: Circuit, params: ParameterSet, *, promises: bool, encryption: str) -> None:
        self.circuit = circuit
        self.promises = promises
        self.encryption = encryption
        self.estimator = _native.CkksEstimator(
            params.n,
            list(params.moduli),
            list(params.special),
            dnum=params.dnum,
            secret=params.secret,
            error=params.error,
        )
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
        encoded = self.estimator.encode(bound, step.level, step.scale)
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
                return e.add(args[0], e.encode(self._plain(step).bound, step.level, step.plain_scale))
            case Kind.MULTIPLY_PLAIN:
                return self._multiply_plain(step, args[0])
            case Kind.RELINEARIZE:
                return e.relinearize(args[0])
            case Kind.ROTATE:
                return e.rotate(args[0])
            case Kind.RESCALE:
                return e.rescale(args[0])
            case Kind.MOD_DROP:
                return e.drop_to(args[0], step.level)
            case Kind.WITHIN:
                return e.limit(args[0], step.bound) if self.promises or step.everywhere else args[0]
        return args[0]

    def _plain(self, step: Step) -> PlainOperand:
        return self.circuit.plains[step.plain]

    def _multiply_plain(self, step: Step, value: _native.CkksEstimate) -> _native.CkksEstimate:
        plain = self._plain(step)
        if step.plain_scale == 1.0 and plain.integer is not None:
            return _repeated(self.estimator, value, abs(plain.integer))
        return self.estimator.multiply(value, self.estimator.encode(plain.bound, step.level, step.plain_scale))

    def _measure(self, step: Step, value: _native.CkksEstimate) -> None:
        """Keep the step that comes nearest to half its modulus; the engine wants room for the scale itself."""
        error = 2.0 ** self.estimator.log2_slot_error(value)
        needed = math.log2((max(value.message, 1.0) + error) * value.scale) + 1.0
        over = needed - sum(self.log2_moduli[: value.level + 1])
        if over > self.overflow_bits:
            self.overflow_bits, self.fullest = over, step


def _repeated(estimator: _native.CkksEstimator, value: _native.CkksEstimate, count: int) -> _native.CkksEstimate:
    """Return a bound on `count` times a value: an exact integer adds no rounding, and 0 times it is no more than it."""
    total, block = None, value
    while count:
        if count & 1:
            total = block if total is None else estimator.add(total, block)
        block, count = estimator.add(block, block), count >> 1
    return value if total is None else total


def log2_publication(n: int) -> float:
    """Return log2 of the factor by which publishing raises the bound on a slot's error.

    The added noise has the deviation sqrt(12 queries) 2^(bits/2) times the bound; the largest of its n/2 slots stays
    below sqrt(n (ln(n/2) + 40 ln 2)) deviations (Li, Micciancio, Schultz, Sorrell, ePrint 2022/816).
    """
    tail = math.log(n / 2) + 40 * math.log(2)
    return PUBLISH_BITS / 2 + math.log2(math.sqrt(12 * PUBLISH_QUERIES * n * tail))


def check_ckks(circuit: Circuit, params: ParameterSet, tolerance: float, *, encryption: str = "secret") -> CkksNoise:
    """Refuse a circuit that would overflow or miss its tolerance."""
    noise = ckks(circuit, params, encryption=encryption)
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
            f"the result's error may reach {2.0**noise.log2_error:.3g}, the tolerance is {tolerance:.3g}; use a scale "
            f"{math.ceil(noise.log2_error - math.log2(tolerance))} bits larger, or accept a larger tolerance"
        )
    return noise


def bfv(circuit: Circuit, params: ParameterSet, *, encryption: str = "public") -> tuple[float, Step]:
    """Return the noise budget in bits that the poorest result is sure to keep, and the step that makes it."""
    estimator = _native.BfvEstimator(
        params.n, list(params.moduli), list(params.special), params.plain_modulus,
        dnum=params.dnum, secret=params.secret, error=params.error,
    )  # fmt: skip
    values: list[_native.BfvEstimate] = []
    for step in circuit.steps:
        values.append(_bfv_step(estimator, circuit, step, [values[arg] for arg in step.args], encryption))
    budgets = [(estimator.log2_budget(values[number]), circuit.steps[number]) for number in circuit.outputs]
    return min(budgets, key=lambda pair: pair[0])


def _bfv_step(
    e: _native.BfvEstimator, circuit: Circuit, step: Step, args: list[_native.BfvEstimate], encryption: str
) -> _native.BfvEstimate:
    """Carry the estimate through one operation."""
    match step.kind:
        case Kind.INPUT | Kind.ENCRYPT_ZERO:
            secret = encryption == "secret" and step.kind is Kind.INPUT
            return e.encrypt_secret() if secret else e.encrypt_public()
        case Kind.ADD | Kind.SUB:
            return e.add(args[0], args[1])
        case Kind.MULTIPLY:
            return e.multiply(args[0], args[1])
        case Kind.SQUARE:
            return e.multiply(args[0], args[0])
        case Kind.ADD_PLAIN | Kind.SUB_PLAIN:
            return e.add_plain(args[0])
        case Kind.MULTIPLY_PLAIN:
            integer = circuit.plains[step.plain].integer
            if integer is not None:
                return e.multiply_constant(args[0], integer)
            # Slots of data encode to coefficients spread over all of +-t/2; only a contrived plaintext gains more.
            return e.multiply_plain(args[0], random=True)
        case Kind.RELINEARIZE:
            return e.relinearize(args[0])
        case Kind.ROTATE:
            return e.rotate(args[0])
        case Kind.MOD_DROP:
            value = args[0]
            while value.level > step.level:
                value = e.mod_switch(value)
            return value
    return args[0]


def check_bfv(circuit: Circuit, params: ParameterSet, *, encryption: str = "public") -> float:
    """Refuse a circuit whose results might not decrypt; return the budget left in bits."""
    budget, step = bfv(circuit, params, encryption=encryption)
    if budget <= 0:
        raise KernelError(
            f"{step.kind}: the noise may exceed what log2 q = {params.log2_q:.0f} bits hold by {-budget:.1f} bits, "
            f"so the result could decrypt wrongly; use about {math.ceil(-budget) + 1} bits more of modulus, "
            "or fewer multiplications",
            step.where,
        )
    return budget
