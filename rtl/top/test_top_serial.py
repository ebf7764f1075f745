# SPDX-License-Identifier: Apache-2.0
"""rs_top_serial through its lines alone: info block, tables, a program whose data the host moves, each of the lines."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.host import CLEAR, FAILED, Host, Rows, address, check_counters, check_info, program
from dv.instructions import Insn
from dv.parameters import parameter
from dv.serial_frames import FRAME, HEADER, Reply, answer_bytes, command, entries, parse
from dv.serial_lines import spi_exchange, uart_receive, uart_send
from dv.stimulus import cycles, receive, send, start
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
REST = {
    "spi_sck_i": 0, "spi_csn_i": 1, "spi_mosi_i": 0, "uart_rx_i": 1, "byte_in_valid_i": 0, "byte_out_ready_i": 0,
}  # fmt: skip


class SerialHost(Host):
    """Frames over the byte port; the host answers each transfer that waits from its buffers."""

    def __init__(self, dut) -> None:
        super().__init__(dut)
        self.buffers: dict[int, Rows] = {}
        self.random = random.Random(3)
        self.sequence = 0

    async def frame(self, kind: int, *, address: int = 0, length: int = 0, data: bytes = b"") -> bytes | None:
        """Send a command; the answer's data, or None if it was refused."""
        self.sequence = (self.sequence + 1) % 256
        sent = command(kind, self.sequence, address=address, length=length, data=data)
        items = [{"byte_in_data_i": byte} for byte in sent]
        await send(self.dut, "byte_in_valid_i", "byte_in_ready_o", items, random.Random(len(items)))
        header = await self._receive(HEADER)
        reply = parse(header + await self._receive(answer_bytes(header) - HEADER))
        assert reply.sequence == self.sequence
        assert reply.code in (FRAME.Ok, FRAME.Refused)
        return reply.data if reply.code == FRAME.Ok else None

    async def _receive(self, count: int) -> bytes:
        taken = await receive(self.dut, "byte_out_valid_o", "byte_out_ready_i", ["byte_out_data_o"], count, self.random)
        return bytes(byte for (byte,) in taken)

    async def read(self, where: int) -> int:
        answer = await self.frame(FRAME.ReadReg, address=where, length=4)
        assert answer is not None
        return int.from_bytes(answer, "little")

    async def write(self, where: int, value: int) -> None:
        assert await self.frame(FRAME.WriteReg, data=entries([(where, value)])) == b""

    async def serve(self) -> None:
        transfer = await self.get("transfer")
        if not transfer >> 31:
            return
        assert int(self.dut.irq_o.value)
        buffer, log2n, store = transfer & 0xFFFFF, transfer >> 24 & 15, transfer >> 28 & 1
        length = self.size << log2n
        rows = []
        # A frame for each lane.
        for lane in range(self.lanes):
            data = b"" if store else self.bytes_of(self.buffers[buffer][lane])
            answer = await self.frame(FRAME.ReadData if store else FRAME.WriteData, length=length, data=data)
            assert answer is not None
            rows.append(self.row_of(answer))
        if store:
            self.buffers[buffer] = rows
        # The transfer is over, or another one follows.
        await cycles(self.dut, 4)


async def started(dut) -> SerialHost:
    await start(dut, **REST)
    host = SerialHost(dut)
    frame_bytes = parameter("FrameBytes")
    assert await host.frame(FRAME.Greet) == bytes([FRAME.Version, frame_bytes.bit_length() - 1])
    await host.set("irq_enable", 4)
    await host.configure()
    return host


async def run_program(host: SerialHost, seed: int) -> None:
    """Run the common program and compare the buffers it leaves."""
    insns, host.buffers, wanted = program(host, seed)
    given = dict(host.buffers)
    await host.push(*insns)
    while not await host.wait() & 1:
        pass
    assert await host.get("error") == 0
    assert host.buffers == given | wanted


@cocotb.test()
async def check_info_block(dut):
    host = await started(dut)
    await check_info(host, serial=True)
    assert await host.get("serial_khz") == parameter("SerialKhz")
    assert await host.frame(FRAME.ReadReg, address=0x0F00, length=4) is None
    several = await host.frame(FRAME.ReadReg, address=address("magic"), length=16)
    assert several is not None
    assert [several[i : i + 4] for i in range(0, 16, 4)] == [
        (await host.read(address("magic") + i)).to_bytes(4, "little") for i in range(0, 16, 4)
    ]


