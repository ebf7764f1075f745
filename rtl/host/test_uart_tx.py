# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.parameters import parameter
from dv.serial_lines import uart_receive
from dv.stimulus import send, start
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error


@cocotb.test()
async def check_bytes(dut):
    """Bytes arrive in order whatever the pauses between them; the line is high before the first."""
    divisor = parameter("Divisor")
    values = [0x00, 0xFF, 0x55, 0xA7, 0x80, 0x01]
    await start(dut, tx_valid_i=0)
    for _ in range(20):
        assert int(dut.uart_tx_o.value) == 1
        await FallingEdge(dut.clk_i)
    cocotb.start_soon(send(dut, "tx_valid_i", "tx_ready_o", [{"tx_data_i": v} for v in values], random.Random(1)))
    assert [await uart_receive(dut, divisor) for _ in values] == values


@pytest.mark.parametrize("divisor", [4, pytest.param(64, marks=pytest.mark.slow)])
def test_uart_tx(divisor):
    run_checks("rs_uart_tx", {"Divisor": divisor})


def test_refuses_divisor():
    assert "must be 4 to 65535" in elaboration_error("rs_uart_tx", {"Divisor": 70000})
