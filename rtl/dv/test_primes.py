# SPDX-License-Identifier: Apache-2.0
"""The search for moduli: what it finds, and that it ends."""

from __future__ import annotations

import pytest

from dv.primes import prime_above, prime_below, primes


@pytest.mark.parametrize(("bits", "step", "prime"), [(14, 1024, 15361), (13, 1024, None), (12, 512, None)])
def test_prime_search_ends(bits, step, prime):
    """The largest prime of a size; an error where no smaller number can be one."""
    if prime:
        assert prime_below(bits, step) == prime
    else:
        with pytest.raises(ValueError, match=f"no prime below 2\\^{bits} is 1 modulo {step}"):
            prime_below(bits, step)


def test_primes_from_both_ends():
    """By trial division: the smallest above and the largest below, and the next one where one is taken."""
    found = [p for p in range(2049, 4096, 64) if all(p % d for d in range(3, 64, 2))]
    assert prime_above(12, 64) == found[0]
    assert primes([12, 12], 64) == [found[-1], found[-2]]
    assert primes([12], 64, avoid=found[-1:]) == [found[-2]]
