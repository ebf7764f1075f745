# SPDX-License-Identifier: Apache-2.0
"""What the modules of each group multiply, by which LUTs and flip-flops of a build are fitted to synthesis."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ringsmith.explore.blocks import adders_and_registers

Floats = NDArray[np.float64]
#: Knobs of one build or of many.
Knobs = Mapping[str, Floats]
#: The group that is fitted to syntheses of one unit alone.
CONVERSION = "conversion"


def features(family: str, group: str, knobs: Knobs) -> Floats:
    """Return what the modules of a group multiply in builds for a family, in all cores."""
    made = (_OF_FAMILY.get(family, {}).get(group) or _OF_GROUP[group])(knobs)
    return np.array([knobs["cores"] * feature for feature in made], dtype=float)


def _butterflies(k: Knobs) -> list[Floats]:
    copies = k["lanes"] * k["butterflies"]
    sums = np.vectorize(adders_and_registers, otypes=[float] * 2)(k["word_bits"].astype(int), k["n_max"].astype(int))
    return [copies * k["word_bits"], *(copies * bits for bits in sums)]


def _bits(k: Knobs) -> Floats:
    return k["lanes"] * k["butterflies"] * k["word_bits"]


def _slots(k: Knobs) -> Floats:
    return k["dual_port_slots"] + k["single_port_slots"]


def _third(k: Knobs) -> Floats:
    """Whether there is a unit for moves or for base conversion, beside compute and memory."""
    return np.sign(k["moves"] + k["rns_rate"])


def _selects(k: Knobs) -> list[Floats]:
    ports = 7 + 2 * _third(k)  # reads of the slots in a lane: the unit for moves and conversions has two more
    return [_bits(k) * ports, _bits(k) * ports * _slots(k)]


def _lanes(k: Knobs) -> list[Floats]:
    # A slot has a choice of its banks; with a third unit also one for each bank of who writes.
    return [_bits(k), _bits(k) * _slots(k) * (1 + 2 * _third(k))]


def _moves(k: Knobs) -> list[Floats]:
    there = np.sign(k["moves"])
    bits = there * _bits(k)
    # Each word of a lane is one of any lane.
    return [there, bits, bits * k["butterflies"], bits * k["lanes"]]


def _shell(k: Knobs) -> list[Floats]:
    words = k["lanes"] * k["word_bits"]
    port = k["butterflies"] * k["word_bits"] * np.where(k["wide_port"] > 0, k["lanes"], 1)
    return [words**0, words, _slots(k), port]


def _conversion(k: Knobs) -> list[Floats]:
    # A lane has a product of words for each coefficient at a time, and reduces their sums.
    there = np.sign(k["rns_rate"])
    products = k["lanes"] * k["word_bits"] ** 2
    return [there, there * products, k["rns_rate"] * products]


def _ecp5_butterflies(k: Knobs) -> list[Floats]:
    # Products are tiles of multipliers, their sums and the steps of reduction are in LUTs.
    copies, bits = k["lanes"] * k["butterflies"], k["word_bits"]
    steps = np.ceil(bits / (np.log2(k["n_max"]) + 1))
    return [copies * bits, copies * bits * steps, copies * bits**2]


def _ecp5_selects(k: Knobs) -> list[Floats]:
    # Which choices count here and which with the slots depends on whether there is a third unit.
    third = _third(k)
    return [_bits(k), _bits(k) * _slots(k), _bits(k) * third, _bits(k) * _slots(k) * third]


#: What the modules of each group multiply.
_OF_GROUP: Mapping[str, Callable[[Knobs], list[Floats]]] = {
    "butterflies": _butterflies, "selects": _selects, "lanes": _lanes, "moves": _moves, "shell": _shell,
    CONVERSION: _conversion,
}  # fmt: skip
#: In builds for these families, where it is something else.
_OF_FAMILY: Mapping[str, Mapping[str, Callable[[Knobs], list[Floats]]]] = {
    "ecp5": {"butterflies": _ecp5_butterflies, "selects": _ecp5_selects, "lanes": _ecp5_selects},
}
