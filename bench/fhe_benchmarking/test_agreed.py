# SPDX-License-Identifier: Apache-2.0
"""The agreed benchmarks at small sizes: whole runs by the command, wrong answers, stopped runs, bad input."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from harness import HERE, Request, Step, StoppedError, Workload, readable
from harness import run as run_steps
from layout import Folders


def command(*arguments: str, work: Path) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    whole = [sys.executable, str(HERE / "run.py"), *arguments, "--work", str(work)]
    return subprocess.run(whole, capture_output=True, text=True, timeout=300)


def module(path: Path) -> ModuleType:
    """A module of a submission, whose folder is no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_zn_multiplication_by_its_stages(tmp_path: Path) -> None:
    done = command("zn-multiplication", "single", "--runs", "2", "--again", "2", "--json", work=tmp_path)
    assert done.returncode == 0, done.stderr
    root = tmp_path / "zn-multiplication"
    found = json.loads(done.stdout)
    files = [json.loads((root / "measurements" / "single" / f"results-{n}.json").read_text()) for n in (1, 2)]
    assert found["runs"] == files
    assert list(files[0]["Timing"]) == [
        "Input generation",
        "Input preprocessing",
        "Key Generation",
        "Input encryption",
        "Encrypted computation",
        "Result decryption",
        "Result postprocessing",
        "Total",
    ]
    # Both runs share the preparation, each has an evaluation of its own.
    assert files[0]["Timing"]["Key Generation"] == files[1]["Timing"]["Key Generation"]
    assert set(files[0]["Bandwidth"]) == {"Public and evaluation keys", "Encrypted input", "Encrypted results"}
    assert {"Encrypted computation", "One message, again"} <= set(files[0]["Server Reported"])
    assert (root / "io" / "single" / "secret_key").stat().st_mode & 0o77 == 0
    # The right answer is there in the clear, and a wrong one is told.
    out = root / "io" / "single" / "cleartext_output" / "out.txt"
    lhs, rhs = (int((root / "datasets" / "single" / f"{side}.txt").read_text()) for side in ("lhs", "rhs"))
    assert int(out.read_text()) == lhs * rhs % 2**64
    out.write_text(f"{int(out.read_text()) ^ 1}\n")
    check = module(HERE / "zn_multiplication" / "check.py")
    assert check.verdict(Folders("single", root)) == (False, "0 of 1 products are right")


def test_remainders_join_to_the_product() -> None:
    product = module(HERE / "zn_multiplication" / "submission" / "product.py")
    ends = [0, 1, 2**63 - 1, 2**63, 2**64 - 1, 2**32, 2**32 - 1]
    rng = np.random.default_rng(5)
    pairs = [(a, b) for a in ends for b in ends]
    pairs += [tuple(map(int, pair)) for pair in rng.integers(0, 2**64, (2000, 2), np.uint64)]
    left, right = (np.array(side, np.uint64) for side in zip(*pairs, strict=True))
    parts = []
    for prime in product.PRIMES:
        both = [product.remainders(side, prime).astype(object) for side in (left, right)]
        assert max(abs(value) for side in both for value in side) <= prime // 2
        parts.append(product.centred((both[0] * both[1] % prime).astype(np.int64), prime))
    assert product.joined(np.array(parts)).tolist() == [a * b % 2**64 for a, b in pairs]


def fake(steps: list[str], fails: dict[str, bool], answer: list[bool]) -> Workload:
    """A workload whose steps write down their names, and fail where they are told to."""

    def step(name: str) -> Step:
        def done(folders: Folders, seed: int) -> None:
            if fails.get(name):
                raise StoppedError(f"{name} failed", 2)
            steps.append(f"{name} {seed}")

        return Step(name, own=done)

    check: Any = SimpleNamespace(verdict=lambda folders: (answer[0], "as it was told"))
    return Workload("fake", ("small",), (step("a"), step("b")), (step("c"), step("d")), check, str)


def test_a_stopped_run_goes_on_after_its_last_step(tmp_path: Path) -> None:
    steps: list[str] = []
    fails, answer = {"d": True}, [True]
    request = Request(fake(steps, fails, answer), Folders("small", tmp_path), 2, 10, 1)
    with pytest.raises(StoppedError, match="d failed"):
        run_steps(request)
    assert steps == ["a 10", "b 10", "c 11"]
    fails.clear()
    answer[0] = False
    with pytest.raises(StoppedError, match="run 1: wrong"):
        run_steps(request)
    assert steps == ["a 10", "b 10", "c 11", "d 11"]
    assert not request.folders.measurements.exists()
    answer[0] = True
    found = run_steps(request)
    assert steps[4:] == ["c 12", "d 12"]
    assert [list(run["Timing"]) for run in found] == [["a", "b", "c", "d", "Total"]] * 2
    # What is whole is not gone on with, another seed starts anew, and so does what asks to.
    for other, fresh in (
        (request, False),
        (Request(request.workload, request.folders, 1, 20, 1), False),
        (request, True),
    ):
        steps.clear()
        run_steps(other, fresh=fresh)
        assert steps[0] == f"a {other.seed}"
    fails["b"] = True
    with pytest.raises(StoppedError):
        run_steps(request)
    steps.clear()
    fails.clear()
    run_steps(request, fresh=True)
    assert steps[:2] == ["a 10", "b 10"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("zn-multiplication", "toy"), "SIZE toy: zn-multiplication has single, small, medium, large"),
        (("zn-multiplication", "single", "--runs", "0"), "--runs 0: from 1 to 1000"),
        (("zn-multiplication", "single", "--threads", "-1"), "--threads -1: from 1 to 1024"),
        (("zn-multiplication", "single", "--seed", "-1"), "--seed -1: from 0 to 2^63 - 1"),
        (("zn-multiplication", "single", "--count-only"), "--count-only: zn-multiplication counts nothing"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: tuple[str, ...], line: str) -> None:
    done = command(*arguments, work=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"run.py: {line}")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_stage_out_of_place_is_one_line(tmp_path: Path) -> None:
    file = HERE / "zn_multiplication" / "submission" / "server_encrypted_compute.py"
    environment = os.environ | {"PYTHONPATH": str(HERE)}

    def stage(size: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, str(file), size], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        return done.returncode, done.stderr

    assert stage("huge") == (
        2,
        "server_encrypted_compute.py: size 'huge': one of single, small, medium, large, 1, 1000, 100000, 10000000\n",
    )
    status, line = stage("single")
    assert (status, line.count("\n")) == (2, 1)
    assert "no folder datasets/single" in line
    (tmp_path / "datasets" / "single").mkdir(parents=True)
    status, line = stage("1")
    assert (status, line.count("\n")) == (2, 1)
    assert "0.rsp" in line


def test_sizes_are_told_as_the_other_submissions_tell_them() -> None:
    assert [readable(size) for size in (0, 1023, 1024, 125 * 2**20, 3 * 2**40, 2**50)] == [
        "0.0B",
        "1023.0B",
        "1.0K",
        "125.0M",
        "3.0T",
        "1024.0T",
    ]
