# SPDX-License-Identifier: Apache-2.0
"""Textbook CKKS in Python integers: schoolbook products modulo x^n + 1, exact CRT, no NTT, nothing of ringsmith.

It exists to be obviously right, for ring degrees up to about 64. Sources: Cheon, Kim, Kim, Song (ePrint 2016/421) for
the scheme; Gentry, Halevi, Smart (ePrint 2012/099) for key switching with a special modulus; Cheon, Han, Kim, Kim,
Song (ePrint 2018/931) for its residue form. Run as a script it verifies `spec/vectors/ckks.txt`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path

Poly = list[int]

# ---------------------------------------------------------------------------------------------------- ring


def add(a: Poly, b: Poly) -> Poly:
    """Coefficient-wise sum."""
    return [x + y for x, y in zip(a, b, strict=True)]


def scale_by(a: Poly, k: int) -> Poly:
    """Coefficient-wise product by an integer."""
    return [k * x for x in a]


def multiply(a: Poly, b: Poly) -> Poly:
    """Schoolbook product modulo x^n + 1."""
    n = len(a)
    out = [0] * n
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if i + j < n:
                out[i + j] += x * y
            else:
                out[i + j - n] -= x * y
    return out


def automorphism(a: Poly, g: int) -> Poly:
    """Substitute x -> x^g."""
    n = len(a)
    out = [0] * n
    for i, x in enumerate(a):
        e = i * g % (2 * n)
        out[e % n] += x if e < n else -x
    return out


def centred(x: int, m: int) -> int:
    """Representative in -m/2 < x <= m/2."""
    x %= m
    return x - m if x > m // 2 else x


def reduce(a: Poly, m: int) -> Poly:
    """Centred coefficients."""
    return [centred(x, m) for x in a]


def round_div(x: int, d: int) -> int:
    """Nearest integer to x/d for odd d (never a tie)."""
    return (x - centred(x, d)) // d


def crt(residues: Sequence[int], moduli: Sequence[int]) -> int:
    """Centred integer with these residues."""
    total = prod(moduli)
    x = sum(r * (total // q) * pow(total // q, -1, q) for r, q in zip(residues, moduli, strict=True))
    return centred(x, total)


def crt_poly(limbs: Sequence[Poly], moduli: Sequence[int]) -> Poly:
    """Centred polynomial from its residues, one list for each modulus."""
    return [crt(column, moduli) for column in zip(*limbs, strict=True)]


# ------------------------------------------------------------------------------------------ embedding

FRACTION_BITS = 200
ONE = 1 << FRACTION_BITS


def _arctan_inverse(x: int) -> int:
    total = term = ONE // x
    k = 1
    while term:
        term = -term // (x * x)
        k += 2
        total += term // k
    return total


PI = 16 * _arctan_inverse(5) - 4 * _arctan_inverse(239)


def _cos_sin(angle: int) -> tuple[int, int]:
    """Cosine and sine of a fixed-point angle by their series."""
    parts = [0, 0]
    term, k = ONE, 0
    while term:
        parts[k % 2] += -term if k % 4 > 1 else term
        k += 1
        term = term * angle // (ONE * k)
    return parts[0], parts[1]


@dataclass(frozen=True)
class FixedComplex:
    """A complex number in 200-bit fixed point."""

    re: int
    im: int


def slot_root(n: int, j: int, power: int) -> FixedComplex:
    """The `power`-th power of the root that slot j is the value at: exp(i pi 5^j power / n)."""
    exponent = pow(5, j, 2 * n) * power % (2 * n)
    return FixedComplex(*_cos_sin(PI * exponent // n))


def encode(values: Sequence[complex], n: int, scale: Fraction) -> Poly:
    """Nearest integer polynomial to scale times the inverse embedding; fewer than n/2 values are replicated.

    m_k = (2/n) Re sum_j z_j conj(root_j^k).
    """
    slots = n // 2
    if len(values) > slots or slots % len(values):
        raise ValueError(f"{len(values)} values for {slots} slots")
    fixed = [(Fraction(z.real), Fraction(z.imag)) for z in values]
    out = []
    for k in range(n):
        total = Fraction(0)
        for j in range(slots):
            root = slot_root(n, j, k)
            re, im = fixed[j % len(values)]
            total += re * Fraction(root.re, ONE) + im * Fraction(root.im, ONE)
        out.append(round(total * scale * 2 / n))
    return out


def decode(m: Poly, scale: Fraction) -> list[complex]:
    """Values of m/scale at the slots' roots."""
    n = len(m)
    out = []
    for j in range(n // 2):
        roots = [slot_root(n, j, k) for k in range(n)]
        re = sum(c * r.re for c, r in zip(m, roots, strict=True))
        im = sum(c * r.im for c, r in zip(m, roots, strict=True))
        out.append(complex(float(Fraction(re, ONE) / scale), float(Fraction(im, ONE) / scale)))
    return out


# --------------------------------------------------------------------------------------------- scheme


@dataclass(frozen=True)
class Params:
    """Ring degree, data primes, special primes, limbs of a key-switching digit."""

    n: int
    q: tuple[int, ...]
    p: tuple[int, ...]
    digit_limbs: int

    def modulus(self, level: int) -> int:
        """Q at a level."""
        return prod(self.q[: level + 1])

    @property
    def special(self) -> int:
        """P."""
        return prod(self.p)

    def digits(self, level: int) -> list[int]:
        """Moduli of the digits at a level, each a product of neighbouring primes."""
        step = self.digit_limbs
        return [prod(self.q[i : min(i + step, level + 1)]) for i in range(0, level + 1, step)]


Ciphertext = list[Poly]
SwitchKey = list[tuple[Poly, Poly]]


def phase(ct: Ciphertext, secret: Poly, modulus: int) -> Poly:
    """c0 + c1 s + c2 s^2, centred."""
    power = [1] + [0] * (len(secret) - 1)
    total = [0] * len(secret)
    for part in ct:
        total = add(total, multiply(part, power))
        power = multiply(power, secret)
    return reduce(total, modulus)


def tensor(a: Ciphertext, b: Ciphertext, modulus: int) -> Ciphertext:
    """The three parts of a product."""
    cross = add(multiply(a[0], b[1]), multiply(a[1], b[0]))
    return [reduce(x, modulus) for x in (multiply(a[0], b[0]), cross, multiply(a[1], b[1]))]


def key_switch(part: Poly, key: SwitchKey, params: Params, level: int) -> Ciphertext:
    """Sum of digits times keys modulo QP, divided by P and rounded."""
    modulus = params.modulus(level)
    wide = modulus * params.special
    total = [[0] * params.n, [0] * params.n]
    for digit_modulus, pair in zip(params.digits(level), key, strict=False):
        digit = reduce(part, digit_modulus)
        total = [add(t, multiply(digit, k)) for t, k in zip(total, pair, strict=True)]
    return [reduce([round_div(centred(x, wide), params.special) for x in t], modulus) for t in total]


def relinearize(ct: Ciphertext, key: SwitchKey, params: Params, level: int) -> Ciphertext:
    """Three parts to two."""
    switched = key_switch(ct[2], key, params, level)
    return [reduce(add(c, k), params.modulus(level)) for c, k in zip(ct, switched, strict=False)]


def rotate(ct: Ciphertext, g: int, key: SwitchKey, params: Params, level: int) -> Ciphertext:
    """x -> x^g, then back to the key s.

    The digits are those of c1 before the substitution (so that one decomposition serves many rotations).
    """
    modulus = params.modulus(level)
    wide = modulus * params.special
    total = [[0] * params.n, [0] * params.n]
    for digit_modulus, pair in zip(params.digits(level), key, strict=False):
        digit = automorphism(reduce(ct[1], digit_modulus), g)
        total = [add(t, multiply(digit, k)) for t, k in zip(total, pair, strict=True)]
    switched = [[round_div(centred(x, wide), params.special) for x in t] for t in total]
    return [
        reduce(add(automorphism(ct[0], g), switched[0]), modulus),
        reduce(switched[1], modulus),
    ]


def rescale(ct: Ciphertext, params: Params, level: int) -> Ciphertext:
    """Divide by the last prime and round."""
    return [[round_div(centred(x, params.modulus(level)), params.q[level]) for x in part] for part in ct]


# --------------------------------------------------------------------------------------------- vectors

Section = dict[str, str]


def read_sections(text: str) -> list[tuple[str, Section]]:
    """`[name]` headers, `key = value` lines, `#` comments."""
    sections: list[tuple[str, Section]] = []
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            sections.append((line.strip("[]"), {}))
        else:
            key, _, value = line.partition("=")
            sections[-1][1][key.strip()] = value.strip()
    return sections


def ints(text: str) -> list[int]:
    """Space-separated integers."""
    return [int(x) for x in text.split()]


def complexes(text: str) -> list[complex]:
    """Space-separated `re,im` pairs, each a hexadecimal double."""
    return [complex(*(float.fromhex(x) for x in pair.split(","))) for pair in text.split()]


def limbs(section: Section, name: str, moduli: Sequence[int]) -> Poly:
    """Polynomial stored as `name.0`, `name.1`, … one line of residues for each modulus."""
    return crt_poly([ints(section[f"{name}.{i}"]) for i in range(len(moduli))], moduli)


def read_ciphertext(section: Section, name: str, params: Params) -> tuple[Ciphertext, int, Fraction]:
    """Parts, level and scale of a stored ciphertext."""
    level = int(section[f"{name}.level"])
    count = int(section[f"{name}.size"])
    moduli = params.q[: level + 1]
    parts = [limbs(section, f"{name}.c{k}", moduli) for k in range(count)]
    return parts, level, Fraction(float.fromhex(section[f"{name}.scale"]))


class Verifier:
    """Recomputes every case of a vector file; `failures` collects what does not agree."""

    def __init__(self, text: str) -> None:
        """Read parameters and keys, keep the cases."""
        self.failures: list[str] = []
        self.checked = 0
        sections = read_sections(text)
        head = dict(sections)
        fields = head["params"]
        self.params = Params(
            n=int(fields["n"]),
            q=tuple(ints(fields["q"])),
            p=tuple(ints(fields["p"])),
            digit_limbs=int(fields["digit_limbs"]),
        )
        self.secret = ints(head["keys"]["secret"])
        self.keys = {name: self._read_key(head["keys"], name) for name in head["keys"]["switch"].split()}
        self.cases = [(name, fields) for name, fields in sections if name not in ("params", "keys")]

    def _read_key(self, fields: Section, name: str) -> SwitchKey:
        moduli = self.params.q + self.params.p
        count = len(self.params.digits(len(self.params.q) - 1))
        return [(limbs(fields, f"{name}.{d}.b", moduli), limbs(fields, f"{name}.{d}.a", moduli)) for d in range(count)]

    def expect(self, case: str, what: str, ok: bool) -> None:
        """Count a check, note it if it fails."""
        self.checked += 1
        if not ok:
            self.failures.append(f"{case}: {what}")

    def run(self) -> list[str]:
        """Verify all cases."""
        self._check_keys()
        for name, fields in self.cases:
            getattr(self, "case_" + name.split(":")[0].replace("-", "_"))(name, fields)
        return self.failures

    def _check_keys(self) -> None:
        # b + a s = e + P·(Q/D)·[(Q/D)^-1]_D·target for the digit modulus D: the gadget is P modulo D and 0 elsewhere.
        params = self.params
        level = len(params.q) - 1
        modulus = params.modulus(level)
        for name, key in self.keys.items():
            g = 0 if name == "relin" else int(name.removeprefix("galois"))
            target = automorphism(self.secret, g) if g else multiply(self.secret, self.secret)
            for digit, (b, a) in zip(params.digits(level), key, strict=True):
                hat = modulus // digit
                gadget = params.special * hat * pow(hat, -1, digit)
                error = add(add(b, multiply(a, self.secret)), scale_by(target, -gadget))
                error = reduce(error, modulus * params.special)
                self.expect("keys", f"{name}: error of the key is small", max(map(abs, error)) <= 64)

    def _close(self, got: Iterable[complex], want: Iterable[complex], tolerance: float) -> bool:
        return all(abs(a - b) <= tolerance for a, b in zip(got, want, strict=True))

    def case_encode(self, name: str, f: Section) -> None:
        """Coefficients are the nearest integers; above 2^44 doubles are only asked for their 48 leading bits."""
        scale = Fraction(float.fromhex(f["scale"]))
        want = encode(complexes(f["values"]), self.params.n, scale)
        slack = 0 if scale < 1 << 44 else int(scale) >> 48
        got = ints(f["coefficients"])
        self.expect(name, "coefficients", all(abs(x - y) <= slack for x, y in zip(got, want, strict=True)))

    def case_decode(self, name: str, f: Section) -> None:
        """Slots of a polynomial."""
        got = decode(ints(f["coefficients"]), Fraction(float.fromhex(f["scale"])))
        want = complexes(f["values"])
        largest = max(abs(z) for z in want)
        self.expect(name, "slots", self._close(got[: len(want)], want, largest * 2.0**-45))

    def case_encrypt(self, name: str, f: Section) -> None:
        """Decryption gives the encoded message up to fresh noise."""
        ct, level, scale = read_ciphertext(f, "out", self.params)
        message = encode(complexes(f["values"]), self.params.n, scale)
        error = add(phase(ct, self.secret, self.params.modulus(level)), scale_by(message, -1))
        self.expect(name, "fresh noise", max(map(abs, error)) < int(f["noise_bound"]))
        self.expect(name, "not trivial", any(ct[1]))

    def _binary(self, f: Section) -> tuple[Ciphertext, Ciphertext, int, int]:
        a, level, _ = read_ciphertext(f, "a", self.params)
        b, _, _ = read_ciphertext(f, "b", self.params)
        return a, b, level, self.params.modulus(level)

    def _same(self, name: str, f: Section, want: Ciphertext, level: int, scale: Fraction) -> None:
        got, got_level, got_scale = read_ciphertext(f, "out", self.params)
        self.expect(name, "level", got_level == level)
        self.expect(name, "scale", abs(got_scale / scale - 1) < Fraction(1, 1 << 48))
        self.expect(name, "residues", got == [reduce(c, self.params.modulus(level)) for c in want])

    def case_add(self, name: str, f: Section) -> None:
        """Sum."""
        a, b, level, _ = self._binary(f)
        self._same(name, f, [add(x, y) for x, y in zip(a, b, strict=True)], level, self._scale(f, "a"))

    def case_sub(self, name: str, f: Section) -> None:
        """Difference."""
        a, b, level, _ = self._binary(f)
        self._same(name, f, [add(x, scale_by(y, -1)) for x, y in zip(a, b, strict=True)], level, self._scale(f, "a"))

    def case_negate(self, name: str, f: Section) -> None:
        """Negation."""
        a, level, scale = read_ciphertext(f, "a", self.params)
        self._same(name, f, [scale_by(x, -1) for x in a], level, scale)

    def _scale(self, f: Section, *names: str) -> Fraction:
        return prod((Fraction(float.fromhex(f[f"{name}.scale"])) for name in names), start=Fraction(1))

    def case_multiply(self, name: str, f: Section) -> None:
        """Tensor product."""
        a, b, level, modulus = self._binary(f)
        self._same(name, f, tensor(a, b, modulus), level, self._scale(f, "a", "b"))

    def case_square(self, name: str, f: Section) -> None:
        """Tensor square."""
        a, level, scale = read_ciphertext(f, "a", self.params)
        self._same(name, f, tensor(a, a, self.params.modulus(level)), level, scale * scale)

    def case_add_plain(self, name: str, f: Section) -> None:
        """Sum with an encoded vector."""
        a, level, scale = read_ciphertext(f, "a", self.params)
        m = encode(complexes(f["values"]), self.params.n, scale)
        self._same(name, f, [add(a[0], m), *a[1:]], level, scale)

    def case_multiply_plain(self, name: str, f: Section) -> None:
        """Product with an encoded vector."""
        a, level, scale = read_ciphertext(f, "a", self.params)
        plain_scale = Fraction(float.fromhex(f["plain_scale"]))
        m = encode(complexes(f["values"]), self.params.n, plain_scale)
        self._same(name, f, [multiply(x, m) for x in a], level, scale * plain_scale)

    def case_multiply_constant(self, name: str, f: Section) -> None:
        """Product with a complex constant a + bi, encoded as round(a s) + round(b s) x^(n/2)."""
        a, level, scale = read_ciphertext(f, "a", self.params)
        plain_scale = Fraction(float.fromhex(f["plain_scale"]))
        (value,) = complexes(f["values"])
        m = [0] * self.params.n
        m[0] = round(Fraction(value.real) * plain_scale)
        m[self.params.n // 2] = round(Fraction(value.imag) * plain_scale)
        self._same(name, f, [multiply(x, m) for x in a], level, scale * plain_scale)

    def case_relinearize(self, name: str, f: Section) -> None:
        """Key switch of the third part."""
        a, level, scale = read_ciphertext(f, "a", self.params)
        self._same(name, f, relinearize(a, self.keys["relin"], self.params, level), level, scale)

    def case_rescale(self, name: str, f: Section) -> None:
        """Division by the last prime."""
        a, level, scale = read_ciphertext(f, "a", self.params)
        self._same(name, f, rescale(a, self.params, level), level - 1, scale / self.params.q[level])

    def case_drop(self, name: str, f: Section) -> None:
        """The same value modulo fewer primes."""
        a, _, scale = read_ciphertext(f, "a", self.params)
        _, level, _ = read_ciphertext(f, "out", self.params)
        self._same(name, f, a, level, scale)

    def case_rotate(self, name: str, f: Section) -> None:
        """Automorphism and key switch; also conjugation."""
        a, level, scale = read_ciphertext(f, "a", self.params)
        g = int(f["galois"])
        self._same(name, f, rotate(a, g, self.keys[f"galois{g}"], self.params, level), level, scale)

    def case_decrypt(self, name: str, f: Section) -> None:
        """Phase of a ciphertext of any size, and its slots."""
        a, level, scale = read_ciphertext(f, "a", self.params)
        m = phase(a, self.secret, self.params.modulus(level))
        self.expect(name, "phase", ints(f["coefficients"]) == m)
        want = complexes(f["values"])
        largest = max(1.0, *(abs(z) for z in want))
        self.expect(name, "slots", self._close(decode(m, scale)[: len(want)], want, largest * 2.0**-44))

    def case_polynomial(self, name: str, f: Section) -> None:
        """A polynomial of every slot, decrypted and compared with exact evaluation."""
        out, level, scale = read_ciphertext(f, "out", self.params)
        got = decode(phase(out, self.secret, self.params.modulus(level)), scale)
        coefficients = [Fraction(float.fromhex(c)) for c in f["coefficients"].split()]
        want = [complex(float(polynomial(coefficients, f["basis"], Fraction(z.real)))) for z in complexes(f["values"])]
        self.expect(name, "slots", self._close(got[: len(want)], want, float(f["tolerance"])))


def polynomial(c: Sequence[Fraction], basis: str, x: Fraction) -> Fraction:
    """Exact value in the monomial or Chebyshev basis."""
    elements = [Fraction(1), x]
    while len(elements) < len(c):
        step = x * elements[-1] if basis == "monomial" else 2 * x * elements[-1] - elements[-2]
        elements.append(step)
    return sum((a * b for a, b in zip(c, elements, strict=False)), start=Fraction(0))


def main(path: str = "spec/vectors/ckks.txt") -> int:
    """Verify a vector file; 0 when everything agrees."""
    verifier = Verifier(Path(path).read_text())
    for failure in verifier.run():
        print(failure)
    print(f"{verifier.checked - len(verifier.failures)} of {verifier.checked} checks passed")
    return 1 if verifier.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
