# SPDX-License-Identifier: Apache-2.0
"""Lint the RTL of every preset with Verilator and check its format with verible: `python -m ringsmith.hw.lint_rtl`."""

from __future__ import annotations

import argparse
import sys

from ringsmith.hw import format_rtl
from ringsmith.hw.device import top_of, top_parameters
from ringsmith.hw.process import say
from ringsmith.hw.verilator import lint
from ringsmith.presets import EVERY, load_any, preset_names


def findings() -> list[str]:
    """Return what Verilator says of the tops of all presets, by preset; empty when they are clean."""
    presets = [load_any(name) for name in preset_names(*EVERY)]
    return [f"{p.name}: {line}" for p in presets for line in lint(top_of(p), top_parameters(p))]


def main() -> int:
    """Print what is wrong; returns the exit status."""
    argparse.ArgumentParser(prog="python -m ringsmith.hw.lint_rtl", description=__doc__).parse_args()
    found = findings()
    for line in found:
        say(line)
    return 1 if found else format_rtl.main(["--check"])


if __name__ == "__main__":
    sys.exit(main())
