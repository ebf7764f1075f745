# SPDX-License-Identifier: Apache-2.0
"""Points of a front run for real: generated, simulated with the kernel's own data, beside what was predicted."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ringsmith.explore.design import preset_text
from ringsmith.explore.parameters import request_of
from ringsmith.explore.point import Point
from ringsmith.explore.search import Search
from ringsmith.files import write_text
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.runner import run

#: What verifies: the RTL under Verilator, or the functional model.
ENGINES = ("rtl", "model")


@dataclass(frozen=True)
class Verified:
    """A point that ran: cycles predicted and measured, largest error and its bound (BFV: 0), whether it was right."""

    name: str
    engine: str
    predicted: int
    measured: int
    error: float
    bound: float
    correct: bool

    @property
    def off(self) -> float:
        """How far the prediction is off, as a share of what was measured."""
        return self.predicted / self.measured - 1

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return asdict(self) | {"off": self.off}

    def line(self) -> str:
        """Return the point in a line."""
        right = "correct" if self.correct else "WRONG"
        return (
            f"verified on {self.engine}: {self.name}: {self.measured:,} cycles, predicted {self.predicted:,} "
            f"({100 * self.off:+.2f} %), error {self.error:.2g} within {self.bound:.2g}, {right}"
        )


def verify(
    kernel: Kernel, search: Search, count: int, engine: str, told: Callable[[str], None] = lambda _: None
) -> list[Verified]:
    """Run `count` points of the front, chosen at random after the search, or all where it has fewer.

    Raises:
        ToolError: the RTL cannot be built.
    """
    chosen = random.sample(search.front, min(count, len(search.front)))
    found = []
    for point in chosen:
        told(point.name)
        found.append(verified(kernel, search, point, engine))
    return found


def verified(kernel: Kernel, search: Search, point: Point, engine: str) -> Verified:
    """Run a point's program on its preset."""
    request = request_of(search.candidates[point.params].params)
    with tempfile.TemporaryDirectory(prefix="ringsmith-explore-") as folder:
        preset = Path(folder) / "point.toml"
        write_text(preset, preset_text(search.preset(point)))
        report = run(kernel.options(params=request), seed="1", engine=f"{engine}:{preset}")
    assert point.cycles is not None
    measured = report.engine_facts["device"]["cycles"]
    bound = report.guarantee if report.params.scheme == "ckks" else 0.0
    return Verified(point.name, engine, point.cycles, measured, report.max_abs_error, bound, report.correct)
