# SPDX-License-Identifier: Apache-2.0
"""Moduli by bit length; the primality test is the engine's."""

from __future__ import annotations

from collections.abc import Sequence

from ringsmith._native import is_prime


def prime_below(bits: int, step: int) -> int:
    """Largest prime below 2^bits that is 1 modulo `step`; ValueError when there is none."""
    candidate = ((1 << bits) - 2) // step * step + 1
    while not is_prime(candidate):
        candidate -= step
        if candidate <= 1:
            raise ValueError(f"no prime below 2^{bits} is 1 modulo {step}")
    return candidate


def prime_above(bits: int, step: int) -> int:
    """Smallest prime above 2^(bits - 1) that is 1 modulo `step`."""
    candidate = (1 << (bits - 1)) // step * step + 1
    while candidate <= 1 << (bits - 1) or not is_prime(candidate):
        candidate += step
    return candidate


def primes(bits: Sequence[int], step: int, avoid: Sequence[int] = ()) -> list[int]:
    """Distinct primes 1 modulo `step` of these bit lengths, the largest of each length first."""
    found: list[int] = []
    for length in bits:
        candidate = ((1 << length) - 2) // step * step + 1
        while candidate in found or candidate in avoid or not is_prime(candidate):
            candidate -= step
        assert candidate.bit_length() == length, f"too few primes of {length} bits are 1 modulo {step}"
        found.append(candidate)
    return found
