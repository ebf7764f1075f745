# SPDX-License-Identifier: Apache-2.0
"""Compare the FPGA resources of designs at an earlier commit and in this checkout, module by module.

Each design is elaborated by the flow of its own commit. A module is mapped alone, so one whose elaborated text is the
same on both sides has the same netlist: only the others, and those above them, are synthesised, with what is equal as
black boxes. Status 0: the same LUT, FF, DSP and BRAM in every module; 1: differences; 2: it could not be done.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ringsmith.errors import RingsmithError, ToolError
from ringsmith.hw.process import say
from ringsmith.hw.synth.carry import gates_behind_luts
from ringsmith.hw.synth.cells import Resources, count
from ringsmith.hw.synth.job import Design, Family, mapping, run_yosys
from ringsmith.hw.synth.rtlil import merge_equal_modules
from ringsmith.hw.synth.targets import design_of

ROOT = Path(__file__).resolve().parents[1]
COUNTED = ("lut", "ff", "dsp", "bram36", "uram")
Bodies = Mapping[str, str]


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """A work tree of the commit, removed afterwards, with this checkout's native extension."""
    with tempfile.TemporaryDirectory(prefix="ringsmith-netlists-") as folder:
        tree = Path(folder) / "tree"
        git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            for library in (ROOT / "python" / "ringsmith").glob("_native*.so"):
                (tree / "python" / "ringsmith" / library.name).symlink_to(library.resolve())
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def git(*arguments: str) -> None:
    """Run git in this checkout; ToolError with its words where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"git {' '.join(arguments)}: {done.stderr.strip()}")


def elaborate(name: str, output: Path) -> None:
    """Write the merged modules of a design of the tree whose package runs."""
    design = design_of(name, [])
    raw = output.with_suffix(".raw")
    run_yosys(design.elaborate(raw, mapping(design, Family.XCUP).defines), f"{name}: elaboration", raw, quiet=True)
    output.write_text(merge_equal_modules(raw.read_text(), design.top))


def elaborated(tree: Path, name: str, folder: Path) -> str:
    """The merged modules of a design, by the package of `tree`."""
    folder.mkdir(parents=True, exist_ok=True)
    output = folder / f"{name}.il"
    command = [sys.executable, str(Path(__file__).resolve()), "--elaborate", str(output), "HEAD", name]
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{name} in {tree}: {done.stderr.strip()}")
    return output.read_text()


def bodies(text: str) -> dict[str, str]:
    """The text of each module by name, internal names numbered by the merging."""
    parts = text.split("\nmodule ")
    found = {}
    for part in [parts[0].removeprefix("module "), *parts[1:]] if text.startswith("module ") else parts[1:]:
        name, body = part.split("\n", 1)
        found[name] = body.split("\nend\n", 1)[0]
    return found


def children(body: str) -> list[str]:
    """The kinds of the cells of a body that are no primitives, one for each cell."""
    lines = (line.split() for line in body.splitlines())
    return [words[1] for words in lines if len(words) == 3 and words[0] == "cell" and words[1].startswith("\\")]


def fingerprints(modules: Bodies) -> dict[str, str]:
    """A hash of each module with all that it holds, whatever number the merging gave to variants of a module."""
    found: dict[str, str] = {}

    def visit(name: str) -> str:
        if name not in found:
            words = modules[name].split(" ")
            text = " ".join(visit(word) if word in modules else word for word in words)
            found[name] = hashlib.sha256(text.encode()).hexdigest()
        return found[name]

    for name in modules:
        visit(name)
    return found


def differing(modules: Bodies, others: Bodies) -> set[str]:
    """Modules that are not in the other design; all above them are among these."""
    known = set(fingerprints(others).values())
    return {name for name, mark in fingerprints(modules).items() if mark not in known}


def instances(modules: Bodies, top: str) -> dict[str, int]:
    """How often each module stands in the design."""
    found = dict.fromkeys(modules, 0)

    def visit(name: str) -> None:
        found[name] += 1
        for kind in children(modules[name]):
            if kind in modules:
                visit(kind)

    visit(f"\\{top}")
    return found


def mapped(text: str, design: Design, kept: set[str], what: str, folder: Path) -> dict[str, Resources]:
    """Own cells of the kept modules on UltraScale+; the others are black boxes."""
    merged, coarse, boxes, ordered, result = (
        folder / name for name in ("merged.il", "coarse.il", "boxes.il", "ordered.il", "cells.json")
    )
    merged.write_text(text)
    read = [f"read_rtlil {merged}", *(f"blackbox {name}" for name in bodies(text) if name not in kept)]
    commands = mapping(design, Family.XCUP)
    run_yosys([*read, *commands.first, f"write_rtlil -selected {coarse}"], f"{what}: word level", coarse)
    run_yosys([*read, "select =A:blackbox", f"write_rtlil -selected {boxes}"], f"{what}: boxes", boxes, quiet=True)
    ordered.write_text(gates_behind_luts(coarse.read_text()))
    rest = [f"read_rtlil {ordered}", f"read_rtlil {boxes}", *commands.rest, f"tee -q -o {result} stat -json"]
    run_yosys(rest, f"{what}: synthesis", result)
    statistics = json.loads(result.read_text())["modules"]
    return {name: count(statistics[name].get("num_cells_by_type", {}))[0] for name in kept}


def by_base(own: Mapping[str, Resources], copies: Mapping[str, int]) -> dict[str, Resources]:
    """Resources in all instances of a module, its variants together."""
    sums: dict[str, Resources] = {}
    for name, resources in own.items():
        base = re.sub(r"_\d+$", "", name.removeprefix("\\"))
        sums[base] = sums.get(base, Resources()) + resources.times(copies[name])
    return sums


def table(before: Mapping[str, Resources], after: Mapping[str, Resources]) -> list[str]:
    """A line for each module and one for their sum: `before` where nothing changed, else `before → after`."""
    rows = [(name, before.get(name, Resources()), after.get(name, Resources())) for name in sorted({*before, *after})]
    rows.append(("sum", sum(before.values(), Resources()), sum(after.values(), Resources())))
    lines = [f"{'module':24}" + "".join(f"{name:>18}" for name in COUNTED)]
    for name, *both in rows:
        old, new = (side.to_dict() for side in both)
        cells = (f"{old[c]}" if old[c] == new[c] else f"{old[c]} → {new[c]}" for c in COUNTED)
        lines.append(f"{name:24}" + "".join(f"{cell:>18}" for cell in cells))
    return lines


def compare(tree: Path, name: str, folder: Path) -> bool:
    """Print the comparison of a design; whether each module takes the same."""
    design = design_of(name, [])
    texts = [elaborated(place, name, folder / name / side) for place, side in ((tree, "before"), (ROOT, "after"))]
    modules = [bodies(text) for text in texts]
    sums = []
    for side, text, mine, others in zip(("before", "after"), texts, modules, reversed(modules), strict=True):
        kept = differing(mine, others)
        say(f"{name}, {side}: {len(mine) - len(kept)} of {len(mine)} modules are the same on both sides")
        own = mapped(text, design, kept, f"{name}, {side}", folder / name / side) if kept else {}
        sums.append(by_base(own, instances(mine, design.top)))
    print("\n".join([name, *table(*sums)]), flush=True)
    return sums[0] == sums[1]


def main(arguments: Sequence[str]) -> int:
    """Compare the designs; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", metavar="COMMIT", help="the commit to compare with")
    parser.add_argument(
        "designs", nargs="*", default=["tiny"], metavar="DESIGN", help="presets or parts (default: tiny)"
    )
    parser.add_argument("--elaborate", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    try:
        if chosen.elaborate:
            elaborate(chosen.designs[0], chosen.elaborate)
            return 0
        with checkout(chosen.base) as tree, tempfile.TemporaryDirectory(prefix="ringsmith-netlists-") as folder:
            outcomes = [compare(tree, name, Path(folder)) for name in chosen.designs]
            return 0 if all(outcomes) else 1
    except RingsmithError as error:
        say(f"error: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
