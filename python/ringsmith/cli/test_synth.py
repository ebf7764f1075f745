# SPDX-License-Identifier: Apache-2.0
"""`ringsmith synth` in the store of results: each command can be measured anew."""

from __future__ import annotations

from math import ceil

from ringsmith.hw.synth import load_board
from ringsmith.hw.synth.cells import Resources
from ringsmith.results import read


def test_each_design_that_is_measured_beside_a_board_fits_it() -> None:
    """A design that does not fit ends with status 2 and is never measured: `--uram` sizes it without a board."""
    seen = 0
    for command, result in read().items():
        words = command.split()
        if words[:2] == ["ringsmith", "synth"] and "--board" in words:
            board = load_board(words[words.index("--board") + 1])
            values = result.values.items()
            totals = {
                place.removeprefix("total."): ceil(value) for place, value in values if place.startswith("total.")
            }
            assert board.overflow(Resources(**totals)) is None, command
            seen += 1
    assert seen > 3
