# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from importlib import import_module

import pytest


@pytest.mark.parametrize("verb", ["compile", "explore", "simulate", "synth", "claims", "serve", "show"])
def test_every_example_of_the_help_is_a_paragraph(verb: str) -> None:
    lines = import_module(f"ringsmith.cli.{verb}").EXAMPLES.splitlines()
    examples = [i for i, line in enumerate(lines) if re.match(r"\s*ringsmith ", line)]
    assert examples
    for i in examples:
        # The help joins the lines of a paragraph.
        assert not lines[i - 1].strip(), lines[i]
        assert not lines[i].startswith(" ")
