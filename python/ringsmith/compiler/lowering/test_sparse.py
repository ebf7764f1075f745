# SPDX-License-Identifier: Apache-2.0
"""Convolutions by their diagonals: what they compute, at one level each, on one ciphertext and over several."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from ringsmith.compiler.lowering import diagonals
from ringsmith.compiler.lowering.lower import LayoutSearch, lower
from ringsmith.compiler.lowering.test_layouts import graph_of
from ringsmith.compiler.lowering.test_lowering import check
from ringsmith.compiler.lowering.test_transforms import transforms
from ringsmith.errors import KernelError
from ringsmith.frontend.declare import Encrypted
from ringsmith.frontend.tensor import linear
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.geometry import Slots
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import SlotProgram
from ringsmith.ir.sparse_map import SparseMap, of_matrix, sparse_map
from ringsmith.runtime.kernel import kernel

RNG = np.random.default_rng(5)


def convolution(given: tuple[int, int, int], channels: int, size: int, stride: int = 1, pad: int = 0) -> SparseMap:
    """Return a convolution of random weights, computed the long way."""
    weights = RNG.normal(size=(channels, given[0], size, size))
    height, width = ((extent + 2 * pad - size) // stride + 1 for extent in given[1:])
    entries = []
    for (o, i, a, b), weight in np.ndenumerate(weights):
        for y, x in np.ndindex(height, width):
            row, column = y * stride + a - pad, x * stride + b - pad
            if 0 <= row < given[1] and 0 <= column < given[2]:
                entries.append(((o * height + y) * width + x, (i * given[1] + row) * given[2] + column, weight))
    rows, columns, values = zip(*entries, strict=True)
    return sparse_map(given, (channels, height, width), rows, columns, values, (stride, stride))


def depth(circuit: Circuit) -> int:
    """Return the levels that a circuit takes."""
    levels = [step.level for step in circuit.steps]
    return max(levels) - min(levels)


def on(shape: tuple[int, ...]) -> Any:
    return kernel(x=Encrypted(*shape, bound=1.0), tolerance=1e-3)


CHAINS = {
    "valid": [((1, 8, 8), 3, 3, 1, 0), ((3, 6, 6), 4, 3, 1, 0)],
    "same, then a stride": [((3, 8, 8), 4, 3, 1, 1), ((4, 8, 8), 8, 3, 2, 1)],
    "a stride, then within the gaps": [((2, 8, 8), 8, 3, 2, 1), ((8, 4, 4), 5, 3, 1, 1)],
    "two strides": [((1, 9, 7), 4, 3, 2, 1), ((4, 5, 4), 8, 3, 2, 1)],
    "one by one": [((4, 5, 5), 6, 1, 2, 0), ((6, 3, 3), 2, 1, 1, 0)],
    "wider than before": [((2, 4, 4), 2, 2, 1, 2), ((2, 7, 7), 3, 3, 1, 1)],
}


@pytest.mark.parametrize("slots", [4096, 128])
@pytest.mark.parametrize("name", list(CHAINS))
def test_convolutions(name: str, slots: int) -> None:
    first, second = (convolution(*arguments) for arguments in CHAINS[name])
    circuit = check(on(first.given)(lambda x: linear((linear(x, first) + 0.25) ** 2, second)), slots=slots)
    # One level for each convolution and one for the square.
    assert depth(circuit) == 3


def test_dense_layers_behind_a_convolution() -> None:
    first = convolution((1, 8, 8), 4, 3, 2, 1)
    second = of_matrix(RNG.normal(size=(64, 10)), (4, 4, 4), (10,))
    third = of_matrix(RNG.normal(size=(10, 3)), (10,), (3,))
    made = on(first.given)(lambda x: linear(linear(linear(x, first) ** 2, second) ** 2, third))
    circuit = check(made, slots=512)
    assert depth(circuit) == 5
    # Ten results in a period of sixteen: no more diagonals than these, whatever goes in.
    assert [len(t.plains) for t in transforms(circuit) if t.plains][-2] == 16


def test_branches_are_added() -> None:
    first, second = convolution((2, 8, 8), 4, 3, 2, 1), convolution((4, 4, 4), 4, 3, 1, 1)
    short = convolution((2, 8, 8), 4, 1, 2, 0)
    circuit = check(on((2, 8, 8))(lambda x: linear(linear(x, first) ** 2, second) + linear(x, short)), slots=512)
    assert depth(circuit) == 3


def test_a_shared_image_has_as_many_diagonals_as_the_kernel() -> None:
    first = convolution((1, 8, 8), 4, 3)
    circuit = check(on(first.given)(lambda x: linear(x, first)), slots=1024)
    (found,) = transforms(circuit)
    assert len(found.plains) == 9


def test_rows_and_maps_of_zeros() -> None:
    matrix = RNG.normal(size=(6, 5)) * (np.arange(5) != 2)
    check(on((6,))(lambda x: linear(x, of_matrix(matrix, (6,), (5,))) + 1.0), slots=64)
    none = of_matrix(np.zeros((6, 5)), (6,), (5,))
    check(on((6,))(lambda x: linear(x, none) + x[:5]), slots=64)


def test_a_view_with_elements_that_are_zero() -> None:
    first = convolution((1, 6, 6), 2, 3)
    check(on((4, 4))(lambda x: linear(np.pad(x, 1).reshape(1, 6, 6), first)), slots=256)


def test_integers_take_a_matrix() -> None:
    own = of_matrix(np.eye(3), (3,), (3,))
    with pytest.raises(KernelError, match="BFV takes a matrix"):
        kernel(scheme="bfv", x=Encrypted(3, bound=1))(lambda x: linear(x, own)).compile()
    with pytest.raises(KernelError, match=r"shape \(3,\) and a tensor of shape \(4,\)"):
        on((4,))(lambda x: linear(x, own)).compile()


def test_equal_diagonals_are_one_plaintext() -> None:
    every = np.arange(64)
    # All elements doubled, over two ciphertexts: the diagonal of the first one is that of the second.
    doubled = sparse_map((64,), (64,), every, every, np.full(64, 2.0))
    program = program_of(doubled)
    assert [op.kind for op in program.ops].count(Kind.MULTIPLY_PLAIN) == 2
    assert len(program.plains) == 1
    # A weight stands at the same places of both ciphertexts, but each has its own.
    scaled = sparse_map((64,), (64,), every, every, np.repeat([2.0, 3.0], 32))
    assert len(program_of(scaled).plains) == 2


def program_of(own: SparseMap) -> SlotProgram:
    made = on((64,))(lambda x: linear(x, own))
    return lower(graph_of(made), made.arguments, Slots(1, 32))


def test_a_layout_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, plain = Counter[Any](), diagonals._Entries.way

    def way(self: Any) -> Any:
        key = id(self.node), self._given.tobytes(), self._source.tobytes(), self.layout.name
        looked[key] += 1
        return plain(self)

    monkeypatch.setattr(diagonals._Entries, "way", way)
    first, second = convolution((2, 8, 8), 4, 3, 2, 1), convolution((4, 4, 4), 4, 3, 1, 1)
    made = on((2, 8, 8))(lambda x: linear(linear(x, first) ** 2, second))
    search = LayoutSearch(graph_of(made), made.arguments)
    search(Slots(1, 512))
    search.thrifty()(Slots(1, 512))
    assert len(search.found[Slots(1, 512)].layouts) > 3
    assert set(looked.values()) == {1}
