# SPDX-License-Identifier: Apache-2.0
"""The tops of presets: each says what it takes to build, drive and document it; `describe` finds a preset's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ringsmith.hw.tops.axi4 import Axi4
from ringsmith.hw.tops.serial import Serial
from ringsmith.hw.tops.top import Top
from ringsmith.presets import SYSTEM, AnyPreset, room

# Of co-processors, by `shell` of the preset.
_TOPS: Mapping[str, Callable[[Any], Top]] = {"axi4": Axi4, "serial": Serial}


def describe(preset: AnyPreset) -> Top:
    """Return the top module of a preset, of whatever kind."""
    tops = _TOPS if preset.top == SYSTEM else room(preset.top, "top").TOPS
    made: Top = tops[preset.shell](preset)
    return made
