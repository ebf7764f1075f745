# SPDX-License-Identifier: Apache-2.0
"""Products modulo 2^64 of encrypted integers, exact, by remainders.

A pair is read as two signed integers of 64 bits, whose product is less than 2^126 in magnitude. Its remainders modulo
four primes below 2^32 are products of slots in four BFV programs; the client joins them to the integer and takes it
modulo 2^64. So the key's owner, who chose both factors, decrypts the whole product: another person who is shown it
before the last step learns the product's upper half as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import ringsmith as rs

#: What the harness calls a stage with, and the size it means.
SIZES = {"single": "single", "small": "small", "medium": "medium", "large": "large"} | {
    "1": "single",
    "1000": "small",
    "100000": "medium",
    "10000000": "large",
}
#: The largest primes below 2^32 that are 1 modulo 2·4096, so that 4096 slots fit in a ciphertext; their product exceeds
#: twice the largest magnitude of a product, 2^126.
PRIMES = (4294828033, 4294729729, 4294483969, 4294475777)
#: Pairs of one message: beyond it a size goes in several, which bounds the memory of each stage.
MESSAGE = 32 * 4096


def programs(pairs: int) -> list[Any]:
    """Return the four programs, one for each prime, of products of as many pairs as one message takes."""
    length = min(pairs, MESSAGE)

    def product(x: Any, y: Any) -> Any:
        return x * y

    return [
        rs.kernel(
            scheme="bfv",
            x=rs.Encrypted(length, bound=prime // 2),
            y=rs.Encrypted(length, bound=prime // 2),
            plain_modulus=prime,
            encryption="secret",
        )(product).compile()
        for prime in PRIMES
    ]


def remainders(values: NDArray[np.uint64], prime: int) -> NDArray[np.int64]:
    """Return those of the values as signed integers, of least magnitude."""
    return centred(values.view(np.int64) % prime, prime)


def centred(values: NDArray[np.int64], prime: int) -> NDArray[np.int64]:
    """Return remainders in [0, prime) as those of least magnitude."""
    return np.where(values > prime // 2, values - prime, values)


def joined(parts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return modulo 2^64 the integers of least magnitude with these remainders, one row for each prime.

    Mixed radix with digits of least magnitude: v = d0 + p0·(d1 + p1·(d2 + p2·d3)), whose every v is below half the
    product of the primes; unsigned words wrap modulo 2^64 as wanted.
    """
    digits: list[NDArray[np.int64]] = []
    for prime, part in zip(PRIMES, parts, strict=True):
        rest, weight = part % prime, 1
        for before, digit in zip(PRIMES, digits, strict=False):
            rest = (rest - digit * weight) % prime
            weight = weight * before % prime
        # Both factors are below 2^32: their product fits an unsigned word.
        inverse = np.uint64(pow(weight, -1, prime))
        digits.append(centred((rest.astype(np.uint64) * inverse % np.uint64(prime)).astype(np.int64), prime))
    total = np.zeros(parts.shape[1], np.uint64)
    for prime, digit in zip(reversed(PRIMES), reversed(digits), strict=True):
        total = total * np.uint64(prime) + digit.astype(np.uint64)
    return total


def messages(pairs: int) -> list[slice]:
    """Return the pairs of each message."""
    return [slice(begin, min(begin + MESSAGE, pairs)) for begin in range(0, pairs, MESSAGE)]
