# SPDX-License-Identifier: Apache-2.0
"""The 8-point accelerators: behind AXI4-Lite registers, or behind AXI4-Stream."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from ringsmith.gen import latency
from ringsmith.hw import registers
from ringsmith.hw.tops.answers import HEAD, words
from ringsmith.hw.tops.top import Top
from ringsmith.hw.vectors import transform
from ringsmith.ntt8.preset import Ntt8Preset
from ringsmith.ntt8.ring import N, Ring

# Polynomials of the testbench.
_POLYNOMIALS = 16


def transform_latency(preset: Ntt8Preset) -> int:
    """Cycles of a transform by the formula of `spec/latency.yaml`."""
    knobs = preset.numbers()
    variant, style = knobs["variant"], knobs["multiplier"]
    return latency.value(
        "ntt8_latency", variant=variant, style=style, w=knobs["word_bits"], minbits=knobs["modulus_bits_min"]
    )


class _Ntt8(Top):
    """One 8-point accelerator, `rtl/ntt8`."""

    kind = "8-point accelerator"
    maps: ClassVar[Mapping[str, str]] = {registers.NTT8: "RS8"}
    testbench = "ntt8/testbench.cpp"
    oldest_verilator = "5.006"
    # Eight points: the compiler would work longer than the simulation.
    test_optimise = optimise = "-O0"

    def __init__(self, preset: Ntt8Preset) -> None:
        """Describe the top of `preset`."""
        super().__init__(preset)
        self.preset, self.ring = preset, Ring(preset.prime)

    def parameters(self, *, clock_mhz: float | None = None) -> dict[str, int | str]:
        """Knobs of the preset; it measures no time, so the clock is none of them."""
        del clock_mhz
        return {**self.preset.parameters()}

    def defines(self) -> dict[str, int | str]:
        """The width of a word on the ports."""
        return {"RS_WORD_BITS": self.preset.word_bits}

    def vectors(self) -> str:
        """Transforms of the smallest and the largest values, of x, and of random ones."""
        ring, knobs = self.ring, self.preset.numbers()
        barrett = ring.barrett(self.preset.word_bits)
        draw = random.Random(1)
        inputs = [[0] * N, [ring.modulus - 1] * N, [0, 1, *[0] * (N - 2)]]
        inputs += [[draw.randrange(ring.modulus) for _ in range(N)] for _ in range(_POLYNOMIALS - len(inputs))]
        outputs = [transform(values, ring.modulus, ring.psi) for values in inputs]
        lines = [
            HEAD,
            f"constexpr bool kStreams = {str(self.preset.streams).lower()};",
            f"constexpr uint32_t kPoints = {N}, kPolynomials = {_POLYNOMIALS};",
            f"constexpr uint32_t kWordBits = {self.preset.word_bits}, kVariant = {knobs['variant']};",
            f"constexpr uint32_t kLatency = {transform_latency(self.preset)};",
            f"constexpr uint32_t kModulus = {ring.modulus}, kModulusBits = {ring.modulus.bit_length()};",
            f"constexpr uint32_t kBarrett[2] = {words((barrett & 0xFFFFFFFF, barrett >> 32))};",
            f"constexpr uint32_t kTwiddle[kPoints] = {words(ring.twiddles)};",
            _polynomials("kInput", inputs),
            _polynomials("kTransform", outputs),
        ]
        return "\n".join(lines) + "\n"

    def texts(self) -> dict[str, str]:
        """What driver and integrator read."""
        preset, ring = self.preset, self.ring
        return {
            "shape": "\n".join(f"| {name} | {value} |" for name, value in self._shape().items()),
            "word_bits": str(preset.word_bits),
            "reciprocal_bits": str(preset.word_bits + 3),
            "modulus_bits_min": str(preset.modulus_bits_min),
            "latency": str(transform_latency(preset)),
            "output_latency": str(transform_latency(preset) + 1),
            "example": _example(preset, ring),
            "pins_note": "",
            "shell_reset": "",
            "reset_notes": "",
            "more_constraints": "",
        }

    def _shape(self) -> dict[str, object]:
        preset = self.preset
        every = 3 if preset.variant == "pn1" else 1
        return {
            "points": N,
            "variant": preset.variant,
            "word": f"{preset.word_bits} bits",
            "modulus": f"a prime 1 mod 16 of {preset.modulus_bits_min} to {preset.word_bits} bits",
            "latency": _cycles(transform_latency(preset)),
            "takes a transform each": _cycles(every),
        }


class Axil(_Ntt8):
    """`rs_ntt8_axil`."""

    module = "rs_ntt8_axil"
    harness = ("ntt8_axil.cpp",)
    headers = ("axil_master.h",)
    driver = "ntt8/driver_axil.md"

    def documented(self) -> tuple[str, ...]:
        """The accelerator's registers."""
        return (registers.NTT8,)

    def texts(self) -> dict[str, str]:
        """What driver and integrator read."""
        return {
            **super().texts(),
            "clock_notes": "- `clk_i`, the only clock: accelerator and bus.",
            "pin_notes": _AXIL_PINS,
            "inputs": "s_axil_*_i",
            "outputs": "s_axil_*_o",
        }


