# SPDX-License-Identifier: Apache-2.0
"""The space of hardware: the knobs of a build that a search varies, and the preset of each of their values.

What is not varied follows: slots of n words, Montgomery reduction (every prime of a set is 1 mod 2n; Barrett's takes
more DSP blocks and more cycles), products cut for the board's DSP blocks, the clock of the board and the bandwidth of
its memory; a unit for base conversion (Lift and Scale) holds as many conversions as that of `heaws`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Self

from ringsmith.errors import InputError, ParameterError
from ringsmith.explore.parameters import Candidate
from ringsmith.hw.synth import Board
from ringsmith.presets import Preset, load_preset

#: The preset that gives what no variable says, by synthesis family: cores behind AXI4, on an ECP5 one at a serial port.
BASES = {"xcup": "coxhe-zcu102-p8", "ecp5": "ulx3s"}
#: Synthesis families whose DSP blocks the multiplier is cut for.
MULTIPLIERS = {"xcup": "dsp26x17", "xc7": "dsp26x17", "ecp5": "dsp18x18"}
#: Families for which units for base conversion are among the training points.
CONVERTING = ("xcup",)
#: Base conversions that a unit holds, and entries of their constants: those of `heaws`.
CONVERSIONS = {"rns_conversions": 16, "rns_entries": 64}
#: What the device takes of a program.
OPERATIONS = ("polymul", "tensor", "key-switch")


@dataclass(frozen=True, order=True)
class Hardware:
    """The varied knobs of a build (docs/knobs.md); `word_bits` 0: as many as the longest prime needs."""

    lanes: int
    butterflies: int
    dual_port_slots: int
    single_port_slots: int
    moduli_slots: int
    moves: int
    wide_port: bool
    cores: int = 1
    word_bits: int = 0
    rns_rate: int = 0

    @property
    def name(self) -> str:
        """The knobs in short."""
        further = f"c{self.cores}" if self.cores != 1 else ""
        further += f"w{self.word_bits}" if self.word_bits else ""
        further += f"r{self.rns_rate}" if self.rns_rate else ""
        return (
            f"l{self.lanes}b{self.butterflies}s{self.dual_port_slots}x{self.single_port_slots}m{self.moduli_slots}"
            f"v{self.moves}{'w' if self.wide_port else 'n'}{further}"
        )

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the build of such a name; InputError for another."""
        match = _NAME.fullmatch(name)
        if match is None:
            raise InputError(f"{name!r} is no build's name: lanes, butterflies, slots, ... as in l8b4s8x0m1v16w")
        *numbers, wide, cores, word_bits, rate = match.groups()
        return cls.of((*map(int, numbers), wide == "w", int(cores or 1), int(word_bits or 0), int(rate or 0)))

    @classmethod
    def of(cls, values: Sequence[int]) -> Self:
        """Return the build with these values, in the order of the fields."""
        lanes, butterflies, dual, single, moduli, moves, wide, cores, word_bits, rate = values
        return cls(lanes, butterflies, dual, single, moduli, moves, bool(wide), cores, word_bits, rate)


_NAME = re.compile(r"l(\d+)b(\d+)s(\d+)x(\d+)m(\d+)v(\d+)([wn])(?:c(\d+))?(?:w(\d+))?(?:r(\d+))?")

#: The values of each knob; `--vary KNOB=VALUE,VALUE` replaces them.
Values = Mapping[str, tuple[int, ...]]
VALUES: Values = {
    "lanes": (1, 2, 3, 4, 5, 6, 7, 8),
    "butterflies": (1, 2, 4, 8, 16),
    "dual_port_slots": (4, 6, 8, 12, 16),
    "single_port_slots": (0, 4),
    "moduli_slots": (1, 2, 4),
    "moves": (0, 16),
    "wide_port": (0, 1),
    "cores": (1, 2, 3, 4, 5, 6, 7, 8),
    "word_bits": (0,),
    "rns_rate": (0, 2, 4),
}