@cocotb.test()
async def check_programs(dut):
    """Two programs in a row with an error between them: nothing waits after it, and clear makes the core usable."""
    host = await started(dut)
    await run_program(host, 1)
    await check_counters(host, 8, host.lanes * (1 << host.log2n) // parameter("P"))
    bad = Insn("PMODADD", 3, 2, 4, log2n=host.log2n)
    await host.push(Insn("SYNC"), bad)
    while not await host.wait() & FAILED:
        pass
    assert (await host.get("error"), await host.get("error_command")) == (6, bad.word() & 0xFFFFFFFF)
    assert await host.get("transfer") >> 31 == 0
    await host.set("control", CLEAR)
    await run_program(host, 2)


@cocotb.test()
async def check_data_without_a_transfer(dut):
    """Data without a request are refused; so are too many."""
    host = await started(dut)
    assert await host.frame(FRAME.WriteData, data=b"\x07") is None
    assert await host.frame(FRAME.ReadData, length=1) is None
    await host.push(Insn("LOAD", 2, buf=9, log2n=host.log2n))
    while not await host.get("transfer") >> 31:
        pass
    whole = host.lanes * (host.size << host.log2n)
    assert await host.frame(FRAME.WriteData, data=bytes(whole + 1)) is None
    host.buffers = {9: [[5] * (1 << host.log2n)] * host.lanes}
    assert await host.wait() & 1


@cocotb.test()
async def check_lines(dut):
    """The same register over SPI and over the UART: the magic number."""
    host = await started(dut)
    ask = command(FRAME.ReadReg, 0x77, address=address("magic"), length=4)
    wanted = Reply(FRAME.Ok, 0x77, (0x52534350).to_bytes(4, "little"))
    whole = HEADER + 8
    dut.spi_csn_i.value = 0
    await cycles(dut, 6)
    got = bytes(await spi_exchange(dut, [*ask, *[0] * (whole + 8)], low=4, high=4))
    dut.spi_csn_i.value = 1
    await cycles(dut, 8)
    assert parse(got.lstrip(b"\0")[:whole]) == wanted
    divisor = parameter("UartDivisor")
    seen = bytearray()

    async def listen() -> None:
        while len(seen) < whole:
            seen.append(await uart_receive(dut, divisor))

    listener = cocotb.start_soon(listen())
    for byte in ask:
        await uart_send(dut, byte, divisor)
    await listener
    # The second line asks for the same frame: it is answered, not done again.
    assert parse(bytes(seen)) == wanted
    assert await host.get("magic") == 0x52534350


@cocotb.test()
async def check_reset_of_a_transfer(dut):
    """CONTROL.reset takes a waiting transfer back, and the interrupt with it."""
    host = await started(dut)
    await host.push(Insn("LOAD", 2, buf=1, log2n=host.log2n))
    while not await host.get("transfer") >> 31:
        await RisingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    assert int(dut.irq_o.value) == 1
    await host.set("control", 8)
    await cycles(dut, 12)
    assert await host.get("transfer") >> 31 == 0
    await host.set("irq_status", 15)
    assert int(dut.irq_o.value) == 0
    await host.configure()
    await run_program(host, 4)


SHAPES = [
    {"W": 20, "P": 1, "Lanes": 2, "NMaxLog2": 3, "MulStyle": 0, "EnPmul": 0, "EnCyclic": 0, "Slots": 5},
    {"W": 128, "P": 2, "Lanes": 1, "NMaxLog2": 4, "MulStyle": 0, "Slots": 6, "FrameBytes": 512},
]


@pytest.mark.parametrize("shape", [SHAPES[0], pytest.param(SHAPES[1], marks=pytest.mark.slow)], ids=str)
def test_top_serial(shape):
    serial = {
        "SerialKhz": 25000,
        "UartDivisor": 8,
        "FrameBytes": 256,
        "BuildHash": "128'h0123456789abcdef0123456789abcdef",
    }
    run_checks("rs_top_serial", serial | shape)
