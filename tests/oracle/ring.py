# SPDX-License-Identifier: Apache-2.0
"""Polynomials modulo x^n + 1 in Python integers: schoolbook products, exact CRT, evaluation by definition."""

from functools import cache
from math import prod

Poly = list[int]


def centred(x: int, modulus: int) -> int:
    """The representative of x in -modulus/2 < r <= modulus/2."""
    r = x % modulus
    return r - modulus if 2 * r > modulus else r


def multiply(a: Poly, b: Poly) -> Poly:
    """The product over the integers, modulo x^n + 1."""
    n = len(a)
    out = [0] * n
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if i + j < n:
                out[i + j] += x * y
            else:
                out[i + j - n] -= x * y
    return out


def add(*polys: Poly) -> Poly:
    """The sum, coefficient by coefficient."""
    return [sum(c) for c in zip(*polys, strict=True)]


def scale(a: Poly, factor: int) -> Poly:
    """The multiple."""
    return [factor * x for x in a]


def automorphism(a: Poly, g: int) -> Poly:
    """x -> x^g."""
    n = len(a)
    out = [0] * n
    for i, x in enumerate(a):
        k = i * g % (2 * n)
        if k < n:
            out[k] += x
        else:
            out[k - n] -= x
    return out


def compose(limbs: list[Poly], moduli: list[int]) -> Poly:
    """Coefficients modulo the product of the moduli, 0 <= c < product."""
    product = prod(moduli)
    weights = [product // m * pow(product // m, -1, m) for m in moduli]
    return [sum(w * r for w, r in zip(weights, rs, strict=True)) % product for rs in zip(*limbs, strict=True)]


def residues(a: Poly, moduli: list[int]) -> list[Poly]:
    """The limbs of integer coefficients."""
    return [[x % m for x in a] for m in moduli]


def divide_round(x: int, numerator: int, denominator: int) -> int:
    """round(numerator * x / denominator), halves up."""
    return (2 * numerator * x + denominator) // (2 * denominator)


@cache
def smallest_root(modulus: int, order: int) -> int:
    """The smallest primitive root of unity of this power-of-two order."""
    x = 2
    while pow(x, (modulus - 1) // 2, modulus) != modulus - 1:
        x += 1
    root = pow(x, (modulus - 1) // order, modulus)
    return min(pow(root, k, modulus) for k in range(1, order, 2))


def exponents(n: int) -> list[int]:
    """Position j of an evaluation-form polynomial is its value at psi to this power."""
    bits = n.bit_length() - 1
    return [2 * int(format(j, f"0{bits}b")[::-1], 2) + 1 for j in range(n)]


def evaluate(limb: Poly, modulus: int) -> Poly:
    """Coefficients to evaluation form, each value by its definition."""
    n = len(limb)
    psi = smallest_root(modulus, 2 * n)
    return [sum(c * pow(psi, e * i, modulus) for i, c in enumerate(limb)) % modulus for e in exponents(n)]


def interpolate(values: Poly, modulus: int) -> Poly:
    """Evaluation form to coefficients: c_i = n^-1 * sum of v_j * psi^(-e_j i)."""
    n = len(values)
    inverse = pow(smallest_root(modulus, 2 * n), -1, modulus)
    n_inverse = pow(n, -1, modulus)
    powers = exponents(n)
    return [
        n_inverse * sum(v * pow(inverse, e * i, modulus) for v, e in zip(values, powers, strict=True)) % modulus
        for i in range(n)
    ]
