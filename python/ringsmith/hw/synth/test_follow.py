# SPDX-License-Identifier: Apache-2.0
"""Tools in their child processes: none outlives its caller, progress is told, failures say why."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ringsmith.errors import ToolError
from ringsmith.hw.synth.follow import StallError, run_tool
from ringsmith.hw.synth.job import _last_pass, run_yosys
from ringsmith.hw.synth.place import phase

CALLER = """
import sys
from pathlib import Path
from ringsmith.hw.synth.job import run_yosys
run_yosys(["exec -- sleep 1000"], "waiting", Path(sys.argv[1]), quiet=True)
"""


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def commands_of(group: int) -> list[str]:
    """Command lines of the living processes of a process group."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, its_group = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:3]
            if int(its_group) == group and state != "Z":
                found.append((folder / "cmdline").read_text())
        except OSError:  # ended meanwhile
            continue
    return found


def wait_until(condition: object, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:  # type: ignore[operator]
        time.sleep(0.05)
    assert condition()  # type: ignore[operator]


@pytest.mark.hw
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_tool_outlives_its_caller(tmp_path: Path, how: signal.Signals) -> None:
    result = tmp_path / "result"
    caller = subprocess.Popen([sys.executable, "-c", CALLER, str(result)], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: bool(children(caller.pid)))
        tool = children(caller.pid)[0]
        wait_until(lambda: any("sleep" in line for line in commands_of(tool)))
        caller.send_signal(how)
        wait_until(lambda: not commands_of(tool))
    finally:
        caller.kill()
        caller.wait()
    assert not result.exists()


@pytest.mark.hw
def test_a_tool_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringsmith.hw.synth.follow.TICK_S", 0.1)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "passes.json").write_text(json.dumps([f"script {tmp_path / 'pipe'}"]))
    command = ["yosys", str(tmp_path / "passes.json")]
    with pytest.raises(ToolError, match=r"did not finish within 0\.1 s"):
        run_tool(command, "waiting", tmp_path / "result", step=_last_pass, quiet=True, timeout_s=0.1)


@pytest.mark.hw
def test_a_tool_that_gets_nowhere_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringsmith.hw.synth.follow.TICK_S", 0.1)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "passes.json").write_text(json.dumps([f"script {tmp_path / 'pipe'}"]))
    command = ["yosys", str(tmp_path / "passes.json")]
    with pytest.raises(StallError, match=r"waiting was ended after \d+ s: it reads a pipe"):
        run_tool(
            command, "waiting", tmp_path / "result", step=_last_pass, stalled=lambda _: "it reads a pipe", quiet=True
        )


@pytest.mark.hw
def test_a_killed_tool_says_so(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="killed by signal 9"):
        run_yosys(["exec -- kill -9 $PPID"], "suicide", tmp_path / "result", quiet=True)


@pytest.mark.hw
def test_what_a_tool_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    (tmp_path / "start").write_text("sleep 1000 >/dev/null 2>&1 & echo $! > pid; echo done > result")
    run_yosys([f"exec -- sh {tmp_path / 'start'}"], "leaving a child", tmp_path / "result", quiet=True)
    left = Path("/proc") / (tmp_path / "pid").read_text().strip()
    wait_until(lambda: not left.exists() or "Z" in (left / "stat").read_text())


def test_progress_names_the_step() -> None:
    assert _last_pass(["3. Executing PROC pass.", "noise"]) == "step 3 Executing PROC pass."
    assert _last_pass(["noise"]) == "reading"
    assert phase(["Info: Packing LUTs..", "Info:  at iteration #4, type ALL: wirelen = 7", "noise"]).startswith("at it")
    assert phase(["Info:     iter=3 wires=12 overused=4 overuse=5 archfail=NA"]).startswith("iter=3 wires=12")
    assert phase([]) == "packing"