class Axis(_Ntt8):
    """`rs_ntt8_axis`."""

    module = "rs_ntt8_axis"
    harness = ("ntt8_axis.cpp",)
    headers = ()
    driver = "ntt8/driver_axis.md"

    def parameters(self, *, clock_mhz: float | None = None) -> dict[str, int | str]:
        """Knobs of the preset without the variant: this shell has one."""
        return {name: value for name, value in super().parameters(clock_mhz=clock_mhz).items() if name != "Variant"}

    def texts(self) -> dict[str, str]:
        """What driver and integrator read."""
        return {
            **super().texts(),
            "clock_notes": "- `clk_i`, the only clock: accelerator and streams.",
            "pin_notes": _AXIS_PINS.format(bits=self.preset.word_bits, reciprocal_bits=self.preset.word_bits + 3),
            "inputs": "s_axis_*_i m_axis_*_i modulus_i mu_i mod_bits_i twiddle_i",
            "outputs": "s_axis_*_o m_axis_*_o",
        }


def _cycles(number: int) -> str:
    return "1 cycle" if number == 1 else f"{number} cycles"


def _polynomials(name: str, rows: Sequence[Sequence[int]]) -> str:
    listed = ",\n    ".join(words(row) for row in rows)
    return f"const uint32_t {name}[kPolynomials][kPoints] = {{\n    {listed}}};"


def _example(preset: Ntt8Preset, ring: Ring) -> str:
    """The values for the preset's own prime."""
    return (
        f"For m = {ring.modulus}: k = {ring.modulus.bit_length()}, the reciprocal is {ring.barrett(preset.word_bits)}, "
        f"psi = {ring.psi},\nthe table {', '.join(map(str, ring.twiddles))}."
    )


_AXIL_PINS = """\
- `s_axil_*`: AXI4-Lite slave, 32 data bits, 8 address bits. Write address and data are taken together and answered in
  the next cycle; an address outside the map and a write of part of a word answer SLVERR and change nothing.
- No interrupt: STATUS.done is polled."""

_AXIS_PINS = """\
- `s_axis_*`: AXI4-Stream slave, `m_axis_*`: master, 256 data bits: word i in bits [32 i +: 32], the upper bits of each
  unused on the way in and 0 on the way out. `s_axis_tuser_i`: 1 asks for the inverse. No TLAST, TKEEP or TSTRB.
- `modulus_i` ({bits} bits), `mu_i` ({reciprocal_bits}), `mod_bits_i` (8), `twiddle_i` (8 x {bits}, entry 0 lowest):
  plain inputs in the clock's domain, stable while a beat is in flight."""


#: By `shell` of the preset.
TOPS: Mapping[str, Callable[[Ntt8Preset], Top]] = {"axil": Axil, "axis": Axis}
