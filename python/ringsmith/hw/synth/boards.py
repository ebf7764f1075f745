# SPDX-License-Identifier: Apache-2.0
"""Boards and devices (`spec/boards/*.toml`): their resources."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ringsmith.hw.synth.cells import Resources
from ringsmith.hw.synth.job import Family
from ringsmith.specs import Catalogue, shown

FAMILIES = tuple(family.value for family in Family)
NUMBERS = ("lut", "ff", "dsp", "bram36", "uram", "clock_mhz", "memory_gb_s")


@dataclass(frozen=True, kw_only=True)
class Board:
    """A device: totals for user logic, its synthesis family, a clock and its source, its memory's bandwidth in GB/s."""

    name: str
    device: str
    family: str
    lut: int
    ff: int
    dsp: int
    bram36: float
    uram: int
    clock_mhz: float
    clock_source: str
    memory_gb_s: float
    source: str

    def utilisation(self, used: Resources) -> list[tuple[str, float, float, float | None]]:
        """Rows (resource, used, available, percent); no percentage where the device has none of a resource."""
        rows: list[tuple[str, float, float, float | None]] = []
        for name, amount in used.to_dict().items():
            available = getattr(self, name)
            percent = 100 * amount / available if available else None
            rows.append((name, amount, available, percent))
        return rows

    @property
    def clock(self) -> str:
        """The clock and where it comes from."""
        return f"clock: {self.clock_mhz:g} MHz, {self.clock_source}"

    def overflow(self, used: Resources) -> str | None:
        """The resources that a design exceeds, and by how much; None if it fits."""
        short = [
            f"needs {amount:g} {name}, {self.name} has {available:g}: {amount - available:g} too many"
            for name, amount, available, _ in self.utilisation(used)
            if amount > available
        ]
        return "; ".join(short) or None


def _wrong(board: Board) -> Iterator[str]:
    """Yield what is wrong with a board's values."""
    if board.family not in FAMILIES:
        yield f"family must be {', '.join(FAMILIES)}, got {shown(board.family)}"
    for key in NUMBERS:
        if not 0 <= getattr(board, key) < math.inf:
            yield f"{key} must not be negative or endless, got {getattr(board, key)}"


_BOARDS = Catalogue("boards", Board, "board", _wrong)


def board_names() -> list[str]:
    """Names of the boards that ship with the package, sorted."""
    return _BOARDS.names()


def load_board(name: str) -> Board:
    """Load a board by name. Raises InputError for an unknown one, ParameterError for a file that describes none."""
    return _BOARDS.load(name)
