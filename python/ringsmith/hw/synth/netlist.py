# SPDX-License-Identifier: Apache-2.0
"""Post-synthesis netlists as Verilog of plain gates and flip-flops, for simulation by the same tests as the RTL."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from ringsmith.hw import paths
from ringsmith.hw.synth.job import Design, run_yosys, settings_of
from ringsmith.hw.synth.store import key_of

# Generated text: names, unused wires and widths are not anybody's style.
_PREAMBLE = "/* verilator lint_off {rule} */\n"
_RULES = ("UNUSED", "WIDTH", "DECLFILENAME", "UNDRIVEN", "UNOPTFLAT", "BLKSEQ", "SYNCASYNCNET", "ASCRANGE", "VARHIDDEN")

# A type that no pass knows and so leaves alone.
_HIDDEN = "$__multiplier"


def netlist(design: Design, *, quiet: bool = True) -> Path:
    """The design's netlist, a file named after its top: flat, gates and flip-flops; memories and multipliers, which an
    FPGA has as blocks, stay arrays and products.

    Raises:
        ToolError: Yosys failed; no file is left then.
    """
    folder = paths.cache("netlists")
    work = Path(tempfile.mkdtemp(prefix=".netlist-", dir=folder))
    try:
        result = work / "netlist.v"
        passes = _passes(design, work / "elaborated.il", result)
        named = [one.replace(str(work), "") for one in passes]
        kept = folder / key_of([*settings_of(design, "netlist"), *named], design.files())[:24]
        target = kept / f"{design.top}.sv"
        if not target.exists():
            run_yosys(passes, f"{design.name}: netlist", result, quiet=quiet)
            kept.mkdir(exist_ok=True)
            part = work / target.name
            part.write_text("".join(_PREAMBLE.format(rule=rule) for rule in _RULES) + result.read_text())
            part.replace(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def _passes(design: Design, elaborated: Path, result: Path) -> list[str]:
    """Word level to gates, without the mapping of memories to flip-flops."""
    return [
        *design.elaborate(elaborated),
        "setattr -mod -unset keep_hierarchy *",
        f"hierarchy -top {design.top}",
        "proc",
        "flatten",
        "opt",
        "wreduce",
        "peepopt",
        f"chtype -set {_HIDDEN} t:$mul",
        "alumacc",
        "opt -full",
        "memory -nomap",
        "opt -fine",
        "techmap",
        "opt -fast",
        # The default script takes a quarter of an hour over a combinational transform.
        "abc -g AND,OR,XOR,MUX -script +strash;dc2;map",
        f"chtype -set $mul t:{_HIDDEN}",
        "opt_clean -purge",
        # The simulator keeps every signal of the top apart for the tests; behind a shell it may fold the gates.
        f"submod -name {design.top}_gates",
        "opt_clean -purge",
        f"write_verilog -noattr -simple-lhs {result}",
    ]
