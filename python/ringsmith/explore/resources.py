# SPDX-License-Identifier: Apache-2.0
"""Resources of a build without synthesis: DSP and memory blocks counted, LUTs and flip-flops fitted to synthesis.

A butterfly has a DSP block for each tile of its products, a slot two banks of n/(2P) words of P coefficients, a twiddle
table one memory of n/P words, in UltraRAM where it is deep and the device has some; several cores take as much as one
each, the data port that they share counted for every one. LUTs and flip-flops are sums over
groups of modules, each linear in what its modules multiply; the coefficients are a least-squares fit to the training
points of the board's family (spec/resources.json). The unit for base conversion is fitted to syntheses of it alone.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ringsmith import shipped
from ringsmith.errors import ToolError
from ringsmith.explore.blocks import conversion_dsp, dsp_blocks, memory_blocks, queue_blocks
from ringsmith.explore.features import CONVERSION, Floats, Knobs, features
from ringsmith.explore.parameters import Candidate
from ringsmith.explore.space import Hardware, common_base, common_preset, word_bits
from ringsmith.hw import sources
from ringsmith.hw.device import top_of
from ringsmith.hw.synth import Board
from ringsmith.hw.synth.cells import Resources
from ringsmith.presets import Preset
from ringsmith.results.code import code

#: A training point: knobs, cells by group and in all.
Point = Mapping[str, Any]
#: Modules by group, by the beginning of their names, the longest that fits; the others are the shell.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "butterflies": ("rs_butterfly", "rs_mult_", "rs_msub_", "rs_dsp48"),
    "selects": ("rs_slot_select",),
    "lanes": ("rs_lane", "rs_twiddle_select", "rs_slot", "rs_ram"),
    "moves": ("rs_move",),
    "shell": ("", "rs_slot_ports"),
}
NAMES = {"lut": "LUT", "ff": "FF", "dsp": "DSP", "bram36": "RAMB36", "uram": "URAM"}
FITTED = ("lut", "ff")
#: The unit that is fitted to syntheses of it alone.
UNIT = "rs_rns"
#: The top module of a whole build.
WHOLE = "rs_top_axi"
KNOBS = (
    "word_bits", "lanes", "butterflies", "n_max", "dual_port_slots", "single_port_slots", "moves", "wide_port",
    "cores", "rns_rate",
)  # fmt: skip


@dataclass(frozen=True)
class Model:
    """Coefficients by group and resource."""

    family: str
    coefficients: Mapping[tuple[str, str], Floats]

    def fitted(self, knobs: Knobs) -> dict[str, Floats]:
        """Return LUTs and flip-flops."""
        groups = self.by_group(knobs).values()
        return {what: np.rint(sum(group[what] for group in groups)) for what in FITTED}

    def by_group(self, knobs: Knobs) -> dict[str, dict[str, Floats]]:
        """Return LUTs and flip-flops of each group of modules, not rounded."""
        return {
            group: {what: self.coefficients[group, what] @ features(self.family, group, knobs) for what in FITTED}
            for group in dict.fromkeys(group for group, _ in self.coefficients)
        }


def knobs_of(values: Mapping[str, Any], names: Sequence[str] = KNOBS) -> dict[str, Floats]:
    """Return the knobs that features are made of; if it is not said, one core and no unit for base conversion."""
    unsaid = {"cores": 1, "rns_rate": 0}
    return {name: np.asarray((unsaid | dict(values))[name], dtype=float) for name in names}


def group_of(module: str, groups: Mapping[str, tuple[str, ...]] = GROUPS) -> str:
    """Return the group that a module's cells count in: the one with the longest beginning that fits."""
    fitting = ((len(start), group) for group, starts in groups.items() for start in starts if module.startswith(start))
    return max(fitting)[1]


def fit(points: Sequence[Point], units: Sequence[Point]) -> Model:
    """Return the least-squares fit to builds of one family, and to units for base conversion where there are some.

    Each is weighted by what it takes.
    """
    (family,) = {point["family"] for point in (*points, *units)}
    coefficients = {(group, what): _fitted(group, what, points) for group in GROUPS for what in FITTED}
    if units:
        coefficients |= {(CONVERSION, what): _fitted(CONVERSION, what, units) for what in FITTED}
    return Model(family, coefficients)


