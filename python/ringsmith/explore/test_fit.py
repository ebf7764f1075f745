# SPDX-License-Identifier: Apache-2.0
"""The points of coxHE's Table III fit the boards of their names, by the estimate of the search."""

import pytest

from ringsmith.explore.resources import lacking, resources_of
from ringsmith.hw.synth.boards import load_board
from ringsmith.presets import load_preset

POINTS = [f"coxhe-{board}-{point}{number}" for number, board in ((1, "zcu104"), (2, "zcu102")) for point in "abcdef"]


@pytest.mark.parametrize("name", POINTS)
def test_every_point_fits_its_board(name: str) -> None:
    """No kind of cell is short; six lanes where three would do are found to be too many."""
    board = load_board(name.split("-")[1])
    assert lacking(resources_of(load_preset(name), board), board) is None
    if name in ("coxhe-zcu104-c1", "coxhe-zcu102-f2"):
        assert lacking(resources_of(load_preset(name, {"lanes": 6}), board), board) is not None
