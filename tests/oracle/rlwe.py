# SPDX-License-Identifier: Apache-2.0
"""Key generation and key switching by the book."""

import hashlib
import struct
from dataclasses import dataclass
from math import prod

from . import xof
from .ring import Poly, add, centred, compose, divide_round, evaluate, interpolate, multiply, residues, scale


@dataclass(frozen=True)
class Set:
    """A ring-LWE parameter set with ternary secrets and binomial errors of eta 21."""

    n: int
    q: tuple[int, ...]
    p: tuple[int, ...]
    digit_len: int
    word_bytes: int

    @property
    def qp(self) -> list[int]:
        """Data primes, then special primes."""
        return [*self.q, *self.p]

    def digits(self) -> list[list[int]]:
        """The primes of each digit."""
        return [list(self.q[i : i + self.digit_len]) for i in range(0, len(self.q), self.digit_len)]

    @property
    def fingerprint(self) -> bytes:
        """Identity of the set, from its fields as docs/format.md writes them."""
        ternary, binomial = struct.pack("<BQ", 0, 0), struct.pack("<BQ", 2, 21)
        head = bytes([8 * self.word_bytes, self.n.bit_length() - 1]) + ternary + binomial
        counts = struct.pack("<III", len(self.digits()), len(self.q), len(self.p))
        primes = b"".join(m.to_bytes(16, "little") for m in self.qp)
        return hashlib.sha256(head + counts + primes).digest()[:16]

    def uniform(self, seed: bytes, moduli: list[int]) -> list[Poly]:
        """Residues of a uniform polynomial; the stream's index is the prime's place in Q then P."""
        seed = xof.bind(seed, "uniform", self.fingerprint)
        return [xof.uniform(xof.Stream(seed, "uniform", self.qp.index(m)), m, self.n, self.word_bytes) for m in moduli]

    def error(self, seed: bytes, label: str = "e") -> Poly:
        """An error polynomial."""
        return xof.binomial(xof.Stream(seed, label, 0), 21, self.n)


# A key: per digit the coefficient-form limbs of (b, a).
SwitchKey = list[tuple[list[Poly], list[Poly]]]


class Keys:
    """All keys below one seed under a set's fingerprint; polynomials as limbs of coefficients."""

    def __init__(self, params: Set, seed: bytes, fingerprint: bytes) -> None:
        """Draw the secret."""
        self.params, self.seed, self.fingerprint = params, seed, fingerprint
        own = xof.bind(seed, "secret key", fingerprint)
        self.secret = xof.ternary(xof.Stream(own, "secret", 0), params.n)
        self.id = xof.Stream(own, "key-id", 0).take(16)

    def halves(self, role: str, index: int = 0) -> tuple[bytes, bytes]:
        """The seeds of a key's uniform half and of its error."""
        own = xof.bind(self.seed, role, self.fingerprint, self.id)
        return xof.derive(own, "a", index), xof.derive(own, "e", index)

    def _zero(self, a: list[Poly], moduli: list[int], error: Poly) -> list[Poly]:
        """-a*s + e, limb by limb."""
        product = [multiply(limb, self.secret) for limb in a]
        return [
            [(e - x) % m for e, x in zip(error, limb, strict=True)] for limb, m in zip(product, moduli, strict=True)
        ]

    def public(self, *, extended: bool = False) -> tuple[list[Poly], list[Poly]]:
        """(b, a) over Q, or over Q*P."""
        moduli = self.params.qp if extended else list(self.params.q)
        uniform, errors = self.halves("extended public key" if extended else "public key")
        values = self.params.uniform(uniform, moduli)
        a = [interpolate(limb, m) for limb, m in zip(values, moduli, strict=True)]
        return self._zero(a, moduli, self.params.error(errors)), a

    def switch(self, source: Poly, role: str, index: int) -> SwitchKey:
        """The key from `source` to the secret."""
        moduli = self.params.qp
        uniform, errors = self.halves(role, index)
        special = prod(self.params.p)
        key: SwitchKey = []
        for d, digit in enumerate(self.params.digits()):
            values = self.params.uniform(xof.derive(uniform, "digit", d), moduli)
            a = [interpolate(limb, m) for limb, m in zip(values, moduli, strict=True)]
            b = self._zero(a, moduli, self.params.error(xof.derive(errors, "digit", d)))
            gadget = scale(source, special)
            b = [
                [(x + g) % m for x, g in zip(limb, gadget, strict=True)] if m in digit else limb
                for limb, m in zip(b, moduli, strict=True)
            ]
            key.append((b, a))
        return key

    def relin(self) -> SwitchKey:
        """From s^2."""
        return self.switch(multiply(self.secret, self.secret), "relin key", 0)


def key_switch(params: Set, c: Poly, key: SwitchKey) -> list[Poly]:
    """round(sum of digit_d * key_d / P) modulo Q: integer coefficients."""
    big_q, special = prod(params.q), prod(params.p)
    moduli = params.qp
    digits = [[centred(x, prod(digit)) for x in c] for digit in params.digits()]
    out = []
    for half in (0, 1):
        products = [multiply(digit, compose(pair[half], moduli)) for digit, pair in zip(digits, key, strict=True)]
        total = [centred(x, big_q * special) for x in add(*products)]
        out.append([divide_round(x, 1, special) % big_q for x in total])
    return out


def to_evaluation(limbs: list[Poly], moduli: list[int]) -> list[Poly]:
    """Coefficient limbs to evaluation form."""
    return [evaluate(limb, m) for limb, m in zip(limbs, moduli, strict=True)]


def to_limbs(a: Poly, moduli: list[int]) -> list[Poly]:
    """Integer coefficients to limbs."""
    return residues(a, moduli)
