# SPDX-License-Identifier: Apache-2.0
"""Resources of a build without synthesis: DSP and memory blocks counted, LUTs and flip-flops fitted to synthesis.

A butterfly has a DSP block for each tile of its products, a slot two banks of n/(2P) words of P coefficients, a twiddle
table one memory of n/P words, in UltraRAM where it is deep and the device has some; several cores take as much as one
each, the data port that they share counted for every one. LUTs and flip-flops are sums over
groups of modules, each linear in what its modules multiply; the coefficients are a least-squares fit to the training
points (spec/resources.json).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith import shipped
from ringsmith.explore.blocks import adders_and_registers, dsp_blocks, memory_blocks
from ringsmith.explore.parameters import Candidate
from ringsmith.explore.space import Hardware, common_preset, word_bits
from ringsmith.hw import sources
from ringsmith.hw.synth import Board
from ringsmith.hw.synth.cells import Resources
from ringsmith.presets import Preset

Floats = NDArray[np.float64]
#: Knobs of one build or of many.
Knobs = Mapping[str, Floats]
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
#: Synthesis family of the training points; on another the fit is wrong by up to a half.
FITTED_FAMILY = "xcup"
KNOBS = (
    "word_bits", "lanes", "butterflies", "n_max", "dual_port_slots", "single_port_slots", "moves", "wide_port",
    "cores",
)  # fmt: skip


def _butterflies(k: Knobs) -> list[Floats]:
    copies = k["lanes"] * k["butterflies"]
    sums = np.vectorize(adders_and_registers, otypes=[float] * 2)(k["word_bits"].astype(int), k["n_max"].astype(int))
    return [copies * k["word_bits"], *(copies * bits for bits in sums)]


def _bits(k: Knobs) -> Floats:
    return k["lanes"] * k["butterflies"] * k["word_bits"]


def _slots(k: Knobs) -> Floats:
    return k["dual_port_slots"] + k["single_port_slots"]


def _selects(k: Knobs) -> list[Floats]:
    ports = 7 + 2 * np.sign(k["moves"])  # reads of the slots in a lane: the unit for moves has two more
    return [_bits(k) * ports, _bits(k) * ports * _slots(k)]


def _lanes(k: Knobs) -> list[Floats]:
    # A slot has a choice of its banks; with the unit for moves also one for each bank of who writes.
    return [_bits(k), _bits(k) * _slots(k) * (1 + 2 * np.sign(k["moves"]))]


def _moves(k: Knobs) -> list[Floats]:
    there = np.sign(k["moves"])
    bits = there * _bits(k)
    # Each word of a lane is one of any lane.
    return [there, bits, bits * k["butterflies"], bits * k["lanes"]]


def _shell(k: Knobs) -> list[Floats]:
    words = k["lanes"] * k["word_bits"]
    port = k["butterflies"] * k["word_bits"] * np.where(k["wide_port"] > 0, k["lanes"], 1)
    return [words**0, words, _slots(k), port]


#: What the modules of each group multiply.
FEATURES: Mapping[str, Callable[[Knobs], list[Floats]]] = {
    "butterflies": _butterflies, "selects": _selects, "lanes": _lanes, "moves": _moves, "shell": _shell,
}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """Coefficients by group and resource."""

    coefficients: Mapping[tuple[str, str], Floats]

    def fitted(self, knobs: Knobs) -> dict[str, Floats]:
        """Return LUTs and flip-flops."""
        groups = self.by_group(knobs).values()
        return {what: np.rint(sum(group[what] for group in groups)) for what in FITTED}

    def by_group(self, knobs: Knobs) -> dict[str, dict[str, Floats]]:
        """Return LUTs and flip-flops of each group of modules, not rounded."""
        features = {group: _features(group, knobs) for group in GROUPS}
        return {group: {what: self.coefficients[group, what] @ features[group] for what in FITTED} for group in GROUPS}


def _features(group: str, knobs: Knobs) -> Floats:
    """Return what the modules of a group multiply, in all cores."""
    return np.array([knobs["cores"] * feature for feature in FEATURES[group](knobs)], dtype=float)


def knobs_of(values: Mapping[str, Any], names: Sequence[str] = KNOBS) -> dict[str, Floats]:
    """Return the knobs that features are made of; one core if it is not said."""
    return {name: np.asarray(values.get(name, 1) if name == "cores" else values[name], dtype=float) for name in names}


def group_of(module: str, groups: Mapping[str, tuple[str, ...]] = GROUPS) -> str:
    """Return the group that a module's cells count in: the one with the longest beginning that fits."""
    fitting = ((len(start), group) for group, starts in groups.items() for start in starts if module.startswith(start))
    return max(fitting)[1]


