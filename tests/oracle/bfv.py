# SPDX-License-Identifier: Apache-2.0
"""BFV by the book: ciphertexts are lists of integer polynomials modulo Q."""

from math import prod

from . import xof
from .ring import Poly, add, automorphism, centred, compose, divide_round, multiply, scale
from .rlwe import Keys, Set, SwitchKey, key_switch

Ciphertext = list[Poly]


class Bfv:
    """The scheme for one set, one seed of keys and one of messages."""

    def __init__(self, params: Set, t: int, keys: Keys, messages: bytes) -> None:
        """Keep what every operation needs."""
        self.params, self.t, self.keys, self.messages = params, t, keys, messages
        self.q = prod(params.q)

    def message_seed(self, kind: str, index: int) -> bytes:
        """What message number `index` draws from, under the public, the extended public or the secret key."""
        role = {"public": "public key", "extended": "extended public key"}.get(kind)
        stamp = self.keys.id + (self.keys.halves(role)[0] if role else b"")
        bound = xof.bind(self.messages, f"bfv encrypt {kind}", self.keys.fingerprint, stamp)
        return xof.derive(bound, "encrypt", index)

    def _reduce(self, parts: Ciphertext) -> Ciphertext:
        return [[x % self.q for x in part] for part in parts]

    def scaled(self, message: Poly) -> Poly:
        """round(Q*m/t), ties up."""
        return [(2 * self.q * m + self.t) // (2 * self.t) for m in message]

    def encrypt(self, message: Poly, index: int) -> Ciphertext:
        """Under the public key: (b*u + e0 + round(Q*m/t), a*u + e1)."""
        seed = self.message_seed("public", index)
        u = xof.ternary(xof.Stream(seed, "u", 0), self.params.n)
        b, a = (compose(limbs, list(self.params.q)) for limbs in self.keys.public())
        c0 = add(multiply(b, u), self.params.error(seed, "e0"), self.scaled(message))
        c1 = add(multiply(a, u), self.params.error(seed, "e1"))
        return self._reduce([c0, c1])

    def encrypt_extended(self, message: Poly, index: int) -> Ciphertext:
        """Under the extended public key: (b*u + e0, a*u + e1) modulo Q*P, divided by P, and round(Q*m/t)."""
        seed = self.message_seed("extended", index)
        u = xof.ternary(xof.Stream(seed, "u", 0), self.params.n)
        special = prod(self.params.p)
        parts = []
        for limbs, label in zip(self.keys.public(extended=True), ("e0", "e1"), strict=True):
            total = add(multiply(compose(limbs, self.params.qp), u), self.params.error(seed, label))
            parts.append([divide_round(centred(x, self.q * special), 1, special) for x in total])
        return self._reduce([add(parts[0], self.scaled(message)), parts[1]])

    def encrypt_symmetric(self, message: Poly, index: int) -> Ciphertext:
        """Under the secret key: (-a*s + e + round(Q*m/t), a)."""
        seed = self.message_seed("secret", index)
        moduli = list(self.params.q)
        a = compose(self.params.uniform(xof.derive(seed, "a", 0), moduli), moduli)
        c0 = add(scale(multiply(a, self.keys.secret), -1), self.params.error(seed, "e"), self.scaled(message))
        return self._reduce([c0, a])

    def decrypt(self, ct: Ciphertext) -> Poly:
        """round(t*(c0 + c1*s + ...)/Q) modulo t."""
        phase, power = [0] * self.params.n, [1] + [0] * (self.params.n - 1)
        for part in ct:
            phase = add(phase, multiply(part, power))
            power = multiply(power, self.keys.secret)
        return [divide_round(centred(x, self.q), self.t, self.q) % self.t for x in phase]

    def add(self, x: Ciphertext, y: Ciphertext) -> Ciphertext:
        """x + y."""
        return self._reduce([add(a, b) for a, b in zip(x, y, strict=True)])

    def negate(self, x: Ciphertext) -> Ciphertext:
        """-x."""
        return self._reduce([scale(a, -1) for a in x])

    def add_plain(self, x: Ciphertext, message: Poly) -> Ciphertext:
        """x + m."""
        return self._reduce([add(x[0], self.scaled(message)), *x[1:]])

    def multiply_plain(self, x: Ciphertext, message: Poly) -> Ciphertext:
        """x * m, m centred."""
        m = [centred(c, self.t) for c in message]
        return self._reduce([multiply(part, m) for part in x])

    def _tensor(self, x: Ciphertext, y: Ciphertext) -> list[Poly]:
        return [
            multiply(x[0], y[0]),
            add(multiply(x[0], y[1]), multiply(x[1], y[0])),
            multiply(x[1], y[1]),
        ]

    def multiply(self, x: Ciphertext, y: Ciphertext) -> Ciphertext:
        """round(t/Q * x*y), the operands centred."""
        x, y = ([[centred(c, self.q) for c in part] for part in ct] for ct in (x, y))
        return self._reduce([[divide_round(c, self.t, self.q) for c in part] for part in self._tensor(x, y)])

    def multiply_over_q(self, x: Ciphertext, y: Ciphertext, p: int) -> Ciphertext:
        """round(t/P * x*y') with y' = round(P/Q * y)."""
        x = [[centred(c, self.q) for c in part] for part in x]
        y = [[centred(divide_round(centred(c, self.q), p, self.q), p) for c in part] for part in y]
        return self._reduce([[divide_round(c, self.t, p) for c in part] for part in self._tensor(x, y)])

    def relinearize(self, x: Ciphertext, key: SwitchKey) -> Ciphertext:
        """Three parts to two."""
        k0, k1 = key_switch(self.params, x[2], key)
        return self._reduce([add(x[0], k0), add(x[1], k1)])

    def rotate(self, x: Ciphertext, g: int) -> Ciphertext:
        """x -> x^g, switched back to the secret."""
        key = self.keys.switch(automorphism(self.keys.secret, g), "galois key", g)
        c0, c1 = (automorphism(part, g) for part in x)
        k0, k1 = key_switch(self.params, [c % self.q for c in c1], key)
        return self._reduce([add(c0, k0), k1])

    def mod_switch(self, x: Ciphertext) -> Ciphertext:
        """Division by the last prime: coefficients modulo the product of the others."""
        last = self.params.q[-1]
        lower = self.q // last
        return [[divide_round(centred(c, self.q), 1, last) % lower for c in part] for part in x]
