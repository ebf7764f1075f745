# SPDX-License-Identifier: Apache-2.0
"""The top of a board as a simulated device: what the bitstream holds, spoken to at its serial port, bit by bit."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ringsmith import shipped
from ringsmith.errors import ToolError
from ringsmith.extras import to_install
from ringsmith.hw.board.routed import is_routed, read_netlist, unpacked
from ringsmith.hw.board.top import MODULE, BoardTop
from ringsmith.hw.device import SHARED, effort
from ringsmith.hw.synth.job import run_yosys
from ringsmith.hw.tops import describe
from ringsmith.hw.verilator import HARNESS, build_library

#: Cells that Yosys's library declares and does not describe, or not as nextpnr writes them; they come before it and so
#: in their place.
CELLS = (HARNESS / "ecp5_cells.sv", HARNESS / "ecp5_slices.sv")


def build_board(top: BoardTop) -> Path:
    """The shared library that simulates a board's top (C ABI: harness/abi.h); built once, then from the cache.

    The PLL is a model: its input is taken to be as fast as its output.
    """
    with tempfile.TemporaryDirectory(prefix="ringsmith-board-") as folder:
        design = top.design(Path(folder))
        return _built(top, design.top, design.files())


def build_gates(top: BoardTop, netlist: Path, *, quiet: bool = False) -> Path:
    """The same of a bitstream's netlist of LUTs, carries, flip-flops and memories.

    That is `NAME.json`, as nextpnr was given it, or `NAME.routed.json`, as it placed and routed it.

    Raises:
        InputError: there is no such file, it is no netlist, or it has cells without a model.
        ToolError: a tool is missing or failed.
    """
    found = read_netlist(netlist)
    with tempfile.TemporaryDirectory(prefix="ringsmith-gates-") as folder:
        gates, source = Path(folder) / "gates.v", netlist.resolve()
        if is_routed(found):
            source = Path(folder) / "unpacked.json"
            source.write_text(json.dumps(unpacked(found, MODULE)))
        commands = [f"read_json {source}", f"write_verilog -noattr -selected {gates}"]
        run_yosys(commands, f"{netlist.stem} as Verilog", gates, quiet=quiet)
        library = _cells() / "ecp5"
        flags = [*(f"-Wno-{name}" for name in ("MODDUP", "SPECIFYIGN", "INITIALDLY")), f"-I{library}"]
        return _built(
            top, MODULE, [*CELLS, shipped.rtl() / "prim" / "EHXPLLL.sv", library / "cells_sim.v", gates], flags
        )


def _built(top: BoardTop, module: str, files: Sequence[Path], flags: Sequence[str] = ()) -> Path:
    inside = describe(top.preset)
    return build_library(
        module,
        {},
        harness=[HARNESS / name for name in (*SHARED, *inside.harness)],
        headers=inside.c_headers(),
        defines={"VL_USER_STOP": 1, "VL_USER_FATAL": 1, "RS_BOARD": 1, "RS_UART_DIVISOR": top.divisor},
        optimise=effort(inside.optimise),
        files=files,
        flags=flags,
    )


def _cells() -> Path:
    """The folder of the cell libraries that came with Yosys."""
    found = importlib.util.find_spec("pyosys")
    if found is None or found.origin is None:
        raise ToolError(f"Yosys is not installed: {to_install('hw')}")
    return Path(found.origin).parent / "share"
