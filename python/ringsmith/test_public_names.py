# SPDX-License-Identifier: Apache-2.0
"""The public names: each is there, is what its home defines, and costs nothing until it is asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import ringsmith as rs


def test_each_name_is_its_home_s() -> None:
    assert "kernel" in rs.__all__
    assert "Encrypted" in rs.__all__
    for name in rs.__all__:
        value = getattr(rs, name)
        home = import_module(rs._HOMES[name])  # type: ignore[attr-defined]
        assert value is getattr(home, name), name


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="module 'ringsmith' has no attribute 'kernal'"):
        _ = rs.kernal  # type: ignore[attr-defined]


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    script = (
        "import sys, ringsmith as rs\n"
        "assert not {'numpy', 'ringsmith.runtime', 'ringsmith._native'} & set(sys.modules), 'loaded at once'\n"
        "rs.kernel\n"
        "assert 'numpy' in sys.modules\n"
        "from ringsmith import *\n"
        "assert Encrypted is rs.Encrypted and compile is rs.compile\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
