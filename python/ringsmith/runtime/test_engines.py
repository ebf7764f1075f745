# SPDX-License-Identifier: Apache-2.0
"""Engines by name."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from ringsmith.errors import InputError
from ringsmith.runtime.engines import ENGINES, open_engine


def test_every_kind_has_its_function() -> None:
    for kind, engine in ENGINES.items():
        assert callable(getattr(import_module(f"ringsmith.runtime.{engine.module}"), engine.function)), kind


def test_a_program_on_the_cpu_loads_nothing_of_the_hardware() -> None:
    """Each process of a client or a server would wait for it."""
    text = "import sys, ringsmith.runtime.program; print([m for m in sys.modules if m.startswith('ringsmith.hw')])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_another_name_is_refused_with_those_there_are() -> None:
    words = "no engine 'gpu'; there is cpu, model:PRESET, rtl:PRESET, board:PORT, record:FILE"
    with pytest.raises(InputError) as refused:
        open_engine("gpu")
    assert words in str(refused.value)
