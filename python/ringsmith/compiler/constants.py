# SPDX-License-Identifier: Apache-2.0
"""Constants measured: whether a kernel's own plaintexts are as ordinary as its noise guarantee takes them to be.

Values made to that end spread noise further, or lose more when they are rounded. Those of arguments are measured
when the program runs.
"""

from __future__ import annotations

import math

from ringsmith.compiler.encoding import open_encoding
from ringsmith.compiler.params import noise
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.compiler.params.steps import described
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.graph import ordered
from ringsmith.ir.index_map import taken
from ringsmith.parallel import side_by_side


def encodings(circuit: Circuit) -> list[tuple[int, float]]:
    """Return the plaintexts whose values bear on the noise: number and scale."""
    # Which key inputs are encrypted under has no part in it.
    return described(circuit, "secret").encodings()


def constants_are_ordinary(circuit: Circuit, params: ParameterSet) -> bool:
    """Return whether no constant of a circuit is contrived."""
    constants = [number for number, plain in enumerate(circuit.plains) if plain.constant]
    used = {number for number, _ in encodings(circuit)}.intersection(constants)
    if not used:
        return True
    nodes = evaluate(ordered(circuit.plains[number].node for number in sorted(used)), {})
    encoding = open_encoding(params)

    def effect(key: tuple[int, float]) -> float:
        number, scale = key
        plain = circuit.plains[number]
        return encoding.effect(taken(plain.gather, nodes[id(plain.node)]), scale)

    effects = side_by_side(effect, [key for key in encodings(circuit) if key[0] in used])
    return max(effects, default=-math.inf) <= noise.ordinary_effect(params)
