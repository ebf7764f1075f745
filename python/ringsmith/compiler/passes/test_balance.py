# SPDX-License-Identifier: Apache-2.0
"""Product trees: shallower, of the same value."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from ringsmith.compiler.lowering.lower import lower
from ringsmith.compiler.lowering.test_lowering import clear_run
from ringsmith.compiler.passes.balance import balanced
from ringsmith.compiler.scheduling import schedule_bfv, schedule_ckks
from ringsmith.frontend.declare import Encrypted, Plain
from ringsmith.frontend.trace import trace
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.geometry import Slots
from ringsmith.ir.slot_program import CIPHER_PRODUCTS
from ringsmith.runtime.kernel import kernel

SHAPES = {"x": (4,), "y": (4,), "w": (4,)}


def circuit_of(function: Any, scheme: str = "ckks") -> Circuit:
    made = kernel(scheme=scheme, x=Encrypted(4, bound=2), y=Encrypted(4, bound=2), w=Plain(4, bound=2))(function)
    program = lower(balanced(trace(made, SHAPES)), made.arguments, Slots(2 if scheme == "bfv" else 1, 16))
    if scheme == "bfv":
        return schedule_bfv.schedule(program, 3)
    return schedule_ckks.resolve(schedule_ckks.schedule(program), [2**40 + 1] * 20, 40)


def products(circuit: Circuit) -> tuple[int, int]:
    """Return how many products of ciphertexts there are, and how many stand on the longest way."""
    ways: list[int] = []
    for step in circuit.steps:
        ways.append(max((ways[arg] for arg in step.args), default=0) + (step.kind in CIPHER_PRODUCTS))
    return sum(step.kind in CIPHER_PRODUCTS for step in circuit.steps), max(ways)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y, w: x * x * x * x, (2, 2)),
        (lambda x, y, w: x * y * x * y, (2, 2)),
        (lambda x, y, w: x * x * x * x * x * x * x * x, (3, 3)),
        (lambda x, y, w: (x * x) * (x * (x * (y * y))), (4, 3)),
        (lambda x, y, w: x * y, (1, 1)),
        (lambda x, y, w: (x * y) * (x * y) + x * y, (2, 2)),
    ],
)
def test_products_on_the_longest_way(scheme: str, function: Any, expected: tuple[int, int]) -> None:
    assert products(circuit_of(function, scheme)) == expected


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("seed", range(12))
def test_random_trees_keep_their_values(scheme: str, seed: int) -> None:
    chance = random.Random(seed)

    def tree(leaves: list[Any], size: int) -> Any:
        if size == 1:
            return chance.choice(leaves)
        left = chance.randint(1, size - 1)
        return tree(leaves, left) * tree(leaves, size - left)

    def function(x: Any, y: Any, w: Any) -> Any:
        chance.seed(seed)
        return tree([x, y, x + y, w, x[::-1], y[:1], 2], 6) * x + tree([x, y], 5)

    rng = np.random.default_rng(seed)
    arrays = {name: rng.integers(-2, 3, shape) for name, shape in SHAPES.items()}
    if scheme == "ckks":
        arrays = {name: array.astype(np.float64) for name, array in arrays.items()}
    np.testing.assert_allclose(clear_run(circuit_of(function, scheme), arrays), function(**arrays), rtol=1e-12)
