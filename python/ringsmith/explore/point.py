# SPDX-License-Identifier: Apache-2.0
"""A point of a search: a parameter set, a build, and what is known of the two together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ringsmith.explore.space import Hardware


@dataclass(frozen=True)
class Point:
    """A design and its figures; `reason` says why it does not do, or what makes it superfluous.

    `share` is the largest part of a resource of the board that it takes. `latency_ms` is the device's time, cycles from
    the first start to the last end of each submission at the clock of the preset, `host_ms`, this processor's for
    the `host_operations` on polynomials that stay on the host, and `port_ms` on a board's serial port; `bound_ms` is
    what it cannot be below. `batch_ms` is the same of a batch of `runs` runs on all cores, `batch_bound_ms` its bound.
    `cells_uj` and `memories_uj` are the energy of a run in 180 nm standard cells (explore/energy.py), `energy_bound_uj`
    what both together cannot be below.
    """

    params: str
    hardware: Hardware
    resources: Mapping[str, float]
    share: float
    error_bits: float
    traffic_bytes: int
    security_bits: float
    host_operations: int = 0
    bound_ms: float = 0.0
    latency_ms: float | None = None
    host_ms: float = 0.0
    port_ms: float = 0.0
    runs: int = 1
    batch_bound_ms: float = 0.0
    batch_ms: float | None = None
    cycles: int | None = None
    usage: Mapping[str, Any] | None = None
    energy_bound_uj: float = 0.0
    cells_uj: float | None = None
    memories_uj: float | None = None
    status: str = "open"
    reason: str = ""

    @property
    def name(self) -> str:
        """What `--point` takes."""
        return f"{self.params}-{self.hardware.name}"

    @property
    def device_ms(self) -> float | None:
        """Latency without the host's part and the port's."""
        return None if self.latency_ms is None else self.latency_ms - self.host_ms - self.port_ms

    @property
    def per_second(self) -> float | None:
        """Runs in a second: batches one after another."""
        return None if self.batch_ms is None else 1e3 * self.runs / self.batch_ms

    @property
    def energy_uj(self) -> float | None:
        """Energy of a run in uJ, cells and memories."""
        return None if self.cells_uj is None or self.memories_uj is None else self.cells_uj + self.memories_uj

    def ended(self, status: str, reason: str = "") -> Point:
        """Return the point with what came of it."""
        return replace(self, status=status, reason=reason)

    def objectives(self) -> tuple[float, ...]:
        """Return what a search makes small, the bound in place of a time or an energy that is not known.

        Latency, time of a batch, share of the board, error, bytes on the wire, operations left to the host, energy.
        """
        latency = self.bound_ms if self.latency_ms is None else self.latency_ms
        batch = self.batch_bound_ms if self.batch_ms is None else self.batch_ms
        energy = self.energy_bound_uj if self.energy_uj is None else self.energy_uj
        return (latency, batch, self.share, self.error_bits, float(self.traffic_bytes), self.host_operations, energy)

    def to_dict(self) -> dict[str, Any]:
        """Return all that is known, ready for JSON."""
        values = asdict(self)
        made = {"device_ms": self.device_ms, "per_second": self.per_second, "energy_uj": self.energy_uj}
        return {"name": self.name, **values, **made}


def dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Return whether one result is nowhere worse than another and somewhere better, or the same."""
    return all(a <= b for a, b in zip(one, other, strict=True))


def pareto(points: list[Point]) -> list[Point]:
    """Return the points that no other dominates, by rising latency; of equal ones the first."""
    front: list[Point] = []
    for point in sorted(points, key=lambda point: (point.objectives(), point.name)):
        if not any(dominates(other.objectives(), point.objectives()) for other in front):
            front.append(point)
    return front
