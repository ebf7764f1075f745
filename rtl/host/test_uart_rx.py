# SPDX-License-Identifier: Apache-2.0
import cocotb
import pytest
from cocotb.triggers import RisingEdge

from dv.parameters import parameter
from dv.serial_lines import uart_send
from dv.stimulus import cycles, start
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error


async def watch(dut, seen: list[int | str]) -> None:
    while True:
        await RisingEdge(dut.clk_i)
        if int(dut.rx_valid_o.value):
            seen.append(int(dut.rx_data_o.value))
        if int(dut.break_o.value):
            seen.append("break")


@cocotb.test()
async def check_bytes(dut):
    """Bytes back to back, with a sender 3 % slow, a glitch too short for a start bit, a break, and a byte after it."""
    divisor = parameter("Divisor")
    seen: list[int | str] = []
    await start(dut, uart_rx_i=1)
    await cycles(dut, 3 * divisor)
    cocotb.start_soon(watch(dut, seen))
    for value in (0x00, 0xFF, 0x55, 0xA7):
        await uart_send(dut, value, divisor)
    await cycles(dut, divisor)
    if divisor >= 32:
        await uart_send(dut, 0x3C, divisor + divisor // 32)
        dut.uart_rx_i.value = 0
        await cycles(dut, divisor // 8)
        dut.uart_rx_i.value = 1
        await cycles(dut, 12 * divisor)
    # The line stays low for two characters: one break, however long it lasts.
    await uart_send(dut, 0x00, divisor, stop=0)
    dut.uart_rx_i.value = 0
    await cycles(dut, 20 * divisor)
    dut.uart_rx_i.value = 1
    await cycles(dut, 2 * divisor)
    await uart_send(dut, 0x81, divisor)
    await cycles(dut, divisor)
    assert seen == [0x00, 0xFF, 0x55, 0xA7, *([0x3C] if divisor >= 32 else []), "break", 0x81]


@pytest.mark.parametrize("divisor", [4, pytest.param(64, marks=pytest.mark.slow)])
def test_uart_rx(divisor):
    run_checks("rs_uart_rx", {"Divisor": divisor})


def test_refuses_divisor():
    assert "must be 4 to 65535" in elaboration_error("rs_uart_rx", {"Divisor": 3})