def _fitted(group: str, what: str, points: Sequence[Point]) -> Floats:
    """Return the coefficients of a group, the amounts of a resource those that its points say."""
    rows = np.array([features(point["family"], group, knobs_of(point["knobs"])) for point in points], dtype=float)
    taken = np.array([point["groups"][group][what] for point in points], dtype=float)
    weights = 1.0 / np.array([point["total"][what] for point in points], dtype=float)
    solved = np.linalg.lstsq(rows * weights[:, None], taken * weights, rcond=None)[0]
    return np.asarray(solved, dtype=np.float64)


@dataclass(frozen=True)
class HeldOut:
    """Errors on points that a fit did not see, as shares: the mean and the largest."""

    points: int
    mean: Mapping[str, float]
    largest: Mapping[str, float]

    def line(self) -> str:
        """Return the errors in a line."""
        parts = [
            f"{what.upper()} {100 * self.mean[what]:.1f} % (largest {100 * self.largest[what]:.1f} %)"
            for what in FITTED
        ]
        return f"resources against synthesis, {self.points} points each held out in turn: {', '.join(parts)}"


def held_out(points: Sequence[Point], units: Sequence[Point]) -> HeldOut:
    """Fit without each point in turn, builds and units, and return the errors on it."""
    errors: dict[str, list[float]] = {what: [] for what in FITTED}
    every = [*points, *units]
    for number, point in enumerate(every):
        others = [other for other in every if other is not point]
        fitted = fit([one for one in others if one in points], [one for one in others if one in units])
        groups = GROUPS if number < len(points) else (CONVERSION,)
        guess = fitted.by_group(knobs_of(point["knobs"]))
        for what in FITTED:
            found = float(np.rint(sum(guess[group][what] for group in groups)))
            errors[what].append(abs(found / point["total"][what] - 1))
    mean = {what: float(np.mean(errors[what])) for what in FITTED}
    return HeldOut(len(every), mean, {what: max(errors[what]) for what in FITTED})


@cache
def training() -> dict[str, Any]:
    """Return the training points of all families, builds and units for base conversion, with their command."""
    data: dict[str, Any] = json.loads((shipped.spec() / "resources.json").read_text())
    return data


def families() -> list[str]:
    """Return the families that resources are fitted for."""
    return sorted({point["family"] for point in training()["points"]})


def points(family: str) -> list[Point]:
    """Return the builds that were synthesised for a family."""
    return [point for point in training()["points"] if point["family"] == family]


def units(family: str) -> list[Point]:
    """Return the units for base conversion that were synthesised for a family."""
    return [point for point in training()["units"] if point["family"] == family]


def top_for(family: str) -> str:
    """Return the top module of a family's training builds."""
    return top_of(common_base(family))


@cache
def rtl_hash(top: str = WHOLE) -> str:
    """Return the hash of the RTL that training points are synthesised from: names of its files, text without comments.

    Of a whole build the units for base conversion and for pointwise instructions do not count: no point has one.
    """
    state = hashlib.sha256()
    for path in sources.closure(top):
        absent = path.stem.startswith(("rs_rns", "rs_pointwise")) and path.stem not in ("rs_rns_pkg", "rs_rns_unit")
        if not absent or top == UNIT:
            state.update(f"{path.name}\0{code(path.read_text('utf-8'), path.suffix)}\0".encode())
    return state.hexdigest()


def trust(family: str) -> str:
    """Return the error on held-out points, and whether the RTL is still the one that they were synthesised from."""
    used = [(point["rtl"], top_for(family)) for point in points(family)]
    used += [(point["rtl"], UNIT) for point in units(family)]
    return _held_out_line(family) + changed_since(used, "synthesised: ringsmith explore --calibrate")


