# SPDX-License-Identifier: Apache-2.0
"""The child process that holds Yosys: an error in pyosys ends the whole interpreter, so it never runs in ours.

Usage: python child.py PASSES.json, a list of Yosys commands, the last of which writes the result. Run by its path, so
that it loads nothing of this package beside Yosys.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    """Run each command; the log goes to stdout, where the parent follows it."""
    from pyosys import libyosys  # type: ignore[import-untyped]

    design = libyosys.Design()
    for command in json.loads(Path(sys.argv[1]).read_text()):
        libyosys.run_pass(command, design)


if __name__ == "__main__":
    main()
