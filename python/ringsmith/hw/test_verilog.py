# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ringsmith import shipped
from ringsmith.errors import ToolError
from ringsmith.hw import sources
from ringsmith.hw.device import top_of, top_parameters
from ringsmith.hw.process import run
from ringsmith.hw.synth.job import run_yosys
from ringsmith.hw.verilog import write_verilog
from ringsmith.presets import load_any

pytestmark = pytest.mark.hw


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("tiny", {"cores": 2, "wide_port": True, "controller": "riscv"}),
        ("bfv-client", {}),
        ("zynq-pn1", {}),
        pytest.param("heax-a", {}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_readers_of_plain_verilog_take_it(name: str, changes: dict[str, object], tmp_path: Path) -> None:
    """Yosys's own reader finds every module and no fault; so does Icarus where it is installed."""
    preset, target = load_any(name, changes), tmp_path / "plain.v"
    top = top_of(preset)
    write_verilog(top, top_parameters(preset), target)
    text = target.read_text()
    assert str(shipped.rtl()) not in text
    assert ("AND ISC" in text.splitlines()[0]) == ("controller" in changes)
    assert len(set(re.findall(r"^module (\w+)\(", text, re.M))) == text.count("\nendmodule\n") > 5
    read = tmp_path / "read.json"
    commands = [f"read_verilog {target}", f"hierarchy -check -top {top}", "proc", "check -assert", f"write_json {read}"]
    run_yosys(commands, "reading", read, quiet=True)
    if shutil.which("iverilog"):
        finished = run(["iverilog", "-g2005", "-Wall", "-t", "null", "-s", top, target])
        assert finished.status == 0, finished.tail()


def test_a_design_that_cannot_be_elaborated_leaves_the_target(tmp_path: Path) -> None:
    target = tmp_path / "plain.v"
    target.write_text("before\n")
    with pytest.raises(ToolError, match=r"W \(word_bits\) must be 14\.\.128"):
        write_verilog("rs_top_axi", {"W": 7}, target)
    assert target.read_text() == "before\n"


def test_sources_may_lie_in_a_folder_with_spaces(tmp_path: Path) -> None:
    folder = tmp_path / "a folder, (with) 'signs'"
    folder.mkdir()
    files = [Path(shutil.copy(path, folder)) for path in sources.closure("rs_fifo")]
    write_verilog("rs_fifo", {}, tmp_path / "plain.v", files=files)
    assert "module rs_fifo(" in (tmp_path / "plain.v").read_text()
