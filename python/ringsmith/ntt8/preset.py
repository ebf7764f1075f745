# SPDX-License-Identifier: Apache-2.0
"""Presets of the 8-point accelerators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ringsmith import _native
from ringsmith.knobs import Ntt8Keys, Ntt8Knobs


@dataclass(frozen=True, kw_only=True)
class Ntt8Preset(Ntt8Keys, Ntt8Knobs):
    """A design point with a top of its own (docs/ntt8.md); the keys of its file: docs/knobs.md."""

    top: ClassVar[str] = "ntt8"
    what: ClassVar[str] = "an 8-point accelerator"
    folders: ClassVar[tuple[str, ...]] = ("prim", "arith", "ntt8")

    @property
    def n_max(self) -> int:
        """Points of the transform."""
        return 8

    @property
    def streams(self) -> bool:
        """Whether polynomials go through AXI4-Stream, not through registers."""
        return self.variant == "stream"

    @property
    def shell(self) -> str:
        """What its top puts around the transform: AXI4-Stream (`axis`) or registers (`axil`)."""
        return "axis" if self.streams else "axil"

    @property
    def prime(self) -> int:
        """The modulus: the one asked for, or the largest prime 1 mod 2 n_max of `word_bits` bits."""
        return self.modulus or _native.ntt_primes(self.n_max, self.word_bits, 1)[0]

    def complaints(self) -> Iterator[str]:
        """Return errors in the keys that are no hardware."""
        bits = self.modulus.bit_length() if self.modulus else self.word_bits
        if self.modulus < 0 or not self.modulus_bits_min <= bits <= self.word_bits:
            yield f"modulus must have {self.modulus_bits_min}..{self.word_bits} bits, got {self.modulus} of {bits} bits"
        if self.modulus and not (self.modulus % (2 * self.n_max) == 1 and _native.is_prime(self.modulus)):
            yield f"modulus must be a prime 1 mod {2 * self.n_max}, got {self.modulus}"


KIND = Ntt8Preset
