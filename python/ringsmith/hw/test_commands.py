# SPDX-License-Identifier: Apache-2.0
"""Modules that are commands (`python -m ringsmith.…`): `--help` explains, an option they do not know is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMMANDS = ("gen", "hw.prove", "hw.format_rtl", "hw.registers", "hw.lint_rtl")


def said(command: str, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", f"ringsmith.{command}", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_refusal(command: str) -> None:
    status, text = said(command, "--help")
    assert status == 0
    assert text.startswith(f"usage: python -m ringsmith.{command}")
    status, text = said(command, "--chek")
    assert status == 2
    assert "--chek" in text


def test_a_proof_that_is_none_is_refused() -> None:
    status, text = said("hw.prove", "scoreboad")
    assert status == 2
    assert "no proof is named 'scoreboad': " in text
    assert "scoreboard" in text
