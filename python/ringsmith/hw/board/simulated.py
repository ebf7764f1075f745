# SPDX-License-Identifier: Apache-2.0
"""The top of a board as a simulated device: what the bitstream holds, spoken to at its serial port, bit by bit."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ringsmith.hw.board.top import BoardTop
from ringsmith.hw.device import SHARED, effort
from ringsmith.hw.tops import describe
from ringsmith.hw.verilator import HARNESS, build_library


def build_board(top: BoardTop) -> Path:
    """The shared library that simulates a board's top (C ABI: harness/abi.h); built once, then from the cache.

    The PLL is a model: its input is taken to be as fast as its output.
    """
    inside = describe(top.preset)
    defines = {"VL_USER_STOP": 1, "VL_USER_FATAL": 1, "RS_BOARD": 1, "RS_UART_DIVISOR": top.divisor}
    with tempfile.TemporaryDirectory(prefix="ringsmith-board-") as folder:
        design = top.design(Path(folder))
        return build_library(
            design.top,
            {},
            harness=[HARNESS / name for name in (*SHARED, *inside.harness)],
            headers=inside.c_headers(),
            defines=defines,
            optimise=effort(inside.optimise),
            files=design.files(),
        )
