# SPDX-License-Identifier: Apache-2.0
"""Lint a design and build it into a shared library with Verilator; built libraries are cached by their inputs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.hw import core_cfg, paths, sources, stored
from ringsmith.hw.process import checked, run, say
from ringsmith.hw.toolchain import Verilator, exclusive, verilator

Parameters = Mapping[str, int | str]

# DECLFILENAME: file = module is what our own source resolver rests on. SYNCASYNCNET: `disable iff (!rst_ni)` in an
# assertion counts as a synchronous use of an asynchronous reset.
LINT_FLAGS = ("-Wall", "-Wno-DECLFILENAME", "-Wno-SYNCASYNCNET", "--assert", "--timing")
# Registers and memories start with what a seed gives (rs_open's `seed`, +verilator+seed+N), not with zeros by chance.
STATE_FLAGS = ("--x-assign", "unique", "--x-initial", "unique")
# Style is the linter's business; a failed elaboration check (USERERROR) is an error.
BUILD_FLAGS = ("--assert", "--no-timing", *STATE_FLAGS, "-Wno-lint", "-Wno-style")
_OWN_CHECK = re.compile(r"%\w+-USER(?:FATAL|ERROR|WARN): [^:]+:\d+:\d+: (?:%m: )?(.*)")
# Generated C++ below this size, in bytes, is compiled as one translation unit: its header takes longer to precompile
# (12 s of processor time for `tiny`, once for each of two efforts) than its code to compile. At little effort that
# holds for more code, and tests, which ask for little, build several designs at a time.
SINGLE_UNIT_BYTES = {"-O0": 16_000_000, "-O1": 16_000_000}
SINGLE_UNIT_BYTES_OTHERWISE = 4_000_000
# Of modules, and of whole designs.
WAIVERS = Path(__file__).parent / "lint.vlt"
WAIVERS_OF_DESIGNS = Path(__file__).parent / "whole.vlt"
HARNESS = Path(__file__).parent / "harness"


def parameter_flags(parameters: Parameters) -> list[str]:
    """`-GName=value` for each parameter; a string is a Verilog literal (`128'hff`)."""
    return [f"-G{name}={value}" for name, value in sorted(parameters.items())]


def lint(top: str, parameters: Parameters | None = None, *, files: Sequence[Path] | None = None) -> list[str]:
    """Warnings and errors of `verilator --lint-only -Wall` on `top`; empty when clean, which is kept in the cache."""
    tool = verilator()
    listed = list(files) if files is not None else sources.design(top, parameters or {})
    values = core_cfg.packed(listed[-1], parameters or {})
    inputs = [WAIVERS, WAIVERS_OF_DESIGNS, *listed]
    # Warnings name files where they lie: only that there are none is the same wherever they do.
    clean = paths.cache("lint") / digest(tool, top, values, inputs, LINT_FLAGS)
    if clean.exists():
        return []
    command: list[str | Path] = [tool.command, "--lint-only", *LINT_FLAGS, "--top-module", top]
    finished = run([*command, *parameter_flags(values), *inputs], timeout_s=600)
    found = [line for line in finished.output.splitlines() if line.startswith(("%Warning", "%Error-", "%Error: /"))]
    if finished.status != 0 and not found:
        raise ToolError(f"lint of {top} failed (exit status {finished.status}):\n{finished.tail()}")
    if not found:
        clean.touch()
    return found


def elaboration_error(top: str, parameters: Parameters, *, files: Sequence[Path] | None = None) -> str | None:
    """The text of the design's own `$fatal`/`$error` elaboration check that refuses `parameters`, or None."""
    return own_check("\n".join(lint(top, parameters, files=files)))


def own_check(output: str) -> str | None:
    """The words of the first elaboration check of the design's own that has failed, or None."""
    match = _OWN_CHECK.search(output)
    return match.group(1) if match else None


