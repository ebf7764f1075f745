# SPDX-License-Identifier: Apache-2.0
"""The tops of presets: each says what it takes to build, drive and document it; `describe` finds a preset's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ringsmith.hw.tops.axi4 import Axi4
from ringsmith.hw.tops.ntt8 import Axil, Axis
from ringsmith.hw.tops.serial import Serial
from ringsmith.hw.tops.top import Top
from ringsmith.presets import AnyPreset

# By `shell` of the preset.
_TOPS: Mapping[str, Callable[[Any], Top]] = {"axi4": Axi4, "serial": Serial, "axil": Axil, "axis": Axis}


def describe(preset: AnyPreset) -> Top:
    """Return the top module of a preset, of whatever kind."""
    return _TOPS[preset.shell](preset)
