# SPDX-License-Identifier: Apache-2.0
"""Presets of the 8-point accelerators: `spec/presets/ntt8/NAME.toml`, overridden like any other preset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ringsmith import _native
from ringsmith.gen import latency, ntt8
from ringsmith.hw.ntt8.ring import N
from ringsmith.knobs import MULTIPLIER
from ringsmith.presets import checked, clock_complaints, preset_names, read_preset

#: Their folder in `spec/presets`: the keys are not those of the co-processor, and the top is another.
KIND = "ntt8"


@dataclass(frozen=True, kw_only=True)
class Ntt8Preset:
    """A design point; the fields are the keys of the preset file, documented there."""

    name: str
    paper: str
    scheme: str
    variant: str
    word_bits: int
    modulus: int
    multiplier: str
    modulus_bits_min: int
    clock_mhz: tuple[float, ...]

    @property
    def top(self) -> str:
        """The shell: AXI4-Stream for the streaming variant, AXI4-Lite registers otherwise."""
        return "rs_ntt8_axis" if self.variant == "stream" else "rs_ntt8_axil"

    @property
    def parameters(self) -> dict[str, int | str]:
        """Parameters of the top."""
        values: dict[str, int | str] = {
            "W": self.word_bits,
            "MulStyle": MULTIPLIER[self.multiplier],
            "ModMinBits": self.modulus_bits_min,
        }
        if self.variant != "stream":
            values["Variant"] = ntt8.load(ntt8.HOME).variants[self.variant]
        return values

    @property
    def latency(self) -> int:
        """Cycles of a transform by the formula of `spec/latency.yaml`."""
        variant = ntt8.load(ntt8.HOME).variants[self.variant]
        style = MULTIPLIER[self.multiplier]
        return latency.value(
            "ntt8_latency", variant=variant, style=style, w=self.word_bits, minbits=self.modulus_bits_min
        )

    @property
    def prime(self) -> int:
        """The modulus: the one asked for, or the largest prime 1 mod 16 of `word_bits` bits."""
        if self.modulus:
            return self.modulus
        return _native.ntt_primes(N, self.word_bits, 1)[0]


def ntt8_names() -> list[str]:
    """Names of the presets of this kind, sorted."""
    return preset_names(KIND)


def load_ntt8(name: str, overrides: Mapping[str, str] | None = None) -> Ntt8Preset:
    """Load a preset of this kind as `load_preset` does one of the co-processor."""
    return checked(Ntt8Preset, name, read_preset(name, KIND), overrides or {}, _complaints)


def _complaints(p: Ntt8Preset) -> Iterator[str]:
    yield from (reason for holds, reason in _rules(p) if not holds)
    yield from clock_complaints(p.clock_mhz)


def _rules(p: Ntt8Preset) -> list[tuple[bool, str]]:
    variants = ntt8.load(ntt8.HOME).variants
    bits = p.modulus.bit_length() if p.modulus else p.word_bits
    return [
        (p.variant in variants, f"variant must be {', '.join(variants)}, got {p.variant!r}"),
        (14 <= p.word_bits <= 32, f"word_bits must be 14..32, got {p.word_bits}"),
        (p.multiplier in MULTIPLIER, f"multiplier must be {', '.join(MULTIPLIER)}, got {p.multiplier!r}"),
        (
            5 <= p.modulus_bits_min <= p.word_bits,
            f"modulus_bits_min must be 5..word_bits = {p.word_bits}, got {p.modulus_bits_min}",
        ),
        (
            p.modulus_bits_min <= bits <= p.word_bits,
            f"modulus must have {p.modulus_bits_min}..{p.word_bits} bits, got {p.modulus} of {bits} bits",
        ),
        (
            p.modulus == 0 or (bits <= p.word_bits <= 32 and p.modulus % (2 * N) == 1 and _native.is_prime(p.modulus)),
            f"modulus must be a prime 1 mod 16, got {p.modulus}",
        ),
    ]