#: Of these families other values: a serial host has one core and a narrow port, an ECP5 few multipliers.
FAMILY_VALUES: Mapping[str, Values] = {
    "ecp5": {
        "lanes": (1, 2, 3, 4),
        "butterflies": (1, 2, 4),
        "dual_port_slots": (3, 4, 6, 8),
        "single_port_slots": (1, 2, 4),
        "wide_port": (0,),
        "cores": (1,),
        "rns_rate": (0,),
    }
}


def values_with(settings: list[str], family: str = "xcup") -> dict[str, tuple[int, ...]]:
    """Return the values of each knob of a family's builds after `KNOB=VALUE,VALUE` settings.

    Raises:
        InputError: no such knob, or no whole numbers.
    """
    values = dict(VALUES) | dict(FAMILY_VALUES.get(family, {}))
    for setting in settings:
        knob, _, text = setting.partition("=")
        if knob not in values:
            raise InputError(f"--vary {setting}: no knob {knob!r} is varied; there is {', '.join(values)}")
        parts = text.split(",")
        if not all(part.isdigit() for part in parts):
            raise InputError(f"--vary {setting}: whole numbers are needed, as in {knob}=1,2")
        values[knob] = tuple(sorted({int(part) for part in parts}))
    return values


def size(values: Values) -> int:
    """Return the number of builds."""
    count = 1
    for each in values.values():
        count *= len(each)
    return count


def builds(values: Values) -> Iterator[Hardware]:
    """Yield every combination of the values."""
    for chosen in itertools.product(*(values[field.name] for field in fields(Hardware))):
        yield Hardware.of(chosen)


def preset_of(candidate: Candidate, hardware: Hardware, board: Board) -> Preset:
    """Return the design of a point.

    Raises:
        ParameterError: knobs that no build can have, with the knob to blame.
    """
    if hardware.rns_rate and board.family not in CONVERTING:
        raise ParameterError(f"rns_rate must be 0, no unit was synthesised for {board.family}, got {hardware.rns_rate}")
    preset = common_preset(candidate, board)
    bits = word_bits(candidate, hardware)
    if bits < candidate.word_bits:
        raise ParameterError(f"word_bits must be at least {candidate.word_bits}, the longest prime's, got {bits}")
    varied = asdict(hardware) | {"wide_port": bool(hardware.wide_port), "word_bits": bits}
    varied |= CONVERSIONS if hardware.rns_rate else dict.fromkeys(CONVERSIONS, 0)
    preset = replace(preset, **varied)
    for reason in preset.broken():
        raise ParameterError(reason)
    return preset


def word_bits(candidate: Candidate, hardware: Hardware) -> int:
    """Return the bits of a build's words; the auxiliary primes that BFV's products are lifted to are a bit longer."""
    lifts = hardware.rns_rate > 0 and candidate.params.scheme == "bfv"
    return hardware.word_bits or candidate.word_bits + int(lifts)


@cache
def common_base(family: str) -> Preset:
    """Return the preset that the builds for a family begin with; where there is none, that of UltraScale+."""
    return load_preset(BASES.get(family, BASES["xcup"]))


@cache
def common_preset(candidate: Candidate, board: Board) -> Preset:
    """Return what all builds for a parameter set have in common."""
    params, base = candidate.params, common_base(board.family)
    # A serial port has no memory behind it: its bytes are timed apart (explore/boards.py).
    memory_gbs = 0.0 if base.host == "serial" else board.memory_gb_s
    return replace(
        base, name="explored", paper="", scheme=params.scheme, n_max=params.n,
        word_bits=candidate.word_bits, modulus_bits_min=min(params.moduli_bits), prime_bits=(candidate.word_bits,),
        multiplier=MULTIPLIERS[board.family], clock_mhz=(board.clock_mhz,), memory_gbs=memory_gbs,
        operations=OPERATIONS,
    )  # fmt: skip
