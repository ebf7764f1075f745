# SPDX-License-Identifier: Apache-2.0
"""The circuit: every homomorphic operation that runs, with the level, scale and size of its result.

A level is the number of data primes left minus one. `scale` is 1 for BFV.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Shape, frozen
from ringsmith.ir.handed import Source
from ringsmith.ir.kinds import FACTS, Kind
from ringsmith.ir.slot_program import InputPacking, PlainOperand, Transform
from ringsmith.location import Location

RELINEARIZATIONS = tuple(kind for kind, facts in FACTS.items() if facts.key == "relinearization")
ROW_SWAPS = tuple(kind for kind, facts in FACTS.items() if facts.key == "row_swap")
#: Operations that take key switches.
SWITCHES = tuple(kind for kind, facts in FACTS.items() if facts.key not in ("none", "public"))
#: Names of the steps that are no operations: nothing runs.
FREE = tuple(kind for kind, facts in FACTS.items() if not facts.runs)
_REFRESHES = tuple(kind for kind, facts in FACTS.items() if facts.key == "bootstrapping")
_ENCRYPTIONS = tuple(kind for kind, facts in FACTS.items() if facts.key == "public")
_ROTATIONS = tuple(kind for kind, facts in FACTS.items() if facts.key == "rotation")


# Not frozen: the search for parameters makes millions of steps, and a frozen one takes four times as long to make.
@dataclass(slots=True, unsafe_hash=True)
class Step:
    """One homomorphic operation. `plain` indexes the plaintexts (-1: none), encoded at `plain_scale` and `level`.

    `transform` is that of a linear transform, its plaintexts encoded at `plain_scale`; `bound`, `everywhere`
    and `error` belong to `within`.
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
    error: float = math.inf
    transform: Transform | None = None

    @property
    def plains(self) -> list[int]:
        """The plaintexts it uses."""
        own = [self.plain] if self.plain >= 0 else []
        return own + (self.transform.plains if self.transform else [])

    @property
    def rotations(self) -> list[int]:
        """The rotations it takes keys for."""
        if self.transform is not None:
            return self.transform.rotations
        return [self.steps] if self.kind in _ROTATIONS else []

    @property
    def refreshes(self) -> bool:
        """Whether it gives a ciphertext new levels."""
        return self.kind in _REFRESHES

    @property
    def key_switches(self) -> int:
        """Key switches: in a transform one for each distinct baby rotation and each giant rotation."""
        return len(self.rotations) + (self.kind in (*RELINEARIZATIONS, *ROW_SWAPS))


@dataclass(frozen=True, eq=False)
class OutputPacking:
    """Packing of the result: element e is slot `slot[e]` of output `ct[e]`.

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

    def received(self, sources: Mapping[str, Source]) -> Circuit:
        """Return the circuit with what is known of the programs whose results it takes, by argument."""
        inputs = {
            name: replace(own, handed=replace(own.handed, source=sources[name])) if own.handed else own
            for name, own in self.inputs.items()
        }
        return replace(self, inputs=frozen(inputs))

    def counts(self) -> dict[str, int]:
        """Count the operations by name; `key_switch` is the sum of relinearisations, rotations and row swaps, those
        inside linear transforms too."""
        found = Counter(step.kind for step in self.steps if step.kind not in FREE)
        counts = {kind.value: found[kind] for kind in Kind if found[kind]}
        counts["key_switch"] = sum(step.key_switches for step in self.steps)
        return counts

    def rotations(self) -> tuple[int, ...]:
        """Return the distinct rotation steps: they determine the Galois keys."""
        return tuple(sorted({by for step in self.steps for by in step.rotations}))

    def refreshes(self) -> int:
        """Return how many ciphertexts are given new levels."""
        return sum(step.refreshes for step in self.steps)

    def switches_keys(self) -> bool:
        """Return whether any operation needs a key switch."""
        return any(step.key_switches for step in self.steps)

    def encrypts(self) -> bool:
        """Return whether the evaluator encrypts zeros and so needs the public key."""
        return any(step.kind in _ENCRYPTIONS for step in self.steps)

    def relinearizes(self) -> bool:
        """Return whether a relinearisation key is needed."""
        return any(step.kind in RELINEARIZATIONS for step in self.steps)
