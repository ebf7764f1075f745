# SPDX-License-Identifier: Apache-2.0
"""The wheel, installed outside the checkout: what it holds is all that the commands need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """
import ringsmith as rs
@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4)
def square(x):
    return x * x
"""


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's files; what they depend on comes from the environment that the tests run in."""
    place = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-deps", "--target", str(place / "site"), str(wheel)], check=True)
    return place


def ringsmith(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    left_out = ("RINGSMITH_ROOT", "RINGSMITH_SPEC", "RINGSMITH_CACHE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"PYTHONPATH": str(installed / "site"), "XDG_CACHE_HOME": str(installed / "cache")}
    source = "import sys, ringsmith; print(ringsmith.__file__, file=sys.stderr); from ringsmith.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", source, *arguments],
        cwd=installed, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.startswith(str(installed / "site")), done.stderr
    return done


def test_kernels_and_models_need_no_checkout(installed: Path) -> None:
    (installed / "kernel.py").write_text(KERNEL)
    for words in (
        ["params", "kernel.py"],
        ["run", "kernel.py"],
        ["simulate", "tiny", "ntt", "--on", "model"],
        ["claims"],
        ["help", "python"],
    ):
        done = ringsmith(installed, *words)
        assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr


@pytest.mark.hw
def test_hardware_is_generated_without_a_checkout(installed: Path) -> None:
    done = ringsmith(installed, "generate", "tiny", "--output", "package")
    assert done.returncode == 0, done.stderr
    assert "rs_top_axi.sv" in {path.name for path in (installed / "package" / "rtl").iterdir()}
    assert (installed / "cache" / "ringsmith").is_dir()


def test_the_wheel_holds_no_tests(installed: Path) -> None:
    assert not list((installed / "site").rglob("test_*"))
