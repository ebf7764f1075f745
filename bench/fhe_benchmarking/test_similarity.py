# SPDX-License-Identifier: Apache-2.0
"""The agreed search: what the polynomial makes of inner products, the stages on few records, the check."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from harness import HERE
from layout import Folders
from numpy.polynomial import chebyshev
from test_agreed import command, module

sys.path.append(str(HERE / "fetch_by_similarity" / "submission"))
import similarity


@pytest.fixture
def check() -> ModuleType:
    return module(HERE / "fetch_by_similarity" / "check.py")


def test_the_polynomial_tells_similar_records_from_others() -> None:
    coefficients = similarity.similar()

    def furthest(low: float, high: float, wanted: float) -> float:
        return float(np.abs(chebyshev.chebval(np.linspace(low, high, 9001), coefficients) - wanted).max())

    # A payload has 513 steps; 50,000 errors near 0 have to stay below half a match together.
    assert furthest(0.85, 1, 1) < 0.2 / similarity.SCALE
    assert furthest(-0.45, 0.45, 0) < 0.1 / 50_000
    assert furthest(-1, 0.7, 0) < 0.5 / similarity.SCALE


@pytest.mark.parametrize("counted", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_search_by_its_stages(tmp_path: Path, check: ModuleType, counted: bool) -> None:
    options = ["--count-only"] if counted else []
    # This seed's query is near a centre, so that something matches.
    done = command("fetch-by-similarity", "toy", "--seed", "10", "--json", *options, work=tmp_path)
    assert done.returncode == 0, done.stderr
    root = tmp_path / "fetch-by-similarity"
    name = "count_toy" if counted else "toy"
    figures = json.loads((root / "measurements" / name / "results-1.json").read_text())
    assert json.loads(done.stdout)["runs"] == [figures]
    assert set(figures["Bandwidth"]) == {
        "Public and evaluation keys",
        "Encrypted database",
        "Encrypted query",
        "Encrypted results",
    }
    folders = Folders("toy", root, counted)
    right, line = check.verdict(folders)
    assert right
    assert not line.startswith(("0 ", "[0]"))
    # One match too many, or one payload that is off by one, is told.
    kind: Any = np.int64 if counted else np.int16
    answer = np.fromfile(folders.io / "results.bin", kind)
    answer[-1] += 1
    answer.tofile(folders.io / "results.bin")
    assert not check.verdict(folders)[0]


def test_records_are_as_the_workload_promises(tmp_path: Path, check: ModuleType) -> None:
    folders = Folders("toy", tmp_path)
    folders.data.mkdir(parents=True)
    check.generate(folders, 3)
    records = np.fromfile(folders.data / "db.bin", np.float32).reshape(-1, 128)
    assert records.shape == (1000, 128)
    assert np.allclose(np.linalg.norm(records, axis=1), 1, atol=1e-5)
    payloads = np.fromfile(folders.data / "payloads.bin", np.int16)
    assert payloads.shape == (7000,)
    assert 0 <= payloads.min() < 5 < 500 < payloads.max() < 512
    matched = []
    for seed in range(40):
        check.ask(folders, seed)
        products = records @ np.fromfile(folders.data / "query.bin", np.float32)
        assert not ((products > 0.7) & (products < 0.85)).any()
        matched.append((products > 0.8).sum())
    assert 8 < np.count_nonzero(matched) < 32
    assert max(matched) <= 32
