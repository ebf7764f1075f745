# SPDX-License-Identifier: Apache-2.0
"""The nine kernels on a co-processor of coxHE's shape give the CPU's bytes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ringsmith.cli.common import load_kernels
from ringsmith.runtime.engine import EngineOptions
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.runner import run

KERNELS = Path(__file__).parent / "kernels"
# Sizes that keep every step of a kernel: fewer rows, fewer columns of the widest.
SHORTER = {"ROWS, COLUMNS = 100, 10": "ROWS, COLUMNS = 3, 10", "ROWS, COLUMNS = 1, 2048": "ROWS, COLUMNS = 1, 64"}
NAMES = sorted(path.stem for path in KERNELS.glob("*-*.py"))
# The primes of the set have up to 60 bits; three of them and a special one take four lanes.
DEVICE = ("model:coxhe-zcu104-f1", ("word_bits=60", "lanes=4"))
CPU = ("cpu", ())


def shorter(folder: Path) -> Path:
    """A copy of the kernels at smaller sizes."""
    shutil.copytree(KERNELS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in NAMES:
        file = folder / f"{name}.py"
        text = file.read_text()
        for sizes, fewer in SHORTER.items():
            text = text.replace(sizes, fewer)
        file.write_text(text)
    return folder


def report(file: Path, variant: str, where: tuple[str, tuple[str, ...]], seed: str = "1") -> dict[str, Any]:
    """The report of a run whose answer is right."""
    engine = open_engine(where[0], EngineOptions(where[1]))
    result = run(load_kernels(file).pick(None, variant), {}, seed=seed, engine=engine).json()
    assert result["correct"]
    return dict(result)


def agree(file: Path) -> None:
    """The published packing on both; the device does all, and says how long each part took."""
    there, here = report(file, "published", DEVICE), report(file, "published", CPU)
    assert there["output_sha256"] == here["output_sha256"]
    assert not there["on_host"]
    assert sum(there["offloaded"].values()) > 0
    assert (
        there["compute"]["cycles"] + there["send"]["cycles"] + there["receive"]["cycles"] >= there["device"]["cycles"]
    )
    assert there["host"]["ms"] >= 0
    # What is sent are operands, by what they are, and tables; keys and plaintexts are read at least once.
    loads = {name: found["from_memory"] for name, found in there["operands"].items()}
    assert there["send"]["polynomials"] / 2 < sum(loads.values()) <= there["send"]["polynomials"]
    assert all(found["reads"] == found["on_chip"] + found["from_memory"] for found in there["operands"].values())
    assert loads["ciphertexts"] > 0
    assert loads.get("keys", 0) + loads.get("plaintexts", 0) > 0


def test_there_are_nine() -> None:
    assert len(NAMES) == 9
    sizes = [re.search(r"^(ROWS, COLUMNS|SIDE, WINDOW) = .*$", (KERNELS / f"{n}.py").read_text(), re.M) for n in NAMES]
    assert sum(found is not None and found.group() in SHORTER for found in sizes) == 6


@pytest.mark.parametrize("name", NAMES)
def test_kernels_at_shorter_sizes_give_the_bytes_of_the_cpu(name: str, tmp_path: Path) -> None:
    agree(shorter(tmp_path / "kernels") / f"{name}.py")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_kernels_as_published_give_the_bytes_of_the_cpu(name: str) -> None:
    agree(KERNELS / f"{name}.py")


def test_another_seed_gives_other_bytes() -> None:
    file = KERNELS / "matmul-plain-1x10.py"
    one, other = (report(file, "published", CPU, seed)["output_sha256"] for seed in ("1", "2"))
    assert one != other


@pytest.mark.slow
@pytest.mark.hw
@pytest.mark.parametrize("name", NAMES)
def test_kernels_on_the_simulated_rtl_give_the_bytes_of_the_cpu(name: str, tmp_path: Path) -> None:
    """At n = 4096 on a point of Table III, in the order and packing published, the long ones shortened."""
    file = shorter(tmp_path / "kernels") / f"{name}.py"
    # The point's three primes of 33 bits are too short for the kernels' own tolerances.
    text = re.sub(r"tolerance=[0-9e.-]+", "tolerance=3.0", file.read_text())
    file.write_text(text.replace("coxhe-8192-210", "coxhe-4096-33"))
    there, here = (report(file, "published", (engine, ())) for engine in ("rtl:coxhe-zcu104-c1", "cpu"))
    assert there["output_sha256"] == here["output_sha256"]
    assert not there["on_host"]
