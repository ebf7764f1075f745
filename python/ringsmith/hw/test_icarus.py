# SPDX-License-Identifier: Apache-2.0
"""Simulation with four states: undefined until it is written, and undefined where a condition is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from ringsmith.errors import ToolError
from ringsmith.hw import icarus
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_memory(dut: Any) -> None:
    """Words of a memory are undefined until they are written; so is what an undefined enable may have read."""
    dut.wr_en_i.value, dut.rd_en_i.value, dut.wr_data_i.value, dut.wr_addr_i.value = 1, 1, 0x155, 3
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="step").start())  # type: ignore[arg-type]
    found = {}
    for word in (3, 2, 3):
        dut.rd_addr_i.value = word
        for _ in range(2):
            await FallingEdge(dut.clk_i)
        found[word] = str(dut.rd_data_o.value)
        dut.wr_en_i.value = 0
    assert found == {3: "101010101", 2: "XXXXXXXXX"}
    dut.rd_en_i.value, dut.rd_addr_i.value = cocotb.types.Logic("X"), 2
    await FallingEdge(dut.clk_i)
    assert str(dut.rd_data_o.value) == "XXXXXXXXX"


@pytest.mark.skipif(shutil.which("iverilog") is None, reason=f"Icarus Verilog is missing: {icarus.HINT}")
def test_what_nothing_wrote_is_undefined() -> None:
    run_checks("rs_ram_1r1w", {"Width": 9, "DepthWords": 12}, four_state=True)


@pytest.fixture
def asked_again() -> Iterator[None]:
    icarus.version.cache_clear()
    yield
    icarus.version.cache_clear()


@pytest.mark.usefixtures("asked_again")
def test_a_missing_or_old_icarus_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"Icarus Verilog is missing: .*apt install iverilog"):
        icarus.version()
    for name in ("iverilog", "vvp"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'Icarus Verilog version 10.3 (stable)'\n")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(ToolError, match="Icarus Verilog 11 or later is needed, not 10: "):
        icarus.version()
