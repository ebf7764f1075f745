# SPDX-License-Identifier: Apache-2.0
"""A parameter set as a user writes it; the compiler checks it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Bootstrapping:
    """The bootstrapping of a CKKS set: its primes are, from below, the first one; `slots_to_coeffs` primes; those of
    the application; those of the reduction; `coeffs_to_slots` primes at the top (docs/ckks.md).

    `log2_ratio`: -log2 of the largest value to the first prime. `weight` of the sparse secret. `log2_failure`: log2 of
    the probability that one refresh fails. `degree`, `doublings` and `arcsine` make the reduction. `passes`: 2
    refresh the error of a first refresh as well, for a level and twice the time. `bound`: on the
    values that are refreshed, error included; the compiler finds it. `key_bytes`: most bytes of the keys as a client
    sends them; fewer keys take longer. None: those of the fastest refresh, as far as a kernel's `keys_limit` allows.
    """

    slots_to_coeffs: int
    coeffs_to_slots: int
    log2_ratio: float = 10.0
    weight: int = 32
    log2_failure: float = -140.0
    degree: int = 30
    doublings: int = 3
    arcsine: int = 1
    passes: int = 1
    bound: float | None = None
    key_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class BootstrapGoal:
    """What a CKKS set with a bootstrapping is planned for (docs/parameters.md).

    `n`: degree of the ring. `log2_error`: log2 of the error that a refresh may add to values up to `bound`. `levels`:
    least rescales between two refreshes; up to `most_levels` are taken where they make a level cheaper. The others as
    of `Bootstrapping`.
    """

    n: int
    log2_error: float
    bound: float = 1.0
    levels: int = 1
    most_levels: int = 24
    weight: int = 32
    log2_failure: float = -140.0
    passes: int = 1
    key_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class ParamRequest:
    """A parameter set as a user writes it, nothing checked: primes or their sizes in bits, first prime first."""

    n: int
    data_bits: tuple[int, ...] = ()
    special_bits: tuple[int, ...] = ()
    moduli: tuple[int, ...] = ()
    special: tuple[int, ...] = ()
    dnum: int | None = None
    log2_scale: float | None = None
    plain_modulus: int | None = None
    secret: str = "ternary"
    error: str = "binomial:21"
    scheme: str | None = None
    name: str = "custom"
    source: str = "given in the kernel"
    bootstrapping: Bootstrapping | None = None
