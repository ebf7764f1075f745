# SPDX-License-Identifier: Apache-2.0
"""Icarus Verilog, a simulator of four values: what nothing has set yet is x, and spreads.

It reads plain Verilog only (ringsmith.hw.verilog). It is no Python package: the system's, of any version from 11 on.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.hw import paths, stored, verilog
from ringsmith.hw.process import checked, run
from ringsmith.hw.synth.job import yosys_version
from ringsmith.hw.synth.store import key_of
from ringsmith.hw.toolchain import exclusive

LEAST_VERSION = 11
HINT = "install it (Debian and Ubuntu: apt install iverilog)"


@lru_cache(maxsize=1)
def version() -> str:
    """Version of the installed Icarus. Raises ToolError where there is none, or an older one than the least."""
    if shutil.which("iverilog") is None or shutil.which("vvp") is None:
        raise ToolError(f"Icarus Verilog is missing: {HINT}")
    # It looks for its own preprocessor after it has told its version, and complains.
    found = re.search(r"Icarus Verilog version (\d+)(\S*)", run(["iverilog", "-V"]).output)
    if found is None or int(found[1]) < LEAST_VERSION:
        raise ToolError(f"Icarus Verilog {LEAST_VERSION} or later is needed, not {found[1] if found else '?'}: {HINT}")
    return f"{found[1]}{found[2]}"


def build(top: str, parameters: Mapping[str, int | str], files: Sequence[Path], *, defines: Sequence[str] = ()) -> Path:
    """The simulation of `top`, for `vvp`, from the cache or built now. Raises ToolError where a tool is missing."""
    told = [version(), yosys_version(), top, repr(sorted(parameters.items())), *defines]
    key = key_of(told, [*files, Path(verilog.__file__)])[:24]
    target = paths.cache("four-state") / f"{top}-{key}.vvp"
    with exclusive(target.with_suffix(".lock")):
        if not stored.intact(target):
            with tempfile.TemporaryDirectory(prefix=f".{top}-", dir=target.parent) as folder:
                work = Path(folder)
                (work / "time.v").write_text("`timescale 1ns/1ps\n")
                verilog.write_verilog(top, parameters, work / "plain.v", files=files, defines=defines)
                command = ["iverilog", "-g2005", "-s", top, "-o", "unfinished", "time.v", "plain.v"]
                checked(f"compiling {top} with Icarus", run(command, cwd=work, timeout_s=600))
                stored.keep(work / "unfinished", target)
    return target


def command(simulation: Path) -> list[str | Path]:
    """The command that runs a built simulation under cocotb."""
    import cocotb_tools.config

    library = Path(cocotb_tools.config.lib_name_path("vpi", "icarus"))
    return ["vvp", "-n", "-m", library, simulation]
