# SPDX-License-Identifier: Apache-2.0
"""Energy of a run in 180 nm standard cells, before layout: memories counted access by access, cells fitted.

What a plan does is known: how many instructions of each kind, in how many cycles. A transform reads and writes a pair
of words and reads a word of its table n log2 n / (2P) times in each lane, a pointwise instruction reads n/P words of
each operand; each access takes what a published macro takes. Cells are sums over groups of modules, each linear in what
its modules multiply: registers times cycles (nothing gates a clock), butterflies times the bits of a product, words
that are read and moved. The coefficients, none negative, are fitted to training points of the silicon flow
(spec/energy.json). No figure is of an FPGA: there is no open model of one.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from ringsmith import shipped
from ringsmith.explore import resources
from ringsmith.explore.features import Floats, Knobs
from ringsmith.explore.resources import WHOLE, changed_since
from ringsmith.explore.space import common_base
from ringsmith.hw.silicon.memories import tiled

#: Instructions of a run, all cores together, as the engine counts them: by mnemonic `count`, `coefficients`, `reads`.
Executed = Mapping[str, Mapping[str, float]]
#: Every report says what the figure is.
LABEL = "180 nm standard cells, before layout, cells only, memories as published macros; not the energy of the board"
KNOBS = (
    "word_bits", "lanes", "butterflies", "n_max", "dual_port_slots", "single_port_slots", "moduli_slots", "moves",
    "wide_port", "cores",
)  # fmt: skip
#: Modules by group, by the beginning of their names, the longest that fits; the others are the shell.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "butterflies": ("rs_butterfly", "rs_mul", "rs_mod_", "rs_msub_", "rs_dsp48"),
    "lanes": ("rs_lane", "rs_twiddle_select", "rs_slot", "rs_ram"),
    "moves": ("rs_move",),
    "shell": ("", "rs_slot_ports"),
}
#: The knobs that features are made of, and the group that a module's cells count in.
knobs_of, group_of = partial(resources.knobs_of, names=KNOBS), partial(resources.group_of, groups=GROUPS)
_TRANSFORMS = ("ntt", "intt")
_PRODUCTS = ("pmodmul", "pmodsqr", "cmodmul", "pmul", "pmac")
_SUMS = ("pmodadd", "pmodsub")
_MOVES = ("auto", "decomp")
#: Constants of a lane: no knob of the space.
_CONSTANTS = common_base("xcup").constants
#: Of the compute unit: no order of instructions and no number of slots saves any (the bound on cycles has them too).
COMPUTE = (*_TRANSFORMS, *_PRODUCTS, *_SUMS)


@dataclass(frozen=True)
class Work:
    """What a lane does in a run, all cores together, in coefficients, and the cycles that the run takes.

    `butterflies` are those of transforms, n/2 log2 n of each; `products` and `sums` pointwise; `read` and `written` by
    all that is no butterfly, an inverse transform's addition included; `moved` by automorphisms and digits.
    """

    butterflies: float
    products: float
    sums: float
    read: float
    written: float
    moved: float
    cycles: Floats

    @classmethod
    def of(cls, executed: Executed, cycles: float | Floats) -> Work:
        """Return the work of these instructions; `coefficients` is n for each of them."""

        def total(kinds: Sequence[str], what: str = "coefficients") -> float:
            return float(sum(executed[kind][what] for kind in kinds if kind in executed))

        others = [kind for kind in executed if kind not in _TRANSFORMS]
        transformed = [executed[kind] for kind in _TRANSFORMS if kind in executed and executed[kind]["count"]]
        stages = [np.log2(one["coefficients"] / one["count"]) for one in transformed]
        return cls(
            butterflies=float(sum(one["coefficients"] / 2 * s for one, s in zip(transformed, stages, strict=True))),
            products=total(_PRODUCTS),
            sums=total(_SUMS),
            read=total(others, "reads") + total(_TRANSFORMS, "reads") - total(_TRANSFORMS),
            # Both halves of a product that is not reduced.
            written=total([kind for kind in others if kind not in ("store", "sync")]) + total(("pmul",)),
            moved=total(_MOVES),
            cycles=np.asarray(cycles, dtype=float),
        )


@dataclass(frozen=True)
class Energy:
    """Energy of a run in uJ: standard cells, and memories as published macros."""

    cells: Floats
    memories: Floats

    @property
    def total(self) -> Floats:
        """Both."""
        return self.cells + self.memories


def memories_uj(k: Knobs, work: Work) -> Floats:
    """Return the energy of all accesses to slots and twiddle tables, in uJ."""
    width, words = k["butterflies"] * k["word_bits"], k["n_max"] // k["butterflies"]
    read, write, _ = _access(width, np.maximum(words // 2, 2))
    _, _, factor = _access(width, words * k["moduli_slots"])
    # A pair of words in each step of a transform, one in one of a pointwise instruction or a move.
    reads, writes = (2 * work.butterflies + coefficients for coefficients in (work.read, work.written))
    energy = reads * read + writes * write + work.butterflies * factor
    return np.asarray(k["lanes"] * energy / k["butterflies"] * 1e-6)


def _access(width: Floats, words: Floats) -> tuple[Floats, Floats, Floats]:
    """Return pJ of a read and of a write of two-port banks, and of a read, of memories so wide and deep."""
    read, write = np.vectorize(_macros, otypes=[float] * 2)(width.astype(int), words.astype(int))
    return read, write, read


@cache
def _macros(width: int, words: int) -> tuple[float, float]:
    made = tiled(width, words)
    return made.read_pj, made.write_pj


def _bits(k: Knobs) -> Floats:
    return k["lanes"] * k["butterflies"] * k["word_bits"]


def _clocked(k: Knobs, work: Work) -> Floats:
    """Cycles of all cores: the registers of each are clocked while any of them works."""
    return k["cores"] * work.cycles


def _steps(k: Knobs) -> Floats:
    """Steps of Montgomery reduction, each with registers of its own; all control waits as long beside them."""
    return np.asarray(np.ceil(k["word_bits"] / (np.log2(k["n_max"]) + 1)))


def _butterflies(k: Knobs, work: Work) -> list[Floats]:
    clock = _bits(k) * _clocked(k, work)
    square = k["lanes"] * k["word_bits"] ** 2
    return [clock, clock * _steps(k), square * work.butterflies, square * work.products]


def _lanes(k: Knobs, work: Work) -> list[Floats]:
    words = k["lanes"] * k["word_bits"]
    slots = k["dual_port_slots"] + k["single_port_slots"]
    read = words * (2 * work.butterflies + work.read)
    return [_bits(k) * _clocked(k, work), read, read * slots]


def _moves(k: Knobs, work: Work) -> list[Floats]:
    there = np.sign(k["moves"])
    words = k["lanes"] * k["word_bits"]
    return [there * _bits(k) * _clocked(k, work), there * words * k["butterflies"] * work.moved]


def _shell(k: Knobs, work: Work) -> list[Floats]:
    # Words of a lane in tables of registers: constants, three of a modulus, a digit's bound and offset.
    tables = k["lanes"] * k["word_bits"] * (_CONSTANTS + 3 * np.maximum(k["moduli_slots"], 2) + 2 * k["moves"])
    port = k["butterflies"] * k["word_bits"] * np.where(k["wide_port"] > 0, k["lanes"], 1)
    return [one * _clocked(k, work) for one in (port**0, _steps(k), tables, port)]


#: What the modules of each group multiply.
FEATURES: Mapping[str, Callable[[Knobs, Work], list[Floats]]] = {
    "butterflies": _butterflies, "lanes": _lanes, "moves": _moves, "shell": _shell,
}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """Coefficients by group, in pJ for one of a feature, none negative."""

    coefficients: Mapping[str, Floats]

    def of(self, knobs: Knobs, work: Work) -> Energy:
        """Return the energy of a run."""
        groups = self.by_group(knobs, work)
        return Energy(np.asarray(sum(groups.values())), memories_uj(knobs, work))

    def by_group(self, knobs: Knobs, work: Work) -> dict[str, Floats]:
        """Return uJ of the cells of each group of modules."""
        return {group: _dot(self.coefficients[group], FEATURES[group](knobs, work)) for group in GROUPS}


def _dot(coefficients: Floats, features: Sequence[Floats]) -> Floats:
    return np.asarray(sum(one * feature for one, feature in zip(coefficients, features, strict=True)) * 1e-6)


def fit(points: Sequence[Mapping[str, Any]]) -> Model:
    """Return the least-squares fit to training points, each weighted by the energy of its cells."""
    weights = np.array([1 / sum(point["groups"].values()) for point in points])
    coefficients = {}
    for group, features in FEATURES.items():
        rows = np.array([np.array(features(*of_point(point)), dtype=float) for point in points]) * 1e-6
        taken = np.array([point["groups"][group] for point in points])
        coefficients[group] = non_negative(rows * weights[:, None], taken * weights)
    return Model(coefficients)


def of_point(point: Mapping[str, Any]) -> tuple[dict[str, Floats], Work]:
    """Return the knobs and the work of a training point."""
    return knobs_of(point["knobs"]), Work.of(point["executed"], point["cycles"])


def non_negative(rows: Floats, wanted: Floats) -> Floats:
    """Return the least-squares solution without negative coefficients: the best of those of all sets of columns.

    At the optimum the positive coefficients are the free least-squares solution of their columns.
    """
    columns = range(rows.shape[1])
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-300)
    best, least = np.zeros(rows.shape[1]), float(wanted @ wanted)
    for count in range(1, rows.shape[1] + 1):
        for kept in map(list, itertools.combinations(columns, count)):
            solved = np.linalg.lstsq(rows[:, kept] / scale[kept], wanted, rcond=None)[0]
            off = rows[:, kept] / scale[kept] @ solved - wanted
            if solved.min() >= 0 and float(off @ off) < least:
                best, least = np.zeros(rows.shape[1]), float(off @ off)
                best[kept] = solved / scale[kept]
    return best


@dataclass(frozen=True)
class HeldOut:
    """Errors on operations of builds that a fit did not see, as shares: of cells, and with memories."""

    operations: int
    builds: int
    cells: Sequence[float]
    total: Sequence[float]

    def line(self) -> str:
        """Return the errors in a line."""
        parts = [
            f"{what} {100 * float(np.mean(errors)):.1f} % (largest {100 * max(errors):.1f} %)"
            for what, errors in (("cells", self.cells), ("with memories", self.total))
        ]
        return (
            f"energy ({LABEL}) against the silicon flow, {self.operations} operations, each of {self.builds} builds "
            f"held out in turn: {', '.join(parts)}"
        )


def held_out(points: Sequence[Mapping[str, Any]]) -> HeldOut:
    """Fit without each build in turn, all of its operations, and return the errors on them."""
    cells, total = [], []
    for point in points:
        guess = fit([other for other in points if other["knobs"] != point["knobs"]]).of(*of_point(point))
        found = sum(point["groups"].values())
        cells.append(abs(float(guess.cells) / found - 1))
        total.append(abs(float(guess.total) / (found + point["memories"]) - 1))
    return HeldOut(len(points), len({str(point["knobs"]) for point in points}), cells, total)


@cache
def training() -> dict[str, Any]:
    """Return the training points, with the command that made them."""
    data: dict[str, Any] = json.loads((shipped.spec() / "energy.json").read_text())
    return data


@cache
def model() -> Model:
    """Return the fit to all training points."""
    return fit(training()["points"])


def trust() -> str:
    """Return what the figures are, their error on held-out builds, and whether the RTL is still that of the points."""
    used = [(point["rtl"], WHOLE) for point in training()["points"]]
    return _held_out_line() + changed_since(used, "mapped: ringsmith explore --calibrate-energy")


@cache
def _held_out_line() -> str:
    return held_out(training()["points"]).line()
