# SPDX-License-Identifier: Apache-2.0
"""Common to the tests of the search: a small kernel, its parameter sets, and a search of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.explore.boards import searched_board
from ringsmith.explore.evaluate import Evaluator, Predicts
from ringsmith.explore.parameters import Candidate, Refused, candidates
from ringsmith.explore.search import Search, explore, packed
from ringsmith.explore.space import values_with
from ringsmith.explore.store import Results
from ringsmith.runtime.kernel import Kernel

#: A search of it with some knobs set: file of results, settings, then `board`, `jobs` or `evaluator`, and `runs`.
Searched = Callable[..., Search]


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3)
def energy_of(x: Any) -> Any:
    """Return the sum of squares."""
    return np.sum(x * x)


@pytest.fixture(scope="session")
def energy() -> Kernel:
    """Return the kernel."""
    return energy_of


@pytest.fixture(scope="session")
def found() -> list[Candidate | Refused]:
    """Return its parameter sets."""
    return candidates(energy_of, {"x": (8,)})


@pytest.fixture(scope="session")
def searched(found: list[Candidate | Refused]) -> Searched:
    """Return the search."""

    def search(
        file: Path, vary: Sequence[str], *, board: str = "zcu102", jobs: int = 1, evaluator: Predicts | None = None,
        runs: int = 1,
    ) -> Search:  # fmt: skip
        target = searched_board(board)
        space = (found, values_with(["cores=1", "rns_rate=0", *vary], target.family), target, Results(file))
        if evaluator is not None:
            return explore(*space, evaluator, runs=runs)
        with Evaluator(packed(found), jobs) as own:
            return explore(*space, own, runs=runs)

    return search
