# SPDX-License-Identifier: Apache-2.0
"""The RTL as plain Verilog (IEEE 1364-2005), for tools that cannot read SystemVerilog: Icarus, Yosys's own reader.

Yosys elaborates the design with its parameters; modules, ports, registers and memories keep their names. Nothing is
optimised, and undefined values (x) stay as they were, so a four-state simulator sees what the RTL leaves undefined.
No vendor's primitive is instantiated: a file reads the same everywhere, and synthesis infers multipliers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ringsmith.hw import core_cfg, sources
from ringsmith.hw.synth.job import run_yosys, yosys_version
from ringsmith.hw.synth.rtlil import merge_equal_modules

_HEADER = """// SPDX-License-Identifier: {licence}
// {top} as plain Verilog, one file, its parameters set: written from the SystemVerilog sources by Yosys {version}.
"""
# For assertions alone, which are left out.
_FOR_ASSERTIONS = "rs_reset_seen"
# Attributes by which the elaborator talks to later passes; those of the sources (ram_style, keep) stay.
_INTERNAL = ("full_case", "parallel_case", "no_rw_check", "src", "hdlname", "top")


def write_verilog(
    top: str,
    parameters: Mapping[str, int | str],
    target: Path,
    *,
    files: Sequence[Path] | None = None,
    defines: Sequence[str] = (),
    quiet: bool = True,
) -> None:
    """Write `top` with `parameters`, and all modules below it, to `target`; assertions are left out.

    `files` stand in for the sources of the tree, dependencies first and `top` last; `defines` names macros, such as
    RINGSMITH_URAM. SYNTHESIS, which would bring vendors' primitives, is not among them.

    Raises:
        ToolError: the sources cannot be elaborated, or Yosys is missing or failed; `target` is not touched.
    """
    listed = list(files) if files is not None else sources.design(top, parameters)
    version = yosys_version()
    with tempfile.TemporaryDirectory(prefix="ringsmith-verilog-") as folder:
        elaborated, merged, result = (Path(folder) / name for name in ("elaborated.il", "merged.il", "result.v"))
        what = f"{top}: plain Verilog"
        run_yosys(_elaborate(top, parameters, listed, defines, elaborated), what, elaborated, quiet=quiet)
        merged.write_text(merge_equal_modules(elaborated.read_text(), top))
        run_yosys(_write(merged, result), what, result, quiet=quiet)
        text = result.read_text().split("\n", 1)[1]  # without Yosys's own first line
        target.write_text(_HEADER.format(licence=sources.licence(listed), top=top, version=version) + text)


def _elaborate(
    top: str, parameters: Mapping[str, int | str], files: Sequence[Path], defines: Sequence[str], output: Path
) -> list[str]:
    macros = " ".join(f"-D {name}" for name in defines)
    settings = " ".join(f"-G {name}={value}" for name, value in core_cfg.packed(files[-1], parameters).items())
    listed = sources.slang_list(files, output.with_suffix(".f"))
    options = f"--keep-hierarchy --ignore-assertions --no-synthesis-define --blackboxed-module {_FOR_ASSERTIONS}"
    return [
        f"read_slang {options} --top {top} {macros} {settings} {listed}",
        f"hierarchy -top {top}",
        f"delete t:$scopeinfo t:{_FOR_ASSERTIONS}",
        f"write_rtlil {output}",
    ]


def _write(elaborated: Path, output: Path) -> list[str]:
    return [
        f"read_rtlil {elaborated}",
        "proc -noopt",
        # In a branch that a condition rules out, nested conditions have become a choice of x by the same condition: a
        # four-state simulator would mix it in wherever the condition is undefined.
        "opt_muxtree",
        # Cells that Verilog has no operator for become multiplexers. So does the parallel case: an undefined selection
        # gives an undefined result, where a case statement takes its default.
        *("bwmuxmap", "bmuxmap", "demuxmap", "pmuxtree"),
        # A write enable that the elaborator made one of for each bit becomes one again: a memory is read as one.
        *("opt_reduce", "opt_expr -mux_bool -keepdc", "opt_clean"),
        *(f"setattr -unset {name} *" for name in _INTERNAL),
        *(f"setattr -mod -unset {name} *" for name in _INTERNAL),
        f"write_verilog -noparallelcase {output}",
    ]
