# SPDX-License-Identifier: Apache-2.0
"""A parameter set as a user writes it; the compiler checks it."""

from __future__ import annotations

from dataclasses import dataclass


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
