# SPDX-License-Identifier: Apache-2.0
"""Lint the RTL of every preset with Verilator and check its format with verible: `python -m ringsmith.hw.lint_rtl`.

Of a preset with more than two cores two are linted: the others are copies, and a quarter of the time would be theirs.
"""

from __future__ import annotations

import argparse
import sys

from ringsmith.hw import format_rtl
from ringsmith.hw.device import top_of, top_parameters
from ringsmith.hw.process import say
from ringsmith.hw.verilator import lint
from ringsmith.presets import EVERY, load_any, preset_names

MOST_CORES = 2


def findings() -> list[str]:
    """Return what Verilator says of the tops of all presets, by preset; empty when they are clean."""
    found = []
    for preset in map(load_any, preset_names(*EVERY)):
        parameters = top_parameters(preset)
        fewer = {"Cores": MOST_CORES} if int(parameters.get("Cores", 1)) > MOST_CORES else {}
        found += [f"{preset.name}: {line}" for line in lint(top_of(preset), {**parameters, **fewer})]
    return found


def main() -> int:
    """Print what is wrong; returns the exit status."""
    argparse.ArgumentParser(prog="python -m ringsmith.hw.lint_rtl", description=__doc__).parse_args()
    found = findings()
    for line in found:
        say(line)
    return 1 if found else format_rtl.main(["--check"])


if __name__ == "__main__":
    sys.exit(main())
