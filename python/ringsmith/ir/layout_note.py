# SPDX-License-Identifier: Apache-2.0
"""The notes that a report has on the layouts of a kernel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayoutNote:
    """A layout in words: what was decided about what, its price over the cheapest one's, and its key switches."""

    decisions: tuple[tuple[str, str], ...]
    price: float
    key_switches: int
