# SPDX-License-Identifier: Apache-2.0
"""Cost of linear transforms, in rotations: the weights by which the compiler chooses between ways to sum and to
multiply by plain matrices.

A rotation decomposes its ciphertext into digits, multiplies them by its key and divides by the special primes. In one
transform all baby rotations share the decomposition and the division; a giant rotation divides and decomposes one part
anew (Bossuat et al., ePrint 2020/1203). The weights are shares of a rotation's time, such that eight rotations one by
one, hoisted and summed take what docs/performance.md has (CKKS, n = 16384, 7 + 1 primes, and BFV, n = 8192, 4 + 1
primes, in the mean); a key more to make, send and hold counts too.
"""

from __future__ import annotations

from functools import cache

#: Shares of a rotation's time.
DECOMPOSE, INNER, DIVIDE = 0.43, 0.35, 0.22
#: A product with a plaintext, its encoding included.
PLAIN = 0.125
#: A rotation key more.
KEY = 0.02
#: The same where keys exceed their limit: one is worth several rotations.
DEAR_KEY = 4.0
#: A ciphertext more for all that follows.
CIPHERTEXT = 1.0

# More rotations than this are never taken in one step.
_MOST = 64


def transform(babies: int, giants: int, plains: int) -> float:
    """Return the cost of a transform with that many rotations that take a key, and plaintexts."""
    keys = babies + giants
    again = giants * (DIVIDE / 2 + DECOMPOSE + INNER)
    return DECOMPOSE + babies * INNER + again + DIVIDE + plains * PLAIN + keys * KEY


def total(radices: tuple[int, ...]) -> float:
    """Return the cost of a sum of rotations in stages: a stage adds as many rotations as its radix says."""
    return sum(transform(radix - 1, 0, 0) for radix in radices)


@cache
def stages(count: int) -> tuple[int, ...]:
    """Return the radices, their product `count`, by which a sum of `count` rotations is cheapest."""
    if count == 1:
        return ()
    ways: list[tuple[int, ...]] = [(count,)] if count <= _MOST or _prime(count) else []
    for radix in range(2, min(_MOST, count // 2) + 1):
        if count % radix == 0:
            ways.append((radix, *stages(count // radix)))
    return min(ways, key=lambda way: (total(way), len(way)))


def doubling(count: int) -> float:
    """Return the cost of a sum of `count` rotations by doubling, with a rotation more for each further binary digit."""
    rotations = count.bit_length() - 1 + count.bit_count() - 1
    return rotations * transform(1, 0, 0)


def summed(count: int) -> float:
    """Return the cost of the cheapest sum of `count` rotations."""
    return min(total(stages(count)), doubling(count))


def _prime(count: int) -> bool:
    return all(count % divisor for divisor in range(2, int(count**0.5) + 1))
