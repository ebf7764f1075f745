# SPDX-License-Identifier: Apache-2.0
"""NSGA-II beside the exhaustive search: nothing better is found, a good part is, the same seed does the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ringsmith.errors import InputError
from ringsmith.explore import evolve as evolving
from ringsmith.explore.conftest import Searched
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.point import dominates
from ringsmith.explore.report import nothing_fits
from ringsmith.explore.search import Search, packed
from ringsmith.explore.space import values_with
from ringsmith.explore.store import Results
from ringsmith.hw.synth import load_board

#: 96 builds for each set, some too large for the board.
FEW = ["lanes=2,8", "butterflies=2,8,16", "dual_port_slots=4,8,16", "single_port_slots=0", "moduli_slots=1,2"]
FEW += ["moves=0,16", "wide_port=0,1", "cores=1", "rns_rate=0"]


def evolved(found: list[Any], evaluations: int, board: str = "zcu102", seed: int = 1, jobs: int = 1) -> Search:
    pytest.importorskip("optuna", reason="the packages of requirements/dev.txt are not installed")
    with Evaluator(packed(found), jobs) as evaluator:
        space = (found, values_with(FEW), load_board(board), Results(Path(":memory:")), evaluator)
        return evolving.evolve(*space, evaluations, seed=seed)


@pytest.fixture(scope="module")
def whole(searched: Searched) -> Search:
    return searched(Path(":memory:"), FEW)


def test_a_good_part_of_the_front_is_found_and_nothing_that_beats_it(found: list[Any], whole: Search) -> None:
    some = evolved(found, 250)
    assert 0 < len(some.points) <= 250
    best = {point.objectives() for point in whole.front}
    for point in some.front:
        own = point.objectives()
        assert any(dominates(one, own) for one in best), "the whole front has it or better"
        assert not any(dominates(own, one) and own != one for one in best), "nothing is better than the whole front"
    share = len({point.objectives() for point in some.front} & best) / len(best)
    # Between 45 and 62 % for seeds 1 to 12; the last digit of an error, which is the processor's, decides which points.
    assert share > 1 / 3, f"{100 * share:.0f} % of the front"
    assert some.total == len(some.points) + sum(
        count for why, count in some.infeasible.items() if not any(point.reason == why for point in some.points)
    )


def test_a_seed_decides_whatever_the_number_of_workers(found: list[Any]) -> None:
    one, two, other = evolved(found, 70), evolved(found, 70, jobs=2), evolved(found, 70, seed=2)
    names = [[(point.name, point.status) for point in made.points] for made in (one, two, other)]
    assert names[0] == names[1]
    assert names[0] != names[2]


def test_a_space_where_nothing_fits_ends_with_its_nearest_miss(found: list[Any]) -> None:
    made = evolved(found, 50, board="zcu104")
    if not made.front:
        assert "the nearest miss is" in str(nothing_fits(made))
    assert all(point.share <= 1 for point in made.front)


def test_without_optuna_the_extra_is_named(found: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with Evaluator(packed(found), 1) as evaluator:
        space = (found, values_with(FEW), load_board("zcu102"), Results(Path(":memory:")), evaluator)
        with pytest.raises(InputError, match=r"pip install 'ringsmith\[search\]'"):
            evolving.evolve(*space, 10)