def changed_since(used: Iterable[tuple[str, str]], what: str) -> str:
    """Return what a report says of training points whose RTL is no longer today's, nothing if there are none.

    `used` are the hash and the top module of each point's RTL; `what` was done to them, and the command that does it.
    """
    try:
        old = sum(rtl != rtl_hash(top) for rtl, top in used)
    except ToolError as error:
        # A part of the RTL is generated by a package that comes with an extra only; estimates need none of it.
        return f"; whether the RTL is still theirs is not known: {error}"
    return f"; the RTL has changed since {old} of them were {what}" if old else ""


@cache
def _held_out_line(family: str) -> str:
    return f"{family} {held_out(points(family), units(family)).line()}"


@cache
def model(family: str) -> Model:
    """Return the fit to all training points of a family."""
    return fit(points(family), units(family))


def resources_of(preset: Preset, board: Board) -> Resources:
    """Return what a preset takes of a board's device."""
    guess, cores = model(board.family).fitted(knobs_of(preset.to_dict())), preset.cores
    bram36, uram = memory_blocks(preset, uram=board.uram > 0)
    dsp = dsp_blocks(preset) + conversion_dsp(preset)
    return Resources(
        int(guess["lut"]), int(guess["ff"]), cores * dsp, cores * (bram36 + queue_blocks(preset)), cores * uram
    )


def share_of(taken: Resources, board: Board) -> float:
    """Return the largest share of a resource that is taken; infinite where the board has none of it."""
    shares = [
        amount / available if available else math.inf
        for _, amount, available, _ in board.utilisation(taken)
        if amount > 0
    ]
    return max(shares, default=0.0)


def lacking(taken: Resources, board: Board) -> str | None:
    """Say which resource a design exceeds most: `RAMB36: 412 of 312`; None if it fits."""
    over = [
        (amount / max(available, 1), f"{NAMES[what]}: {amount:g} of {available:g}")
        for what, amount, available, _ in board.utilisation(taken)
        if amount > available
    ]
    return max(over)[1] if over else None


def estimates(candidate: Candidate, hardware: Sequence[Hardware], board: Board) -> Iterator[tuple[Hardware, Resources]]:
    """Yield what each build for a parameter set takes, all fits at once; what no build can be is estimated too."""
    columns = {name: [getattr(one, name, 0) for one in hardware] for name in KNOBS}
    columns |= {"word_bits": [word_bits(candidate, one) for one in hardware]}
    columns |= {"n_max": [candidate.params.n] * len(hardware)}
    guess = model(board.family).fitted(knobs_of(columns))
    common = common_preset(candidate, board)
    for one, lut, ff in zip(hardware, guess["lut"].tolist(), guess["ff"].tolist(), strict=True):
        shape = (one.butterflies, one.dual_port_slots, one.single_port_slots, one.moduli_slots)
        dsp, bram36, uram = _lane(common, word_bits(candidate, one), shape, board.uram > 0)
        lanes, unit, queues = one.cores * one.lanes, 0, one.cores * queue_blocks(common)
        if one.rns_rate:
            unit = one.cores * _unit(common, word_bits(candidate, one), one.lanes, one.rns_rate)
        yield one, Resources(int(lut), int(ff), lanes * dsp + unit, lanes * bram36 + queues, lanes * uram)


@cache
def _unit(common: Preset, bits: int, lanes: int, rate: int) -> int:
    """Return the DSP blocks of a core's unit for base conversion."""
    return conversion_dsp(replace(common, lanes=lanes, word_bits=bits, rns_rate=rate))


@cache
def _lane(common: Preset, bits: int, shape: tuple[int, int, int, int], uram: bool) -> tuple[int, float, int]:
    """Return the DSP and memory blocks of a lane: words, butterflies, slots of each kind, tables."""
    butterflies, dual, single, moduli = shape
    lane = replace(
        common, lanes=1, butterflies=butterflies, dual_port_slots=dual, single_port_slots=single, moduli_slots=moduli,
        word_bits=bits,
    )  # fmt: skip
    return dsp_blocks(lane), *memory_blocks(lane, uram=uram)
