# SPDX-License-Identifier: Apache-2.0
"""Several cores and batches: a program's independent outputs, or a batch of it, on all cores, as predicted."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import ParameterError
from ringsmith.explore.conftest import Searched
from ringsmith.explore.design import preset_text
from ringsmith.explore.evaluate import Evaluator, predicted
from ringsmith.explore.parameters import Candidate, candidates, request_of
from ringsmith.explore.point import dominates
from ringsmith.explore.resources import resources_of
from ringsmith.explore.search import explore, packed
from ringsmith.explore.space import Hardware, preset_of, values_with
from ringsmith.explore.store import Results
from ringsmith.hw.synth import load_board
from ringsmith.runtime.runner import run

BOARD = load_board("zcu102")
#: Twelve builds.
FEW = ["lanes=1,3", "butterflies=4", "dual_port_slots=6,8", "single_port_slots=0", "moduli_slots=4", "moves=16"]
FEW += ["wide_port=1", "cores=1,2,4", "rns_rate=0"]


@rs.kernel(
    scheme="ckks", mode="manual", params=rs.ParamRequest(n=4096, data_bits=(33,), special_bits=(33,), log2_scale=25),
    a=rs.Encrypted(5, 8, bound=1.0, packing="rows"), output=rs.Output(5, 1, packing="each"), tolerance=1.0,
    reference=lambda a: (a + np.roll(a, -1, axis=1))[:, :1],
)  # fmt: skip
def neighbours(a: Any) -> Any:
    """Each row on its own: five outputs that have nothing in common."""
    return [[row + rs.rotate(row, 1)] for row in a]


@pytest.fixture(scope="module")
def rows() -> Candidate:
    (one,) = (one for one in candidates(neighbours, {"a": (5, 8)}, ["n4096q33p33d1s25"]) if isinstance(one, Candidate))
    return one


def test_outputs_that_have_nothing_in_common_take_all_cores_as_predicted(rows: Candidate, tmp_path: Path) -> None:
    taken = {}
    with Evaluator(packed([rows]), 1):
        for cores in (1, 2, 4, 8):
            preset = preset_of(rows, Hardware(1, 4, 8, 0, 4, 16, wide_port=True, cores=cores), BOARD)
            usage = predicted(rows.name, preset)
            assert isinstance(usage, dict)
            assert usage["cores"] == min(cores, 5)
            taken[cores] = usage["cycles"]
            file = tmp_path / "point.toml"
            file.write_text(preset_text(preset))
            report = run(neighbours.options(params=request_of(rows.params)), seed="1", engine=f"model:{file}")
            assert report.correct
            assert report.engine_facts["device"]["cycles"] == usage["cycles"], cores
            assert report.engine_facts["offloaded"] == usage["offloaded"]
    # Five rows on two cores are three on one of them, on four two.
    assert taken[8] < taken[4] < taken[2] < taken[1]
    assert 3 / 5 < taken[2] / taken[1] < 3.6 / 5
    assert 2 / 5 < taken[4] / taken[1] < 2.6 / 5


def test_cores_without_work_are_superfluous(rows: Candidate, found: list[Any], searched: Searched) -> None:
    one = searched(Path(":memory:"), FEW)
    assert {point.hardware.cores for point in one.points} == {1}
    with Evaluator(packed([rows]), 1) as evaluator:
        many = explore([rows], values_with([*FEW, "cores=1,6,8"]), BOARD, Results(Path(":memory:")), evaluator)
    assert {point.hardware.cores for point in many.points} == {1, 6}
    assert many.pruned >= 4, "eight cores have no more work than six"
    assert many.total == many.pruned + sum(many.infeasible.values()) + sum(p.status == "done" for p in many.points)


def test_a_batch_is_an_objective_of_its_own(searched: Searched) -> None:
    fewer = [*FEW, "lanes=3", "dual_port_slots=8"]
    alone, batched = searched(Path(":memory:"), fewer), searched(Path(":memory:"), fewer, runs=12)
    assert {point.name for point in alone.front} <= {point.name for point in batched.front}
    fastest = min(batched.front, key=lambda point: point.batch_ms or 0)
    assert fastest.hardware.cores == 4
    assert fastest.batch_ms is not None
    assert fastest.latency_ms is not None
    assert fastest.batch_ms < 12 * fastest.latency_ms / 2, "four cores, though one port"
    assert fastest.per_second == 12e3 / fastest.batch_ms
    points = [point for point in batched.points if point.status == "done"]
    for point in random.sample(points, min(4, len(points))):
        on_front = any(point.name == other.name for other in batched.front)
        beaten = any(dominates(o.objectives(), point.objectives()) for o in batched.front if o.name != point.name)
        assert on_front != beaten


def test_cores_take_as_much_as_one_each(rows: Candidate) -> None:
    builds = [Hardware(2, 4, 8, 0, 4, 16, wide_port=True, cores=cores) for cores in (1, 3)]
    one, three = (resources_of(preset_of(rows, build, BOARD), BOARD).to_dict() for build in builds)
    assert three == {what: pytest.approx(3 * amount, rel=1e-4) for what, amount in one.items()}


def test_words_are_as_wide_as_asked_for_and_hold_every_prime(rows: Candidate) -> None:
    assert preset_of(rows, Hardware(1, 4, 8, 0, 4, 16, True), BOARD).word_bits == 33
    wide = Hardware(1, 4, 8, 0, 4, 16, True, 2, 40)
    assert preset_of(rows, wide, BOARD).word_bits == 40
    assert wide.name == "l1b4s8x0m4v16wc2w40"
    assert Hardware.named(wide.name) == wide
    with pytest.raises(ParameterError, match="word_bits must be at least 33, the longest prime's, got 30"):
        preset_of(rows, Hardware(1, 4, 8, 0, 4, 16, True, 1, 30), BOARD)
