# SPDX-License-Identifier: Apache-2.0
"""The circuit: every homomorphic operation that runs, with the level, scale and size of its result.

A level is the number of data primes left minus one. `scale` is 1 for BFV.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ringsmith.kernel.geometry import Index, Slots
from ringsmith.kernel.graph import Shape
from ringsmith.kernel.location import Location
from ringsmith.kernel.slots import InputPacking, Kind, PlainOperand

KEY_SWITCHES = (Kind.RELINEARIZE, Kind.ROTATE, Kind.SWAP_ROWS)
_FREE = (Kind.INPUT, Kind.WITHIN)


@dataclass(frozen=True)
class Step:
    """One homomorphic operation. `plain` indexes the plaintexts (-1: none), encoded at `plain_scale` and `level`.

    `bound` and `everywhere` belong to `within`.
    """

    kind: Kind
    args: tuple[int, ...]
    where: Location = field(compare=False)
    level: int
    scale: float
    size: int
    plain: int = -1
    plain_scale: float = 1.0
    steps: int = 0
    bound: float = math.inf
    everywhere: bool = False


@dataclass(frozen=True, eq=False)
class OutputPacking:
    """Where the result stands: element e is slot `slot[e]` of output `ct[e]`.

    Or `unpack`, a user's own function that does more than pick elements; `trace` holds its answers to probes.
    """

    shape: Shape
    ct: Index | None
    slot: Index | None
    unpack: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    trace: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Circuit:
    """A kernel ready to run: inputs in order (their steps come first), operations, plaintexts, outputs."""

    scheme: str
    slots: Slots
    inputs: Mapping[str, InputPacking]
    bounds: Mapping[str, float]
    steps: tuple[Step, ...]
    plains: tuple[PlainOperand, ...]
    outputs: tuple[int, ...]
    output: OutputPacking

    def __getstate__(self) -> dict[str, Any]:
        """Return a picklable state."""
        return {**self.__dict__, "inputs": dict(self.inputs), "bounds": dict(self.bounds)}

    def counts(self) -> dict[str, int]:
        """Count the operations by name; `key_switch` is the sum of those that switch keys."""
        found = Counter(step.kind for step in self.steps if step.kind not in _FREE)
        counts = {kind.value: found[kind] for kind in Kind if found[kind]}
        counts["key_switch"] = sum(found[kind] for kind in KEY_SWITCHES)
        return counts

    def rotations(self) -> tuple[int, ...]:
        """Return the distinct rotation steps: they determine the Galois keys."""
        return tuple(sorted({step.steps for step in self.steps if step.kind is Kind.ROTATE}))

    def switches_keys(self) -> bool:
        """Tell whether any operation needs a key switch."""
        return any(step.kind in KEY_SWITCHES for step in self.steps)

    def top_level(self, kind: Kind) -> int | None:
        """Return the highest level at which operations of a kind run (None: there are none): keys are cut to it."""
        return max((step.level for step in self.steps if step.kind is kind), default=None)

    def encrypts(self) -> bool:
        """Tell whether the evaluator encrypts zeros and so needs the public key."""
        return any(step.kind is Kind.ENCRYPT_ZERO for step in self.steps)

    def relinearizes(self) -> bool:
        """Tell whether a relinearisation key is needed."""
        return any(step.kind is Kind.RELINEARIZE for step in self.steps)
