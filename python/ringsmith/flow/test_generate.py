# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith.cli import app
from ringsmith.errors import InputError, ParameterError
from ringsmith.flow import generate as module
from ringsmith.flow.generate import generate
from ringsmith.flow.process import run
from ringsmith.flow.toolchain import verilator
from ringsmith.flow.vectors import is_prime, lane_vector, prime_below, smallest_root
from ringsmith.presets import load_preset

pytestmark = pytest.mark.hw


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("package") / "tiny"
    generate(load_preset("tiny"), target)
    return target


def test_package_is_complete_and_lint_clean(package: Path) -> None:
    listed = (package / "tiny.f").read_text().split()
    assert sorted(listed) == sorted(f"rtl/{p.name}" for p in (package / "rtl").iterdir())
    for name in (
        "include/registers.h",
        "docs/registers.md",
        "docs/driver.md",
        "docs/registers/index.html",
        "tb/vectors.h",
    ):
        assert (package / name).stat().st_size > 0
    finished = run(["make", "lint"], cwd=package, env=verilator().environment(), timeout_s=300)
    assert finished.status == 0, finished.tail()


@pytest.mark.parametrize("target", ["lint", pytest.param("sim", marks=pytest.mark.slow)])
def test_fusesoc_runs_the_core(package: Path, tmp_path: Path, target: str) -> None:
    fusesoc = Path(sys.executable).parent / "fusesoc"
    command: list[str | Path] = [
        fusesoc,
        "--cores-root",
        package,
        "run",
        f"--target={target}",
        "--build-root",
        tmp_path,
        "ringsmith::tiny",
    ]
    finished = run(command, cwd=tmp_path, env=verilator().environment(), timeout_s=1200)
    assert finished.status == 0, finished.tail()
    assert target == "lint" or "PASSED" in finished.output


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"host": "serial"}, {"reduction": "montgomery", "multiplier": "dsp18x18"}])
def test_testbench_passes_and_notices_a_wrong_answer(tmp_path: Path, settings: dict[str, str]) -> None:
    target = tmp_path / "package"
    generate(load_preset("tiny", {**settings, "lanes": "1"}), target)
    env = verilator().environment()
    finished = run(["make"], cwd=target, env=env, timeout_s=1200)
    assert finished.status == 0, finished.tail()
    assert "PASSED" in finished.output
    vectors = target / "tb" / "vectors.h"
    text = vectors.read_text()
    at = text.index("kTransform[kLanes]")
    first = text.index("{{", at) + 2
    digit = "2" if text[first] == "1" else "1"
    vectors.write_text(text[:first] + digit + text[first + 1 :])
    finished = run(["make"], cwd=target, env=env, timeout_s=1200)
    assert finished.status != 0
    assert "forward transform differs" in finished.output


def test_refuses_a_directory_in_use(package: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(InputError, match="not empty"):
        generate(load_preset("tiny"), tmp_path / "mine")
    with pytest.raises(InputError, match="is a file"):
        generate(load_preset("tiny"), tmp_path / "mine" / "notes.txt")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep"
    generate(load_preset("tiny"), tmp_path / "mine", force=True)
    assert not (tmp_path / "mine" / "notes.txt").exists()
    assert (tmp_path / "mine" / "tiny.core").exists()


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_testbench", broken)
    with pytest.raises(KeyboardInterrupt):
        generate(load_preset("tiny"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_command_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["generate", "cofhee", "-o", str(tmp_path / "out"), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["top"] == "rs_top_serial"
    assert report["parameters"]["W"] == 128
    assert "cofhee.core" in report["files"]
    again = [sys.executable, "-m", "ringsmith", "generate", "cofhee", "-o", str(tmp_path / "out")]
    refused = subprocess.run(again, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.strip().count("\n") == 0


def test_vectors_follow_from_the_definition() -> None:
    assert [p for p in range(60) if is_prime(p)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59]
    assert not is_prime(3215031751 * 1)
    modulus = prime_below(20, 8)
    assert (modulus % 16, modulus.bit_length()) == (1, 20)
    psi = smallest_root(modulus, 8)
    roots = [r for r in range(1, modulus) if pow(r, 8, modulus) == modulus - 1]
    assert psi == min(roots)
    vector = lane_vector(modulus, 8, seed=1)
    assert vector.table[1] == pow(psi, 4, modulus)
    assert vector.transform[0] == sum(a * pow(psi, j, modulus) for j, a in enumerate(vector.values)) % modulus
    with pytest.raises(ParameterError, match="no prime"):
        prime_below(5, 64)
