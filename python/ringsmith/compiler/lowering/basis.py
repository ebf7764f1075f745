# SPDX-License-Identifier: Apache-2.0
"""In which basis a polynomial of an encrypted tensor is evaluated: powers of x, or Chebyshev's of x scaled to [-1, 1].

Scaling by an integer is free, by any other number it takes a level; a few low powers of moderate values need neither.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from ringsmith.compiler.lowering import chebyshev, powers
from ringsmith.compiler.lowering.layout import Packed
from ringsmith.ir.graph import Node
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location

#: Up to this degree a sum of powers may take the place of a scaling.
_LOW_DEGREE = 7
#: Terms larger than the whole by more than this lose too much in their sum.
_CANCELLATION = 64.0
#: Powers up to this are no burden on the modulus.
_MOST_POWER = 2.0**12
#: From this degree on.
_LEAST_DEGREE = 4


def of_powers(builder: Builder, x: Packed, node: Node) -> Packed:
    """Evaluate a polynomial given by its coefficients of powers."""
    coefficients: Sequence[Any] = node.attributes["coefficients"]
    most = float(node.args[0].bound) if not node.exact else 0.0
    if node.exact or is_low(coefficients) or most == 0.0:
        return powers.polynomial(builder, x, coefficients, node.where)
    # The largest interval around 0 that an integer scales to [-1, 1].
    most = 1 / math.floor(1 / most) if most <= 1 else most
    turned = chebyshev_of(coefficients, most)
    free = most <= 1 and x.fills(builder.slots)
    if not free and _moderate(coefficients, most, _largest(turned)):
        return powers.polynomial(builder, x, coefficients, node.where)
    return _scaled(builder, x, turned, -most, most, float(node.bound), node.where)


def of_chebyshev(builder: Builder, x: Packed, node: Node) -> Packed:
    """Evaluate a polynomial given by its Chebyshev coefficients on an interval."""
    coefficients, low, high = (node.attributes[name] for name in ("coefficients", "low", "high"))
    free = (2 / (high - low)).is_integer() and x.fills(builder.slots)
    if not free and len(coefficients) <= _LOW_DEGREE + 1:
        plain = Chebyshev(coefficients, domain=[low, high]).convert(kind=Polynomial).coef.tolist()
        most, filled = max(-low, high), x.fills(builder.slots)
        # Slots beside the elements hold what the analysis of ranges allows, whatever is promised of the elements.
        sure = filled or float(node.args[0].bound) <= most
        if sure and _moderate(plain, most, _largest(coefficients)):
            held = chebyshev.within(builder, x.compact(), most, node.where, everywhere=filled)
            return powers.polynomial(builder, held, plain, node.where)
    return _scaled(builder, x, coefficients, low, high, float(node.bound), node.where)


def is_low(coefficients: Sequence[Any]) -> bool:
    """Return whether a polynomial is of so low a degree that powers do."""
    return len(coefficients) <= _LEAST_DEGREE


def _scaled(
    builder: Builder, x: Packed, coefficients: Sequence[float], low: float, high: float, bound: float, where: Location
) -> Packed:
    u = chebyshev.normalized(builder, x, low, high, where)
    return chebyshev.evaluate(builder, u, coefficients, bound, where)


def _moderate(coefficients: Sequence[float], most: float, largest: float) -> bool:
    """Return whether the powers and their sum are harmless for values up to `most`."""
    degree = len(coefficients) - 1
    terms = sum(abs(c) * most**k for k, c in enumerate(coefficients))
    return degree <= _LOW_DEGREE and most**degree <= _MOST_POWER and terms <= _CANCELLATION * largest


def _largest(coefficients: Sequence[float]) -> float:
    """Return about how large a polynomial becomes: the norm of its Chebyshev coefficients."""
    return float(np.linalg.norm(coefficients))


def chebyshev_of(coefficients: Sequence[float], most: float) -> list[float]:
    """Return the Chebyshev coefficients on [-most, most] of a polynomial; computed exactly, rounded once."""
    scale = Fraction(most)
    found: list[Fraction] = []
    for k in range(len(coefficients) - 1, -1, -1):
        found = _times_u(found)
        found[0] += Fraction(coefficients[k]) * scale**k
    return [float(c) for c in found]


def _times_u(coefficients: list[Fraction]) -> list[Fraction]:
    """Multiply a sum of c_k T_k by T_1: T_1 T_k = (T_(k+1) + T_(k-1)) / 2."""
    result = [Fraction(0)] * (len(coefficients) + 1)
    for k, c in enumerate(coefficients):
        result[k + 1] += c if k == 0 else c / 2
        if k:
            result[k - 1] += c / 2
    return result
