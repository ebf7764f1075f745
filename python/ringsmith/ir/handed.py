# SPDX-License-Identifier: Apache-2.0
"""The result of one program as an argument of another: where its elements stand, and what is known of its noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.geometry import Index, Slots

#: Of a ciphertext. CKKS: log2 of its error, its magnitude with the author's promises and without those that leave out
#: slots. BFV: log2 of its variance, factors of the secret, 0.
Noise = tuple[float, float, float]


@dataclass(frozen=True)
class Source:
    """The program that a result comes from: its name, its identity, and the noise of each of its outputs."""

    name: str
    identity: bytes
    noise: Sequence[Noise]


@dataclass(frozen=True, eq=False)
class Handed:
    """Ciphertexts of another program's result: `outputs` are their numbers there, `depths` the rescales before them.

    Element e stands in slot `slot[e]` of ciphertext `ct[e]`; `period` and `zeros` as of a packed tensor. `source` is
    known once that program is compiled.
    """

    outputs: tuple[int, ...]
    depths: tuple[int, ...]
    ct: Index
    slot: Index
    period: Slots
    zeros: NDArray[np.bool_]
    source: Source | None = None

    def only(self, kept: Sequence[int]) -> Handed:
        """Return what is handed over without the ciphertexts that nothing reads."""
        outputs, depths = (tuple(own[i] for i in kept) for own in (self.outputs, self.depths))
        return replace(self, outputs=outputs, depths=depths)

    @property
    def noise(self) -> list[Noise]:
        """The noise of each ciphertext."""
        if self.source is None:
            raise AssertionError("a result is taken once its program is compiled")
        return [self.source.noise[output] for output in self.outputs]

    def rows(self, slots: Slots) -> Index:
        """Return the element in every slot of each ciphertext (-1: anything)."""
        fill = np.full((len(self.outputs), slots.count), -1, dtype=np.intp)
        fill[self.ct.reshape(-1), self.slot.reshape(-1)] = np.arange(self.ct.size)
        return slots.repeat(fill, self.period)


def handed(
    ct: Index, slot: Index, period: Slots, zeros: NDArray[np.bool_], depths: Mapping[int, int]
) -> Handed:  # fmt: skip
    """Return a result, or a part of it, by the outputs that hold it; `depths` by output."""
    used, own = np.unique(ct, return_inverse=True)
    outputs = tuple(map(int, used))
    return Handed(outputs, tuple(depths[i] for i in outputs), own.reshape(ct.shape), slot, period, zeros[used])
