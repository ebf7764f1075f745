# SPDX-License-Identifier: Apache-2.0
"""Primes for a chain: of given sizes, or as near as possible to given values."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ringsmith import _native
from ringsmith.errors import ParameterError


def of_sizes(n: int, sizes: Sequence[int], taken: Collection[int] = ()) -> tuple[int, ...]:
    """Return primes 1 mod 2n of the given bit lengths in that order, the largest of each size first."""
    used = list(taken)
    chosen = []
    for bits in sizes:
        prime = _native.ntt_primes(n, bits, 1, exclude=used)[0]
        used.append(prime)
        chosen.append(prime)
    return tuple(chosen)


def nearest(n: int, target: float, taken: Collection[int]) -> int:
    """Return the prime 1 mod 2n that is nearest to `target` and not taken."""
    step = 2 * n
    base = round((target - 1) / step) * step + 1
    # The density of such primes is 2n / (n ln target) per step; 4096 steps either side hold one beyond doubt.
    for distance in range(4096):
        for candidate in (base - distance * step, base + distance * step):
            if candidate > step and candidate not in taken and _native.is_prime(candidate):
                return candidate
    raise ParameterError(f"no prime 1 mod {step} near {target:.0f}")


#: BFV computes modulo at most a prime of this many bits.
MAX_PLAIN_BITS = 60


class PlainRangeError(ParameterError):
    """Integers beyond the largest plaintext modulus."""


def plain_modulus(n: int, at_least: int) -> int:
    """Return the smallest prime 1 mod 2n that is at least `at_least`: it allows n values in a BFV plaintext."""
    step = 2 * n
    candidate = at_least // step * step + 1
    while candidate.bit_length() <= MAX_PLAIN_BITS:
        if candidate >= at_least and _native.is_prime(candidate):
            return candidate
        candidate += step
    raise PlainRangeError(
        f"values of {(at_least // 2).bit_length()} bits need a plaintext modulus beyond {MAX_PLAIN_BITS} bits; "
        "scale the data down, promise a smaller range with rs.within, or compute modulo a plain_modulus"
    )


def ckks_chain(n: int, depth: int, log2_scale: float, base_bits: float) -> tuple[int, ...]:
    """Return the data primes for `depth` rescales at scale 2^log2_scale.

    Each prime is the nearest to the scale it will divide, so that scales do not drift from level to level. The base
    holds results: `base_bits` in as many primes as needed, at most 60 bits each.
    """
    pieces = max(1, -int(-base_bits // 60))
    top = _around(n, depth, log2_scale)
    base = [0] * pieces
    for i in range(pieces):
        base[i] = nearest(n, 2.0 ** (base_bits / pieces), [*top, *base])
    return (*base, *top)


def _around(n: int, depth: int, log2_scale: float) -> tuple[int, ...]:
    """Return primes for `depth` rescales, the last one divided by first."""
    top: list[int] = []
    scale = 2.0**log2_scale
    for _ in range(depth):
        prime = nearest(n, scale * scale / 2.0**log2_scale, top)
        top.append(prime)
        scale = scale * scale / prime
    return tuple(reversed(top))


def refreshed_chain(n: int, sizes: Sequence[int], log2_scale: float) -> tuple[int, ...]:
    """Return data primes of the given bit lengths for a set with a bootstrapping.

    The lowest run of primes as long as the scale, the first prime aside, is what values are divided by: each is as near
    as possible to the scale it divides, maybe a bit longer. The others are the largest of their lengths.
    """
    own = [place for place, bits in enumerate(sizes) if place and bits == round(log2_scale)]
    run = [place for i, place in enumerate(own) if place == own[0] + i]
    around = dict(zip(run, _around(n, len(run), log2_scale), strict=True))
    others = iter(
        of_sizes(n, [bits for place, bits in enumerate(sizes) if place not in around], tuple(around.values()))
    )
    return tuple(around[place] if place in around else next(others) for place in range(len(sizes)))


def special_primes(n: int, data: Sequence[int], count: int, plain_modulus: int = 0) -> tuple[int, ...]:
    """Return `count` special primes as long as the longest data prime: key switching divides its noise by them."""
    return of_sizes(n, [max(prime.bit_length() for prime in data)] * count, (*data, plain_modulus))