def fit(points: list[dict[str, Any]]) -> Model:
    """Return the least-squares fit to training points, each weighted by what it takes."""
    coefficients = {}
    for group in GROUPS:
        features = np.array([_features(group, knobs_of(point["knobs"])) for point in points], dtype=float)
        for what in FITTED:
            taken = np.array([point["groups"][group][what] for point in points], dtype=float)
            weights = 1.0 / np.array([point["total"][what] for point in points], dtype=float)
            solved = np.linalg.lstsq(features * weights[:, None], taken * weights, rcond=None)[0]
            coefficients[group, what] = np.asarray(solved, dtype=np.float64)
    return Model(coefficients)


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


def held_out(points: list[dict[str, Any]]) -> HeldOut:
    """Fit without each point in turn and return the errors on it."""
    errors: dict[str, list[float]] = {what: [] for what in FITTED}
    for number, point in enumerate(points):
        guess = fit(points[:number] + points[number + 1 :]).fitted(knobs_of(point["knobs"]))
        for what in FITTED:
            errors[what].append(abs(float(guess[what]) / point["total"][what] - 1))
    mean = {what: float(np.mean(errors[what])) for what in FITTED}
    return HeldOut(len(points), mean, {what: max(errors[what]) for what in FITTED})


@cache
def training() -> dict[str, Any]:
    """Return the training points, with the command that made them."""
    data: dict[str, Any] = json.loads((shipped.spec() / "resources.json").read_text())
    return data


@cache
def rtl_hash() -> str:
    """Return the hash of the RTL that training points are synthesised from: names and bytes of its files.

    The units for base conversion and for pointwise instructions, which no build of the space has, do not count.
    """
    state = hashlib.sha256()
    for path in sources.closure("rs_top_axi"):
        absent = path.stem.startswith(("rs_rns", "rs_pointwise")) and path.stem not in ("rs_rns_pkg", "rs_rns_unit")
        if not absent:
            state.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return state.hexdigest()


def trust() -> str:
    """Return the error on held-out points, and whether the RTL is still the one that they were synthesised from."""
    line = held_out(training()["points"]).line()
    if training()["rtl"] != rtl_hash():
        line += "; the RTL has changed since they were synthesised, DSP blocks too: ringsmith explore --calibrate"
    return line


@cache
def model() -> Model:
    """Return the fit to all training points."""
    return fit(training()["points"])


def resources_of(preset: Preset, board: Board) -> Resources:
    """Return what a preset takes of a board's device."""
    guess, cores = model().fitted(knobs_of(preset.to_dict())), preset.cores
    bram36, uram = memory_blocks(preset, uram=board.uram > 0)
    return Resources(int(guess["lut"]), int(guess["ff"]), cores * dsp_blocks(preset), cores * bram36, cores * uram)


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
    guess = model().fitted(knobs_of(columns))
    common = common_preset(candidate, board)
    for one, lut, ff in zip(hardware, guess["lut"].tolist(), guess["ff"].tolist(), strict=True):
        shape = (one.butterflies, one.dual_port_slots, one.single_port_slots, one.moduli_slots)
        dsp, bram36, uram = _lane(common, word_bits(candidate, one), shape, board.uram > 0)
        lanes = one.cores * one.lanes
        yield one, Resources(int(lut), int(ff), lanes * dsp, lanes * bram36, lanes * uram)


@cache
def _lane(common: Preset, bits: int, shape: tuple[int, int, int, int], uram: bool) -> tuple[int, float, int]:
    """Return the DSP and memory blocks of a lane: words, butterflies, slots of each kind, tables."""
    butterflies, dual, single, moduli = shape
    lane = replace(
        common, lanes=1, butterflies=butterflies, dual_port_slots=dual, single_port_slots=single, moduli_slots=moduli,
        word_bits=bits,
    )  # fmt: skip
    return dsp_blocks(lane), *memory_blocks(lane, uram=uram)
