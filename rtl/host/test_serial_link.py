# SPDX-License-Identifier: Apache-2.0
import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from dv.parameters import parameter
from dv.serial_lines import spi_exchange, uart_receive, uart_send
from dv.stimulus import cycles, start
from ringsmith.hw.cocotb_runner import run_checks

REST = {
    "spi_sck_i": 0, "spi_csn_i": 1, "spi_mosi_i": 0, "uart_rx_i": 1, "byte_in_valid_i": 0,
    "byte_out_ready_i": 1, "between_i": 1, "rx_ready_i": 1, "tx_valid_i": 0,
}  # fmt: skip


async def echo(dut, heard: list[int]) -> None:
    """A parser whose frames are two bytes, answered with their sum; it skips 0x00 between frames."""
    while True:
        frame: list[int] = []
        while len(frame) < 2:
            await RisingEdge(dut.clk_i)
            if int(dut.rx_valid_o.value) and (frame or int(dut.rx_data_o.value)):
                frame.append(int(dut.rx_data_o.value))
            await FallingEdge(dut.clk_i)
            dut.between_i.value = int(not frame)
        heard += frame
        dut.rx_ready_i.value = 0
        dut.tx_valid_i.value, dut.tx_data_i.value = 1, sum(frame) & 255
        taken = 0
        while not taken:
            await RisingEdge(dut.clk_i)
            taken = int(dut.tx_ready_o.value)
            await FallingEdge(dut.clk_i)
        dut.tx_valid_i.value, dut.rx_ready_i.value, dut.between_i.value = 0, 1, 1


@cocotb.test()
async def check_lines(dut):
    """A frame comes and is answered on each of the three lines in turn; the others stay quiet."""
    heard: list[int] = []
    await start(dut, **REST)
    cocotb.start_soon(echo(dut, heard))
    divisor = parameter("UartDivisor")
    for turn in range(2):
        dut.spi_csn_i.value = 0
        await cycles(dut, 6)
        assert 0x30 + turn in await spi_exchange(dut, [0x10, 0x20 + turn, 0, 0, 0])
        dut.spi_csn_i.value = 1
        await cycles(dut, 8)
        answer = cocotb.start_soon(uart_receive(dut, divisor))
        await uart_send(dut, 0x40, divisor)
        await uart_send(dut, 0x02 + turn, divisor)
        assert await answer == 0x42 + turn
        for value in (0x60, 0x07 + turn):
            dut.byte_in_valid_i.value, dut.byte_in_data_i.value = 1, value
            await FallingEdge(dut.clk_i)
        dut.byte_in_valid_i.value = 0
        while not int(dut.byte_out_valid_o.value):
            await FallingEdge(dut.clk_i)
        assert int(dut.byte_out_data_o.value) == 0x67 + turn
        await cycles(dut, 4)
    assert heard == [0x10, 0x20, 0x40, 0x02, 0x60, 0x07, 0x10, 0x21, 0x40, 0x03, 0x60, 0x08]


@cocotb.test()
async def check_abort(dut):
    """The owner's abort is reported: the end of an SPI frame, a break on the UART; not another line's."""
    aborts = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            aborts.append(int(dut.abort_o.value))

    await start(dut, **REST)
    cocotb.start_soon(watch())
    divisor = parameter("UartDivisor")
    dut.spi_csn_i.value = 0
    await cycles(dut, 6)
    await spi_exchange(dut, [0x10])
    await cycles(dut, 4)
    dut.between_i.value = 0
    await uart_send(dut, 0, divisor, stop=0)
    await cycles(dut, 2 * divisor)
    assert sum(aborts) == 0
    dut.spi_csn_i.value = 1
    await cycles(dut, 8)
    assert sum(aborts) == 1
    dut.between_i.value = 1
    await uart_send(dut, 0x33, divisor)
    dut.between_i.value = 0
    await uart_send(dut, 0, divisor, stop=0)
    await cycles(dut, 2 * divisor)
    assert sum(aborts) == 2


def test_serial_link():
    run_checks("rs_serial_link", {"UartDivisor": 16}, timeout_s=120)
