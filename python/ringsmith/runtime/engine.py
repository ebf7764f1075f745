# SPDX-License-Identifier: Apache-2.0
"""The interface of engines, which run programs, and the first of them, the CPU.

An engine with a device runs whole programs on it, and a client encrypts and decrypts there. The same seed gives the
same residues on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ringsmith import _native
from ringsmith.runtime.client import Client
from ringsmith.runtime.messages import Encryptions
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.randomness import Seed
from ringsmith.runtime.recording import Recording
from ringsmith.runtime.run_trace import Step, write_run
from ringsmith.runtime.server import Execution, Progress


@dataclass(frozen=True)
class EngineOptions:
    """A user's settings of an engine: overrides `key=value` of a preset, a file for a timeline.

    `device_only`: a co-processor refuses programs of which the host would do something with ciphertexts.
    """

    overrides: Sequence[str] = ()
    trace: str | None = None
    device_only: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


class Engine(Protocol):
    """Runs programs."""

    @property
    def name(self) -> str:
        """The name a report shows, such as `cpu` or `model:cofhee`."""

    @property
    def device(self) -> _native.Backend | None:
        """The co-processor that programs and clients run on (None: the CPU)."""

    @property
    def recording(self) -> Recording | None:
        """The destination of recorded runs (None: not recorded)."""

    def report(self, seconds: float) -> dict[str, Any]:
        """Return what the engine adds to a report after a run of `seconds`: cycles, transfers, what ran where."""


@runtime_checkable
class WideTowers(Protocol):
    """An engine that wants longer primes than the CPU: fewer towers for the same modulus."""

    @property
    def tower_bits(self) -> int:
        """Length in bits that primes chosen for this engine may have."""


@runtime_checkable
class Timed(Protocol):
    """An engine that is told when each step of a run began and how long it took."""

    def timed(self, kernel: str, steps: Sequence[Step]) -> None:
        """Take a kernel's steps in order, after the report."""


@runtime_checkable
class Elsewhere(Protocol):
    """An engine that evaluates whole programs in another place, for a client of this one."""

    @property
    def keeps_client(self) -> bool:
        """Whether the client of one run is kept for the next."""

    def client(self, program: ProgramData, make: Callable[[], Client]) -> Client:
        """Return the client whose keys are used: one that was kept, or what `make` makes."""

    def server(self, client: Client) -> Evaluator:
        """Return what takes the place of `program.server(client.evaluation_keys)`."""


class Evaluator(Protocol):
    """Evaluates a program with the keys it has, as `run.server.Server` does."""

    def run(
        self, sent: Encryptions, plain: Mapping[str, Any], seed: Seed = None, progress: Progress | None = None
    ) -> Execution:
        """Evaluate and return the result with the seconds by kind of operation."""


class Cpu:
    """The production engine of this machine."""

    name = "cpu"
    device = None
    recording = None

    def __init__(self, trace: str | None = None) -> None:
        """Write the steps of each run to the file `trace`, if there is one."""
        self._trace = trace

    def timed(self, kernel: str, steps: Sequence[Step]) -> None:
        """Write the timeline that was asked for."""
        if self._trace is not None:
            write_run(Path(self._trace), f"{self.name} {kernel}", steps)

    def report(self, seconds: float) -> dict[str, Any]:
        """Nothing beside the times every run has."""
        return {}
