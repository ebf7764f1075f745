# SPDX-License-Identifier: Apache-2.0
"""Presets of the 8-point accelerators: `spec/presets/ntt8/NAME.toml`, overridden like any other preset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ringsmith import _native, shipped
from ringsmith.errors import ParameterError
from ringsmith.gen import latency, ntt8
from ringsmith.knobs import MULTIPLIER
from ringsmith.presets import FASTEST_MHZ, SLOWEST_MHZ, checked
from ringsmith.specs import read_toml, shown

N = 8


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
    return sorted(path.stem for path in (shipped.spec() / "presets" / "ntt8").glob("*.toml"))


def load_ntt8(name: str, overrides: Mapping[str, str] | None = None) -> Ntt8Preset:
    """Load a preset by name with some keys replaced (TOML text, as from `--set key=value`).

    Raises:
        ParameterError: no such preset or key, a value of the wrong type, or an impossible combination.
    """
    if name not in ntt8_names():
        raise ParameterError(f"no preset {shown(name)}; 8-point presets: {', '.join(ntt8_names())}")
    values = read_toml(shipped.spec() / "presets" / "ntt8" / f"{name}.toml", "preset")
    return checked(Ntt8Preset, name, values, overrides or {}, _complaints)


def _complaints(p: Ntt8Preset) -> Iterator[str]:
    return (reason for holds, reason in _rules(p) if not holds)


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
        (
            bool(p.clock_mhz) and all(SLOWEST_MHZ <= clock <= FASTEST_MHZ for clock in p.clock_mhz),
            f"clock_mhz must be positive, {SLOWEST_MHZ:g} to {FASTEST_MHZ:g}, got {shown(list(p.clock_mhz))}",
        ),
    ]
