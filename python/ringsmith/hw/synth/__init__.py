# SPDX-License-Identifier: Apache-2.0
"""From a design to resource counts, cell area and (on ECP5) a placed-and-routed clock, with open tools only."""

from __future__ import annotations

from ringsmith.hw.synth.boards import Board, load_board
from ringsmith.hw.synth.job import Design, Family, synthesise

__all__ = ["Board", "Design", "Family", "load_board", "synthesise"]
