# SPDX-License-Identifier: Apache-2.0
"""Files of a user's own: what is wrong with one is one line, whatever it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ringsmith.errors import ParameterError
from ringsmith.presets import load_preset
from ringsmith.specs import checked_name, read_toml


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a = " + b"[" * 20_000, "nested too deeply"),
        (b"a = " + b"{b=" * 5_000, "nested too deeply"),
        (b"a = " + b"[" * 20_000 + b"]" * 20_000, "nested too deeply"),
        (b"a = 1" + b"0" * 5_000, "not a preset file"),
        (b"\xff\xfe", "not a preset file"),
        (b"a = 1\n" * 2, "not a preset file"),
        (b"#" * 70_000, "larger than 65536 bytes"),
    ],
)
def test_a_file_that_holds_no_preset(tmp_path: Path, content: bytes, words: str) -> None:
    own = tmp_path / "own.toml"
    own.write_bytes(content)
    with pytest.raises(ParameterError, match=words) as caught:
        load_preset(str(own))
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no such preset file"):
        read_toml(tmp_path / "none.toml", "preset")
    with pytest.raises(ParameterError, match="not a file"):
        read_toml(tmp_path, "preset")
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ParameterError, match="not a file"):
        read_toml(tmp_path / "pipe.toml", "preset")


def test_names_of_the_house_pass() -> None:
    for name in ("tiny", "bfv-client", "zynq-pn3", "zcu102", "my_design-2"):
        assert checked_name("a preset", name) == name
