# SPDX-License-Identifier: Apache-2.0
"""Every assertion of core, lane, arithmetic, decode and memories fires once: a fault is planted, its words must come."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ringsmith.flow import sources
from ringsmith.flow.cocotb_runner import run_checks

pytestmark = [pytest.mark.hw]
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Plant:
    """A fault: in `unit`, `old` becomes `new`; the checks of `test` on `top` then end with `words`."""

    unit: str
    old: str
    new: str
    words: str
    test: str
    top: str = ""
    parameters: dict[str, int] = field(default_factory=dict)
    checks: str | None = None
    defines: tuple[str, ...] = ()


CORE = {"W": 20, "P": 1, "NMaxLog2": 5, "Slots": 5, "Lanes": 1, "SinglePort": 16, "ModMinBits": 9, "MulStyle": 0}
LANE = {"P": 1, "Width": 14, "Style": 0, "BankWords": 16, "SinglePort": 0b110000, "Slots": 6, "TableWords": 32}


def core(unit: str, old: str, new: str, words: str, check: str = "check_random_programs") -> Plant:
    """A fault seen from the core's pins."""
    return Plant(unit, old, new, words, "core/test_core.py", "rs_core", CORE, check)


def lane(unit: str, old: str, new: str, words: str, check: str = "check_pointwise") -> Plant:
    """A fault seen from the lane's pins."""
    return Plant(unit, old, new, words, "core/test_lane.py", "rs_lane", LANE, check, ("RINGSMITH_FAULT_PIN",))
