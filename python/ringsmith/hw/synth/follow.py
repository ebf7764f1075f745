# SPDX-License-Identifier: Apache-2.0
"""Running a tool in its child process: a progress line every ten seconds, and no child left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.hw.process import say, terminate_as_interrupt

TICK_S = 10.0
TAIL_BYTES = 65536


class StallError(ToolError):
    """A tool was ended because it no longer came nearer to its result."""


def _never(_: Sequence[str]) -> str:
    return ""


def run_tool(
    command: Sequence[str],
    what: str,
    result: Path,
    *,
    step: Callable[[Sequence[str]], str],
    stalled: Callable[[Sequence[str]], str] = _never,
    quiet: bool = False,
    timeout_s: float = 4 * 3600,
) -> str:
    """Run `child.py` with `command` beside `result`; returns its log. `step` names the present step from the log's end,
    `stalled` says from it why the tool gets nowhere, if so.

    Raises:
        StallError: the tool got nowhere.
        ToolError: the child failed, was killed or took longer than `timeout_s`, or `result` was not written.
    """
    log = result.with_name("tool.log")
    with terminate_as_interrupt(), log.open("w") as output:
        child = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("child.py")), *command],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.PIPE,
            cwd=result.parent,
            start_new_session=True,
        )
        try:
            _follow(child, log, what, step, stalled, quiet=quiet, timeout_s=timeout_s)
        finally:  # whatever the tool left behind ends too
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
    text = log.read_text(errors="replace")
    if child.returncode != 0 or not result.exists() or not result.stat().st_size:
        raise ToolError(f"{what} failed ({_end(child.returncode)}): {_reason(text)}")
    return text


def _follow(
    child: subprocess.Popen[bytes],
    log: Path,
    what: str,
    step: Callable[[Sequence[str]], str],
    stalled: Callable[[Sequence[str]], str],
    *,
    quiet: bool,
    timeout_s: float,
) -> None:
    started = time.monotonic()
    while True:
        try:
            child.wait(timeout=TICK_S)
            break
        except subprocess.TimeoutExpired:
            seconds = time.monotonic() - started
            if seconds > timeout_s:
                raise ToolError(f"{what} did not finish within {timeout_s:g} s") from None
            tail = _tail(log)
            if why := stalled(tail):
                raise StallError(f"{what} was ended after {seconds:.0f} s: {why}") from None
            if not quiet:
                say(f"{what}: {seconds:.0f} s, {step(tail)}")
    if not quiet:
        say(f"{what}: {time.monotonic() - started:.0f} s, done")


def _tail(log: Path) -> list[str]:
    """The last lines of a log that is being written."""
    with log.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - TAIL_BYTES))
        return file.read().decode(errors="replace").splitlines()


def _end(status: int) -> str:
    return f"killed by signal {-status}" if status < 0 else f"status {status}"


def _reason(text: str) -> str:
    """The first error in the log, else its last line."""
    lines = text.strip().splitlines()
    errors = [line for line in lines if "ERROR" in line or "error:" in line]
    return errors[0] if errors else lines[-1] if lines else "no output"
