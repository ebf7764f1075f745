# SPDX-License-Identifier: Apache-2.0
"""`ringsmith show PRESET`: every key, with where its value comes from."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ringsmith.cli import main
from ringsmith.presets import load_any


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Run the verb; return the exit status and what it wrote."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["ringsmith", "show", *words])
        with pytest.raises(SystemExit) as ended:
            main()
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


@pytest.mark.parametrize("name", ["heaws-x6", "zynq-pn3"])
def test_a_preset_is_shown_whole(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = shown(capsys, name)
    lines = {line.split()[0]: line.split(None, 2)[1:] for line in text.splitlines()}
    preset = vars(load_any(name))
    assert code == 0
    assert lines.keys() == preset.keys()
    assert {key: json.loads(value) for key, (_, value) in lines.items()} == json.loads(json.dumps(preset))


def test_a_preset_says_where_values_come_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.toml"
    own.write_text('name = "own"\nbase = "heaws-x6"\nlanes = 5\n')
    code, text, _ = shown(capsys, str(own), "--set", "cores=4", "--json")
    found = {key: (made["value"], made["source"]) for key, made in json.loads(text).items()}
    assert code == 0
    assert found["lanes"] == (5, str(own))
    assert found["cores"] == (4, "--set")
    assert [found[key][1] for key in ("dual_port_slots", "word_bits", "pmul")] == ["heaws-x6", "heaws", "default"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nosuch"], "nosuch: no such file, nor a preset; presets: bfv-client, cofhee"),
        (["dir/nosuch"], "dir/nosuch: no such file"),
        (["none.toml"], "none.toml: no such preset file"),
        (["tiny", "--listing"], "tiny: a preset, which has no listing and no producers"),
        ([__file__, "--set", "lanes=1"], "--set goes with a preset"),
        (["tiny", "--set", "lanes=99"], "preset tiny: lanes must be 1..15, got 99"),
        (["tiny", "--set", "base=heaws"], "preset tiny has no key 'base'"),
    ],
)
def test_what_cannot_be_shown_is_said(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, error = shown(capsys, *words)
    assert (code, text) == (2, "")
    assert message in error
