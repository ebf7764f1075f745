# SPDX-License-Identifier: Apache-2.0
"""The discrete Gaussian's cumulative table by 120-digit decimals."""

from decimal import Decimal, getcontext
from functools import cache

from .xof import Stream


@cache
def table(sigma: float) -> tuple[int, ...]:
    """Entry k is floor(2^127 * P(|x| <= k)), up to the last one below 2^127."""
    getcontext().prec = 120
    denominator = 2 * Decimal(sigma) ** 2
    weights = [(-(Decimal(k) ** 2) / denominator).exp() for k in range(int(16 * sigma))]
    total = weights[0] + 2 * sum(weights[1:])
    out: list[int] = []
    mass = weights[0]
    for k, weight in enumerate(weights):
        mass += 2 * weight if k else 0
        entry = int(mass / total * 2**127)
        if total - mass < total * Decimal(2) ** -127:
            break
        out.append(entry)
    return tuple(out)


def gaussian(stream: Stream, sigma: float, count: int) -> list[int]:
    """Sign in bit 127; the magnitude is the number of entries that do not exceed the other bits."""
    out = []
    for _ in range(count):
        word = int.from_bytes(stream.take(16), "little")
        fraction = word & (2**127 - 1)
        magnitude = sum(entry <= fraction for entry in table(sigma))
        out.append(-magnitude if word >> 127 else magnitude)
    return out
