# SPDX-License-Identifier: Apache-2.0
"""Settings of the PLL of ECP5 (EHXPLLL), its primary output fed back; limits from Lattice's FPGA-DS-02012."""

from __future__ import annotations

from dataclasses import dataclass

from ringsmith.errors import InputError

#: MHz of the input, of the phase detector, of the oscillator.
INPUT, DETECTOR, OSCILLATOR = (8.0, 400.0), (3.125, 400.0), (400.0, 800.0)
#: Highest divisors: of the input and of the feedback, of the output.
MOST, MOST_OUT = 80, 128
#: Largest error of a clock: what a serial line of ten bits does not notice.
TOLERANCE = 1e-3


@dataclass(frozen=True, order=True)
class Pll:
    """Divisors of input, feedback and output, the best first: the least error, then the fastest detector."""

    error: float
    input: int
    feedback: int
    output: int

    def mhz(self, clock_mhz: float) -> float:
        """The output for an input of `clock_mhz`."""
        return clock_mhz * self.feedback / self.input


def pll_for(clock_mhz: float, wanted_mhz: float) -> Pll:
    """The best settings from one clock to another, in MHz; raises InputError where none comes within 0.1 %."""
    if not INPUT[0] <= clock_mhz <= INPUT[1]:
        raise InputError(f"a PLL takes {INPUT[0]:g} to {INPUT[1]:g} MHz, not {clock_mhz:g}")
    if not 1 <= wanted_mhz <= INPUT[1]:
        raise InputError(f"a PLL makes 1 to {INPUT[1]:g} MHz, not {wanted_mhz:g}")
    found = [pll for divisor in range(1, MOST + 1) for pll in _by_input(clock_mhz, wanted_mhz, divisor)]
    best = min(found, default=None)
    if best is None or best.error > TOLERANCE:
        near = "" if best is None else f"; the nearest is {best.mhz(clock_mhz):.3f} MHz"
        raise InputError(f"no PLL setting makes {wanted_mhz:g} MHz of {clock_mhz:g}{near}")
    return best


def _by_input(clock_mhz: float, wanted_mhz: float, divisor: int) -> list[Pll]:
    """Settings with one divisor of the input: the nearest feedback, the output that puts the oscillator mid-range."""
    detector = clock_mhz / divisor
    if not DETECTOR[0] <= detector <= DETECTOR[1]:
        return []
    feedback = round(wanted_mhz / detector)
    if not 1 <= feedback <= MOST:
        return []
    made = detector * feedback
    outputs = [out for out in range(1, MOST_OUT + 1) if OSCILLATOR[0] <= made * out <= OSCILLATOR[1]]
    if not outputs:
        return []
    middle = min(outputs, key=lambda out: abs(made * out - sum(OSCILLATOR) / 2))
    return [Pll(round(abs(made - wanted_mhz) / wanted_mhz, 9), divisor, feedback, middle)]