def digest(tool: Verilator, top: str, parameters: Parameters, files: Sequence[Path], flags: Sequence[str]) -> str:
    """Hash of everything a build depends on: tool version, compiler, flags, parameters and every input's bytes."""
    state = hashlib.sha256()
    compiler = run(["g++", "--version"]).output
    for item in (tool.version, compiler, top, json.dumps(dict(sorted(parameters.items()))), *flags):
        state.update(item.encode() + b"\0")
    for path in files:
        state.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()[:24]


def build_library(
    top: str,
    parameters: Parameters,
    *,
    harness: Sequence[Path],
    headers: Mapping[str, str] | None = None,
    defines: Parameters | None = None,
    optimise: str = "-O2",
    files: Sequence[Path] | None = None,
    flags: Sequence[str] = (),
) -> Path:
    """Shared library with the Verilated `top` behind the C ABI of `harness`; built once, then taken from the cache.

    The library is compiled in a directory of its own and renamed into the cache at the end, so that an interrupted
    build leaves nothing a later one could take for a result. Processes that want the same library take turns.
    `files` stand in for the RTL's sources (a netlist of the same top, which has no parameters any more); `flags` are
    further ones of Verilator. `headers` are generated ones the harness includes (the makefile runs in the directory
    they lie in, so that no path of it gets into the compiler's command line).
    """
    tool = verilator()
    own = files is None
    files = sources.design(top, parameters) if files is None else files
    listed = [*files, *harness, *sorted(HARNESS.glob("*.h")), WAIVERS_OF_DESIGNS]
    generated = dict(headers or {})
    macros = [f"-D{name}={value}" for name, value in sorted((defines or {}).items())]
    state = [optimise, *BUILD_FLAGS, *flags, *macros, json.dumps(generated, sort_keys=True)]
    key = digest(tool, top, parameters, listed, state)
    target = paths.cache("verilated") / f"{top}-{key}.so"
    with exclusive(paths.cache("locks") / f"{top}-{key}"):
        if stored.intact(target):
            return target
        work = Path(tempfile.mkdtemp(prefix=f".{top}-", dir=target.parent))
        try:
            for name, text in generated.items():
                (work / name).write_text(text)
            settings = parameter_flags(parameters) if own else []
            _compile(tool, top, [*flags, *settings], files, harness, macros, optimise, work)
            stored.keep(work / "harness.so", target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return target


def _compile(
    tool: Verilator,
    top: str,
    flags: Sequence[str],
    files: Sequence[Path],
    harness: Sequence[Path],
    macros: Sequence[str],
    optimise: str,
    work: Path,
) -> None:
    say(f"[1/2] verilating {top} ({len(files)} files)")
    cflags = f"-fPIC -I{HARNESS} {' '.join(macros)}"
    command: list[str | Path] = [
        tool.command, "--cc", "--exe", "--prefix", "Vtop", "--top-module", top, "-Mdir", work, "-o", "harness.so",
        "-O3", *BUILD_FLAGS, *macros,
        "-CFLAGS", cflags, "-LDFLAGS", "-shared", *flags, WAIVERS_OF_DESIGNS, *files, *harness,
    ]  # fmt: skip
    done = checked(f"verilating {top}", run(command, timeout_s=900, log=work / "verilator.log"))
    jobs = os.cpu_count() or 1
    say(f"[2/2] compiling {top} with {jobs} jobs (verilated in {done.seconds:.1f} s)")
    effort = [f"OPT_FAST={optimise}", "OPT_SLOW=-O0", f"OPT_GLOBAL={optimise}"]
    size = sum(path.stat().st_size for path in work.glob("Vtop*.cpp"))
    units = ["VM_PARALLEL_BUILDS=0"] if size < SINGLE_UNIT_BYTES.get(optimise, SINGLE_UNIT_BYTES_OTHERWISE) else []
    make = ["make", "-C", str(work), "-f", "Vtop.mk", f"-j{jobs}", *units, *effort]
    built = run(make, env=tool.environment(paths.cache("objects")), timeout_s=1800, log=work / "make.log")
    checked(f"compiling {top}", built)
    say(f"built {top} in {done.seconds + built.seconds:.1f} s")
