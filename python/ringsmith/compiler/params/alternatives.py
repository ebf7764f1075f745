# SPDX-License-Identifier: Apache-2.0
"""Sets of other libraries and neighbouring degrees, compared with a chosen set in the parameter box."""

from __future__ import annotations

from dataclasses import dataclass

from ringsmith import _native
from ringsmith.compiler.params.choose import DEGREES
from ringsmith.compiler.params.sets import ParameterSet, table_of

# SEAL's CoeffModulus::BFVDefault for 128 bits by the 2018 standard; the last prime is special.
_SEAL_BFV = {
    1024: (27,),
    2048: (54,),
    4096: (36, 36, 37),
    8192: (43, 43, 44, 44, 44),
    16384: (48, 48, 48, 49, 49, 49, 49, 49, 49),
    32768: (*([55] * 15), 56),
}
# OpenFHE's defaults: first prime and towers of BFV of 60 bits, CKKS scaling primes of 50, three key-switching digits.
_OPENFHE_FIRST, _OPENFHE_SCALING, _OPENFHE_DIGITS = 60, 50, 3


@dataclass(frozen=True)
class Alternative:
    """Another set for the same kernel: its sizes in bits (special primes last) and what speaks for or against it."""

    name: str
    n: int
    bits: tuple[int, ...]
    note: str

    @property
    def split(self) -> str:
        """The primes in bits, as `109 = 36+36+37`."""
        return f"{sum(self.bits)} = {'+'.join(map(str, self.bits))}"


def alternatives(params: ParameterSet, depth: int, standard: str) -> list[Alternative]:
    """Return the next-best sets: SEAL's and OpenFHE's way, and the next larger degree."""
    wanted = params.security.wanted
    others = [_seal_ckks(params, depth), _openfhe_ckks(params, depth)] if params.scheme == "ckks" else _bfv(params)
    judged = [_judged(name, bits, params.n, wanted, standard) for name, bits in others if bits]
    if 2 * params.n <= DEGREES[-1]:
        limit = _native.max_log2_qp(2 * params.n, wanted, table=table_of(standard))
        note = f"room for {limit} bits; twice the slots, a little over twice the time and bytes per ciphertext"
        judged.append(Alternative("larger degree", 2 * params.n, params.moduli_bits, note))
    return judged


def _seal_ckks(params: ParameterSet, depth: int) -> tuple[str, tuple[int, ...]]:
    return "SEAL's way (60, scale..., 60)", (60, *([round(params.log2_scale)] * depth), 60)


def _openfhe_ckks(params: ParameterSet, depth: int) -> tuple[str, tuple[int, ...]]:
    data = (_OPENFHE_FIRST, *([_OPENFHE_SCALING] * depth))
    return "OpenFHE's defaults", data + _special_of(data)


def _special_of(data: tuple[int, ...]) -> tuple[int, ...]:
    """Special primes of 60 bits that hold the largest of three digits."""
    per_digit = -(-len(data) // _OPENFHE_DIGITS)
    return (60,) * -(-sum(sorted(data)[-per_digit:]) // 60)


def _bfv(params: ParameterSet) -> list[tuple[str, tuple[int, ...]]]:
    towers = (60,) * -(-round(params.log2_q) // 60)
    return [("SEAL BFVDefault", _SEAL_BFV.get(params.n, ())), ("OpenFHE's defaults", towers + _special_of(towers))]


def _judged(name: str, bits: tuple[int, ...], n: int, wanted: int, standard: str) -> Alternative:
    """Place a chain at the smallest degree that makes it secure."""
    table = table_of(standard)
    total = sum(bits)
    for degree in (d for d in DEGREES if d >= n):
        limit = _native.max_log2_qp(degree, wanted, table=table)
        if limit is not None and total <= limit:
            note = (
                f"{wanted} bits at this degree (limit {limit})"
                if degree == n
                else f"only from n = {degree} ({wanted} bits)"
            )
            return Alternative(name, degree, bits, note)
    return Alternative(name, n, bits, f"not secure at any degree for {wanted} bits")
