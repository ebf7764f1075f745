# SPDX-License-Identifier: Apache-2.0
"""Integer powers of a packed tensor, and polynomials of low degree as sums of them, with the fewest levels.

A polynomial of degree d takes ceil(log2(d + 1)) levels: p = q x^m + r with m the largest power of two not above d,
recursively, so that coefficients are multiplied in at the bottom where levels are free.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringsmith.compiler.lowering.align import PlainView, combine, combine_plain
from ringsmith.compiler.lowering.layout import Packed, power_of_two
from ringsmith.ir.kinds import Kind
from ringsmith.ir.nodes import constant
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location


class Powers:
    """Powers of one tensor, each computed once with the least depth."""

    def __init__(self, builder: Builder, x: Packed, where: Location) -> None:
        """Start from x itself."""
        self.builder = builder
        self.where = where
        self._known = {1: x.compact()}

    def get(self, exponent: int) -> Packed:
        """Return x^exponent (exponent >= 1); depth ceil(log2 exponent)."""
        if exponent not in self._known:
            half = power_of_two(exponent) // 2
            a = self.get(half)
            b = a if exponent == 2 * half else self.get(exponent - half)
            self._known[exponent] = combine(self.builder, Kind.MULTIPLY, a, b, self.where)
        return self._known[exponent]


def _scalar(value: float, where: Location) -> PlainView:
    """Return a constant: an exact integer, or a real."""
    return PlainView.of(constant(value, where, exact=isinstance(value, int)))


def _times(powers: Powers, x: Packed, value: float) -> Packed:
    """Multiply by a constant; by 1 for free."""
    if value == 1.0:
        return x
    return combine_plain(powers.builder, Kind.MULTIPLY_PLAIN, x, _scalar(value, powers.where), powers.where)


def _sum(powers: Powers, a: Packed | None, b: Packed | None) -> Packed | None:
    """Add two tensors, either of which may be absent (zero)."""
    if a is None or b is None:
        return a if b is None else b
    return combine(powers.builder, Kind.ADD, a, b, powers.where)


def _without_constant(powers: Powers, coefficients: Sequence[float]) -> Packed | None:
    """Return sum_{k>=1} c_k x^k, or None when all of these coefficients are zero."""
    degree = max((k for k, c in enumerate(coefficients) if c != 0.0), default=0)
    if degree == 0:
        return None
    if degree == 1:
        return _times(powers, powers.get(1), coefficients[1])
    m = 1 << (degree.bit_length() - 1)
    upper, lower = coefficients[m : degree + 1], coefficients[:m]
    rest = _without_constant(powers, lower)
    head = _without_constant(powers, upper)
    if head is None:
        top = _monomial(powers, m, upper[0])
    else:
        if upper[0] != 0.0:
            head = combine_plain(powers.builder, Kind.ADD_PLAIN, head, _scalar(upper[0], powers.where), powers.where)
        top = combine(powers.builder, Kind.MULTIPLY, head, powers.get(m), powers.where)
    return _sum(powers, top, rest)


def _monomial(powers: Powers, exponent: int, value: float) -> Packed:
    """Return c x^m (m a power of two >= 2) in ceil(log2 (m + 1)) levels, with c at the bottom."""
    if value == 1.0:
        return powers.get(exponent)
    half = powers.get(exponent // 2)
    scaled = _times(powers, half, value) if exponent == 2 else _monomial(powers, exponent // 2, value)
    return combine(powers.builder, Kind.MULTIPLY, scaled, half, powers.where)


def polynomial(builder: Builder, x: Packed, coefficients: Sequence[float], where: Location) -> Packed:
    """Evaluate a polynomial (constant term first, degree >= 1)."""
    powers = Powers(builder, x, where)
    body = _without_constant(powers, coefficients)
    if body is None:
        raise AssertionError("a traced polynomial has a degree of at least one")
    if coefficients[0] == 0.0:
        return body
    return combine_plain(builder, Kind.ADD_PLAIN, body, _scalar(coefficients[0], where), where)
