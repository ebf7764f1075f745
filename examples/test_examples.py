# SPDX-License-Identifier: Apache-2.0
"""The numbered examples run, the kernels do exactly the operations the paper counts, and bad input is named."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent

# Operations of the published packing (coxHE's Table II, semantics of Intel's he-toolkit), and key switches of ours.
PUBLISHED = {
    "dot-plain-batch-axis": {"multiply_plain": 1000, "add": 900, "key_switch": 0},
    "dot-cipher-batch-axis": {"multiply": 1000, "add": 900, "relinearize": 100, "rescale": 100, "key_switch": 100},
    "matmul-plain-1x2048": {"multiply_plain": 1, "rotate": 11, "key_switch": 11},
    "matmul-plain-1x10": {"multiply_plain": 1, "rotate": 4, "key_switch": 4},
    "matmul-cipher-1x2048": {"multiply": 1, "rotate": 11, "relinearize": 1, "key_switch": 12},
    "matmul-cipher-1x10": {"multiply": 1, "rotate": 4, "relinearize": 1, "key_switch": 5},
    "matmul-plain-100x10": {"multiply_plain": 100, "rotate": 400, "rescale": 100, "key_switch": 400},
    "matmul-cipher-100x10": {"multiply": 100, "rotate": 400, "relinearize": 100, "rescale": 100, "key_switch": 500},
    "average-pool": {"multiply": 1, "rotate": 4, "relinearize": 1, "key_switch": 5},
}
OURS = {
    "dot-plain-batch-axis": {"multiply_plain": 10, "add": 9, "key_switch": 0},
    "dot-cipher-batch-axis": {"multiply": 10, "add": 9, "key_switch": 1},
    # Sixteen slots are summed by two transforms of three rotations, which take less time than four rotations.
    "matmul-plain-100x10": {"multiply_plain": 1, "linear_transform": 2, "key_switch": 6},
    "matmul-cipher-100x10": {"multiply": 1, "linear_transform": 2, "relinearize_rescale": 1, "key_switch": 7},
}


def python(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run this Python with arguments."""
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def report(name: str, variant: str) -> dict[str, dict[str, int]]:
    """The JSON object of `ringsmith run`, which must say that the answer is right."""
    file = EXAMPLES / "kernels" / f"{name}.py"
    done = python("-m", "ringsmith", "run", file, "--variant", variant, "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["correct"]
    assert result["max_abs_error"] <= result["tolerance"]
    return result


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_packing_counts_as_the_paper_does(name: str) -> None:
    result = report(name, "published")
    assert {key: result["operations"].get(key, 0) for key in PUBLISHED[name]} == PUBLISHED[name]
    if name in OURS:
        assert result["variants"]["ours"]["key_switch"] == OURS[name]["key_switch"]


@pytest.mark.parametrize("name", OURS)
def test_our_packing_needs_less(name: str) -> None:
    result = report(name, "ours")
    assert {key: result["operations"].get(key, 0) for key in OURS[name]} == OURS[name]


@pytest.mark.parametrize("name", ["02_votes.py", "03_client_and_server.py"])
def test_numbered_example(name: str) -> None:
    done = python(EXAMPLES / name)
    assert done.returncode == 0, done.stderr


def test_later_requests_write_less_to_a_device() -> None:
    done = python(EXAMPLES / "04_coprocessor.py")
    assert done.returncode == 0, done.stderr
    first, second, third = re.findall(r"request \d +([\d,]+) bytes written", done.stdout)
    assert second == third
    page = " ".join((EXAMPLES.parent / "docs/devices.md").read_text().split())
    assert f"{first} bytes for a first request and {second} for each later one" in page


def test_client_aided() -> None:
    done = python(EXAMPLES / "08_client_aided.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("client on model:bfv-client") == 2
    assert "encrypted as in the clear: correct" in done.stdout


@pytest.mark.parametrize("size", ["--small", pytest.param("", marks=pytest.mark.slow)])
def test_a_model_is_trained_encrypted(size: str) -> None:
    command = [sys.executable, str(EXAMPLES / "09_deep.py"), *([size] if size else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trained encrypted as in the clear: correct" in done.stdout


def test_training_goes_on_with_what_a_folder_keeps(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    first, again = (python(EXAMPLES / "09_deep.py", "--small", "--json", "--keep", folder) for _ in range(2))
    assert first.returncode == again.returncode == 0, first.stderr + again.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["client.rsc", "rows.rse"]
    trained = [json.loads(done.stdout)["coefficients"] for done in (first, again)]
    assert trained[0] == trained[1]
    # What is kept is told of in one line where it is of no use.
    (folder / "state").write_text("no state")
    done = python(EXAMPLES / "09_deep.py", "--small", "--json", "--keep", folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith(f"09_deep.py: {folder / 'state'}: not a state")
    done = python(EXAMPLES / "09_deep.py", "--small", "--keep", folder / "state")
    assert done.returncode == 2
    assert (
        done.stderr
        == f"09_deep.py: --keep {folder / 'state'}: not a folder; name a folder, or one that is not there yet\n"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [("06_digits.py", "2 encrypted images read: correct"), ("07_models.py", "scores of five models: correct")],
)
def test_models(name: str, words: str) -> None:
    done = python(EXAMPLES / name, "--images" if name.startswith("06") else "--rows", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert words in done.stdout


def test_classifier_agrees_with_the_clear_model() -> None:
    done = python(EXAMPLES / "01_classifier.py", "--seed", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of 285" in done.stdout
    assert "285 patients scored encrypted: correct" in done.stdout


def test_classifier_scores_rows_of_a_file(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).uniform(0, 1, (3, 30))
    table = tmp_path / "patients.csv"
    np.savetxt(table, rows, delimiter=",", header=",".join(f"f{i}" for i in range(30)), comments="")
    scores = tmp_path / "scores.csv"
    done = python(EXAMPLES / "01_classifier.py", "--input", table, "--output", scores)
    assert "3 patients scored encrypted: correct" in done.stdout, done.stdout + done.stderr
    assert np.loadtxt(scores, skiprows=1).shape == (3,)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1,2,3\n", "30 columns expected, found 3"),
        (
            "\n".join(",".join(["1"] * 30) for _ in range(2)) + "\n" + ",".join(["1"] * 6 + ["x"] + ["1"] * 23),
            "column 7",
        ),
        (",".join(["1"] * 29 + ["nan"]) + "\n", "column 30"),
        ("", "empty|no rows|no numbers"),
    ],
)
def test_classifier_names_the_bad_cell(tmp_path: Path, content: str, words: str) -> None:
    table = tmp_path / "bad.csv"
    table.write_text(content)
    done = python(EXAMPLES / "01_classifier.py", "--input", table)
    assert done.returncode == 2, done.stdout + done.stderr
    assert re.search(words, done.stderr), done.stderr
    assert done.stderr.count("\n") == 1
