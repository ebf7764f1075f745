# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from ringsmith import shipped
from ringsmith.errors import InputError, ParameterError
from ringsmith.hw.synth.boards import board_names, load_board


def test_every_board_loads_under_its_name() -> None:
    assert [load_board(name).name for name in board_names()] == board_names()


@pytest.mark.parametrize("name", ["zcu999", "../presets/tiny", "", "a$(shell id)"])
def test_a_board_is_asked_for_by_its_own_name(name: str) -> None:
    with pytest.raises(InputError, match="no board"):
        load_board(name)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "zcu102"', 'name = "a$(shell id)"', "name must be a letter"),
        ('family = "xcup"', 'family = "virtex"', "family must be xcup, xc7, ecp5, got 'virtex'"),
        ("lut = 274080", "lut = -1", "lut must not be negative"),
        ("lut = 274080", 'lut = "many"', "lut must be of type int, got 'many'"),
        ("lut = 274080", "", "lacks lut"),
        ("clock_mhz = 200", "clock_mhz = nan", "clock_mhz must not be negative or endless"),
        ("clock_mhz = 200", "clock_mhz = " + "[" * 20_000, "nested too deeply"),
    ],
)
def test_a_file_that_describes_no_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, words: str
) -> None:
    text = (shipped.root() / "spec" / "boards" / "zcu102.toml").read_text()
    (tmp_path / "rtl").mkdir()
    (tmp_path / "spec" / "boards").mkdir(parents=True)
    (tmp_path / "spec" / "boards" / "zcu102.toml").write_text(text.replace(old, new))
    monkeypatch.setenv("RINGSMITH_ROOT", str(tmp_path))
    with pytest.raises(ParameterError, match=words):
        load_board("zcu102")
