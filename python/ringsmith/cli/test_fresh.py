# SPDX-License-Identifier: Apache-2.0
"""Stored figures that cost little are measured afresh: by the model, to which those of simulated RTL agree."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ringsmith.claims.figures import figures
from ringsmith.cli import application
from ringsmith.results import rounded
from ringsmith.results.measure import by_model, cost, pick

#: Commands of the model that are run, the cheapest first; each takes about a second.
CHEAP = 20
KNOWN = figures()


def cheap() -> list[str]:
    """The cheapest stored commands of the model, and those of RTL that are one instruction or one operation."""
    model = [command for command in KNOWN.stored if by_model(command) == command]
    found = sorted(model, key=lambda command: cost(command, KNOWN.stored))[:CHEAP]
    rtl = [command for command in KNOWN.stored if by_model(command) not in (None, command)]
    return found + [command for command in rtl if " multiply " not in command and " key-switch " not in command]


@pytest.mark.parametrize("command", cheap())
def test_the_stored_values_are_those_of_today(command: str) -> None:
    words = (by_model(command) or command).split()[1:]
    done = CliRunner().invoke(application(), words)
    assert done.exit_code == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["correct"]
    stored = KNOWN.stored[command].values
    fresh = {place: rounded(pick(output, place)) for place in stored}
    assert fresh == pytest.approx(stored, rel=1e-6), f"ringsmith claims --measure --all --only '{command}'"


def test_there_are_cheap_ones_of_both_kinds() -> None:
    commands = cheap()
    assert sum(by_model(command) == command for command in commands) == CHEAP
    assert sum(by_model(command) != command for command in commands) >= 15
