# SPDX-License-Identifier: Apache-2.0
"""Polynomials of a packed tensor in the Chebyshev basis, with the fewest levels and few relinearisations.

On [-1, 1] all T_k stay within 1, so that neither values nor coefficients grow with the degree, as those of powers do.
A polynomial of degree d takes bit_length(d) levels. p = sum_i q_i T_(m_i) + leaf, the m_i powers of two, the leaf a sum
of c_k T_k below `baby` (Paterson and Stockmeyer, 1973): all products of one sum share a relinearisation. The q_i are
polynomials of the same kind with a level less. Of the powers of two that `baby` may be, the one with the fewest
relinearisations is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ringsmith.compiler.lowering.align import PlainView, combine, combine_plain
from ringsmith.compiler.lowering.layout import Packed
from ringsmith.ir.kinds import Kind
from ringsmith.ir.nodes import constant
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location

#: Relative size below which a coefficient is what rounding left of 0.
_ROUNDING = 2.0**-52
#: A product with a constant, in relinearisations.
_CONSTANT_COST = 0.1


@dataclass(frozen=True)
class Plan:
    """sum_k leaf[k] T_k + sum_i products[i] T_(m_i)."""

    leaf: dict[int, float]
    products: tuple[tuple[int, Plan], ...]

    def sums(self) -> Iterator[Plan]:
        """Yield this and the sums inside."""
        yield self
        for _, inner in self.products:
            yield from inner.sums()

    @property
    def cost(self) -> float:
        """Relinearisations, and what constants cost beside them."""
        inner = list(self.sums())
        needed = {k for plan in inner for k in (*plan.leaf, *(m for m, _ in plan.products))} - {0, 1}
        constants = sum(len(plan.leaf) for plan in inner)
        return len(_closure(needed)) + sum(bool(plan.products) for plan in inner) + _CONSTANT_COST * constants


def plan(coefficients: Sequence[float]) -> Plan:
    """Return the cheapest plan of least depth for a polynomial of degree >= 1."""
    degree = len(coefficients) - 1
    powers = [2 << k for k in range(degree.bit_length())]
    plans = [_split(list(coefficients), degree.bit_length(), baby) for baby in powers]
    return min(plans, key=lambda plan: plan.cost)


def _split(coefficients: list[float], depth: int, baby: int) -> Plan:
    """Return the plan that ends within `depth` levels, T_k with k < baby in its leaves."""
    least = _ROUNDING * max(map(abs, coefficients))
    rest = [c if abs(c) > least else 0.0 for c in coefficients]
    high: dict[int, float] = {}
    products: list[tuple[int, Plan]] = []
    while (degree := _degree(rest)) >= baby or _levels(degree) >= depth:
        m = 1 << (degree.bit_length() - 1)
        quotient, rest = _divide(rest[: degree + 1], m)
        if len(quotient) == 1:
            high[m] = quotient[0]
        else:
            products.append((m, _split(quotient, depth - 1, baby)))
    return Plan({k: c for k, c in enumerate(rest) if c} | high, tuple(products))


def _degree(coefficients: Sequence[float]) -> int:
    return max((k for k, c in enumerate(coefficients) if c), default=0)


def _levels(k: int) -> int:
    """Return the levels that T_k takes."""
    return (k - 1).bit_length() if k > 1 else 0


def _divide(coefficients: Sequence[float], m: int) -> tuple[list[float], list[float]]:
    """Return quotient and remainder by T_m (degree < 2 m): T_k = 2 T_m T_(k-m) - T_(2m-k)."""
    quotient = [coefficients[m], *(2 * c for c in coefficients[m + 1 :])]
    rest = list(coefficients[:m])
    for k in range(m + 1, len(coefficients)):
        rest[2 * m - k] -= coefficients[k]
    return quotient, rest


def _halves(k: int) -> tuple[int, int]:
    return k - k // 2, k // 2


def _closure(wanted: set[int]) -> set[int]:
    """Return all T_k, k >= 2, that have to be computed for those wanted."""
    found: set[int] = set()
    pending = [k for k in wanted if k > 1]
    while pending:
        k = pending.pop()
        if k not in found:
            found.add(k)
            pending.extend(half for half in _halves(k) if half > 1)
    return found


def within(builder: Builder, x: Packed, bound: float, where: Location, *, everywhere: bool = True) -> Packed:
    """Promise a bound of what a tensor holds; `everywhere`: also in slots of no element, which are 0 in every T_k."""
    cts = tuple(builder.within(ct, bound, everywhere, where) for ct in x.cts)
    return Packed(cts, x.ct, x.slot, x.period, x.zeros)


class _Basis:
    """T_k of one tensor with values in [-1, 1], each computed once with the least depth."""

    def __init__(self, builder: Builder, u: Packed, where: Location) -> None:
        self.builder = builder
        self.where = where
        self._known = {1: within(builder, u.compact(), 1.0, where)}

    def get(self, k: int) -> Packed:
        """Return T_k = 2 T_a T_b - T_(a-b) with a + b = k, a - b in {0, 1}."""
        if k not in self._known:
            a, b = _halves(k)
            product = combine(self.builder, Kind.MULTIPLY, self.get(a), self.get(b), self.where)
            doubled = combine(self.builder, Kind.ADD, product, product, self.where)
            if a == b:
                made = combine_plain(self.builder, Kind.SUB_PLAIN, doubled, self.scalar(1.0), self.where)
            else:
                made = combine(self.builder, Kind.SUB, doubled, self.get(1), self.where)
            self._known[k] = within(self.builder, made, 1.0, self.where)
        return self._known[k]

    def scalar(self, value: float) -> PlainView:
        """Return a constant."""
        return PlainView.of(constant(value, self.where, exact=False))

    def sum(self, plan: Plan) -> Packed:
        """Return the value of a plan."""
        combined = [
            combine(self.builder, Kind.MULTIPLY, self.sum(inner), self.get(m), self.where) for m, inner in plan.products
        ]
        scaled = [self._scaled(k, c) for k, c in sorted(plan.leaf.items()) if k]
        total, *others = combined + scaled
        for other in others:
            total = combine(self.builder, Kind.ADD, total, other, self.where)
        if plan.leaf.get(0):
            total = combine_plain(self.builder, Kind.ADD_PLAIN, total, self.scalar(plan.leaf[0]), self.where)
        return total

    def _scaled(self, k: int, value: float) -> Packed:
        return combine_plain(self.builder, Kind.MULTIPLY_PLAIN, self.get(k), self.scalar(value), self.where)


def evaluate(builder: Builder, u: Packed, coefficients: Sequence[float], bound: float, where: Location) -> Packed:
    """Return sum_k c_k T_k(u) of values in [-1, 1], whose magnitude is at most `bound`; degree >= 1.

    Every slot of `u` that holds no element is 0.
    """
    basis = _Basis(builder, u, where)
    return within(builder, basis.sum(plan(coefficients)), bound, where)


def normalized(builder: Builder, x: Packed, low: float, high: float, where: Location) -> Packed:
    """Return (2 x - low - high) / (high - low), 0 in every slot that holds no element."""
    factor, shift = 2 / (high - low), -(high + low) / (high - low)
    x = x.compact()
    scalar = PlainView.of(constant(factor, where, exact=False))
    if x.fills(builder.slots):
        x = combine_plain(builder, Kind.MULTIPLY_PLAIN, x, scalar, where)
    else:
        x = _masked(builder, x, scalar, where)
    return combine_plain(builder, Kind.ADD_PLAIN, x, PlainView.of(constant(shift, where, exact=False)), where)


def _masked(builder: Builder, x: Packed, factor: PlainView, where: Location) -> Packed:
    """Multiply elements by a factor, and all other slots by 0."""
    cts, zeros = [], []
    for number, held in enumerate(x.elements_of()):
        mask = np.zeros(builder.slots.count, dtype=bool)
        mask[x.slot.reshape(-1)[held]] = True
        mask = builder.slots.repeat(mask, x.period)
        plain = builder.plains.number(factor.node, np.where(mask, 0, -1))
        cts.append(builder.add(Kind.MULTIPLY_PLAIN, (x.cts[number],), where, plain))
        zeros.append(x.zeros[number] | ~mask)
    return Packed(tuple(cts), x.ct, x.slot, x.period, np.stack(zeros))
