# SPDX-License-Identifier: Apache-2.0
"""The points of coxHE's Table III fit the boards of their names, by the estimate of the search."""

import pytest

from ringsmith.explore.blocks import dsp_blocks
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


def test_dsp_blocks_follow_the_kind_of_the_steps_and_a_unit_of_pointwise_instructions() -> None:
    # 28 butterflies of 30 bits: a product is two multipliers in a chain, each of its three steps one.
    fast = load_preset("heaws-fast")
    assert (fast.lanes * fast.butterflies, dsp_blocks(fast)) == (28, 56)
    assert dsp_blocks(load_preset("heaws-fast", {"montgomery_steps": "dsp"})) == 28 * (2 + 3)
    assert dsp_blocks(load_preset("heax-a-x6")) == 2 * dsp_blocks(load_preset("heax-a-x6", {"pointwise_unit": False}))
