# SPDX-License-Identifier: Apache-2.0
import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.axi_lite import axil_read, axil_write, rest_axil
from dv.parameters import parameter
from dv.stimulus import start
from dv.structs import Pins
from ringsmith.hw import registers
from ringsmith.hw.cocotb_runner import run_checks

MAP = {r.name: r for r in registers.load().registers}
QUIET = ("busy", "error", "failure", "counters")
PORT = ("port_busy", "port_read", "port_write", "transfer")


def address(name: str, index: int = 0) -> int:
    return MAP[name].address + 4 * index


def field(name: str, part: str, value: int) -> int:
    f = next(f for f in MAP[name].fields if f.name == part)
    return value >> f.low & ((1 << f.width) - 1)


async def begin(dut) -> None:
    inputs = {f"{name}_i": 0 for name in QUIET + PORT}
    await start(dut, **rest_axil(), **inputs, cmd_ready_i=1, cmd_level_i=0)
    for _ in range(12):
        await FallingEdge(dut.clk_i)


@cocotb.test()
async def check_info(dut):
    """The info block says what the parameters are."""
    await begin(dut)
    assert await axil_read(dut, address("magic")) == 0x52534350
    shape = await axil_read(dut, address("shape"))
    assert field("shape", "word_bits", shape) == parameter("W", 32)
    assert field("shape", "butterflies", shape) == parameter("P", 1)
    assert field("shape", "lanes", shape) == parameter("Lanes", 1)
    assert field("shape", "log2_n_max", shape) == parameter("NMaxLog2", 8)
    slots, single = parameter("Slots", 4), parameter("SinglePort", 0)
    assert await axil_read(dut, address("dual_port")) == ((1 << slots) - 1) & ~single
    features = await axil_read(dut, address("features"))
    assert features >> 1 & 1 == 1
    assert features >> 8 & 1 == parameter("EnPmul", 1)
    rate, conversion = parameter("RnsRate", 0), await axil_read(dut, address("base_conversion"))
    high = await axil_read(dut, address("features", 1))
    moves = parameter("Moves", 0)
    assert high >> (40 - 32) & 0b1111 == (0b0110 if rate else 0) | (0b1001 if moves else 0)
    assert field("base_conversion", "moves", conversion) == moves
    shape = [field("base_conversion", part, conversion) for part in ("rate", "conversions", "entries")]
    assert shape == ([rate, parameter("RnsConversions", 2), parameter("RnsEntries", 16)] if rate else [0, 0, 0])
    build = [await axil_read(dut, address("build", i)) for i in range(4)]
    assert build == [0x89ABCDEF, 0x01234567, 0x89ABCDEF, 0x01234567]


@cocotb.test()
async def check_commands(dut):
    """Each write of the high half pushes one command; a push into a full queue is lost and remembered."""
    await begin(dut)
    pushed = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            if int(dut.cmd_valid_o.value):
                pushed.append(int(dut.cmd_o.value))

    cocotb.start_soon(watch())
    for low, high in ((0x11223344, 0x55667788), (1, 2)):
        await axil_write(dut, address("command_lo"), low)
        await axil_write(dut, address("command_hi"), high)
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    assert pushed == [0x5566778811223344, 0x0000000200000001]
    assert field("irq_status", "overflow", await axil_read(dut, address("irq_status"))) == 0
    dut.cmd_ready_i.value = 0
    await axil_write(dut, address("command_hi"), 3)
    assert field("irq_status", "overflow", await axil_read(dut, address("irq_status"))) == 1
    await axil_write(dut, address("irq_status"), 8)
    assert field("irq_status", "overflow", await axil_read(dut, address("irq_status"))) == 0


@cocotb.test()
async def check_tables(dut):
    """A table write reaches the core once, with its address and all 160 bits."""
    await begin(dut)
    value = 0xFEDC_BA98_1234_5678_9ABC_DEF0_1234_5678_9ABC_DEF5
    for i in range(5):
        await axil_write(dut, address("table_data", i), value >> (32 * i) & 0xFFFFFFFF)
    await axil_write(dut, address("table_address"), 10 << 12 | 5 << 8 | 99)
    writes, pins = [], Pins(dut)

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            if pins["constant_o.we"]:
                writes.append(tuple(pins[f"constant_o.{name}"] for name in ("sel", "lane", "idx", "data")))

    cocotb.start_soon(watch())
    await axil_write(dut, address("control"), 1 << 2)
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    assert writes == [(10, 5, 99, value)]


@cocotb.test()
async def check_interrupts(dut):
    """done comes when the core falls idle, failed when an error appears, transfer when one waits; each if enabled."""
    await begin(dut)
    pins = Pins(dut)
    await axil_write(dut, address("irq_status"), 15)
    for bit, signal, values in ((1, "error_i", (0, 1)), (2, "transfer_i.valid", (0, 1)), (0, "busy_i", (1, 0))):
        pins.set({signal: values[0]})
        await axil_write(dut, address("irq_enable"), 1 << bit)
        await axil_write(dut, address("irq_status"), 15)
        assert int(dut.irq_o.value) == 0
        pins.set({signal: values[1]})
        await FallingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        assert int(dut.irq_o.value) == 1
        await axil_write(dut, address("irq_enable"), 7 & ~(1 << bit))
        assert int(dut.irq_o.value) == int(await axil_read(dut, address("irq_status")) & 7 & ~(1 << bit) != 0)


async def writes(dut, *words: tuple[int, int]) -> None:
    """Write registers one after the other, each offered as soon as the one before was taken, without its answer."""
    pins = Pins(dut)
    pins.set({"axil_i.bready": 1, "axil_i.wstrb": 15})
    for where, value in words:
        pins.set({"axil_i.awaddr": where, "axil_i.wdata": value})
        left = {"aw", "w"}
        while left:
            pins.set({f"axil_i.{channel}valid": int(channel in left) for channel in ("aw", "w")})
            await RisingEdge(dut.clk_i)
            left -= {channel for channel in left if pins[f"axil_o.{channel}ready"]}
            await FallingEdge(dut.clk_i)
    pins.set({"axil_i.awvalid": 0, "axil_i.wvalid": 0})


async def seen_after(dut, bit: int, mask: int, offset: int) -> tuple[bool, bool]:
    """Let an event happen `offset` cycles after a write of `mask` begins: was the line up, is the bit set?"""
    signal, pins = ("busy_i", "error_i", "transfer_i.valid")[bit], Pins(dut)
    pins.set({signal: int(bit == 0)})
    await axil_write(dut, address("irq_enable"), 1 << bit)
    await axil_write(dut, address("irq_status"), 15)
    pulsed = False

    async def happen() -> None:
        nonlocal pulsed
        for cycle in range(-4, 12):
            if cycle == offset:
                pins.set({signal: int(bit != 0)})
            await FallingEdge(dut.clk_i)
            pulsed |= bool(int(dut.irq_o.value))

    event = cocotb.start_soon(happen())
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    await writes(dut, (address("irq_status"), mask))
    await event
    return pulsed, bool(await axil_read(dut, address("irq_status")) >> bit & 1)


@cocotb.test()
async def check_no_interrupt_is_lost(dut):
    """An event at any offset from a write of IRQ_STATUS raises the line; only a later write of its bit clears it."""
    await begin(dut)
    for bit in range(3):
        for mask in (1 << bit, 15 & ~(1 << bit), 15, 0):
            left = []
            for offset in range(-4, 6):
                pulsed, stays = await seen_after(dut, bit, mask, offset)
                assert pulsed, f"bit {bit}, write {mask:#x} at offset {offset}: the line never rose"
                left.append(stays)
            cleared = left.count(False)
            assert left == [False] * cleared + [True] * (10 - cleared), left
            assert (0 < cleared < 9) if mask >> bit & 1 else cleared == 0, left


@cocotb.test()
async def check_no_overflow_is_lost(dut):
    """A push that is lost is remembered at any offset from a write of IRQ_STATUS, unless a later one clears its bit."""
    await begin(dut)
    dut.cmd_ready_i.value = 0
    push, clear = (address("command_hi"), 1), address("irq_status")
    for mask in (8, 7, 15):
        left = []
        for gap in (-3, -2, -1, 1, 2, 3):
            idle = [(address("irq_enable"), 0)] * (abs(gap) - 1)
            order = [push, *idle, (clear, mask)] if gap > 0 else [(clear, mask), *idle, push]
            await axil_write(dut, clear, 15)
            await writes(dut, *order)
            for _ in range(4):
                await FallingEdge(dut.clk_i)
            left.append(field("irq_status", "overflow", await axil_read(dut, clear)))
        # The push reaches the queue in the cycle after its write, which is that of a write right behind it.
        assert left == ([1, 1, 1, 1, 0, 0] if mask & 8 else [1] * 6), left


@cocotb.test()
async def check_counters_and_reset(dut):
    """Counters stand still between snapshots; reset reaches the core for some cycles and clear for one."""
    await begin(dut)
    pins = Pins(dut)
    pins.set({"counters_i.cycles": 0x1_0000_0002})
    assert await axil_read(dut, address("cycles")) == 0
    await axil_write(dut, address("control"), 2)
    pins.set({"counters_i.cycles": 0x7})
    assert [await axil_read(dut, address("cycles", i)) for i in (0, 1)] == [2, 1]
    dut.port_read_i.value = 1
    for _ in range(10):
        await FallingEdge(dut.clk_i)
    dut.port_read_i.value = 0
    await axil_write(dut, address("control"), 2)
    assert await axil_read(dut, address("words_read")) == 10
    low, clear = 0, 0
    await axil_write(dut, address("control"), 1 | 8)
    for _ in range(20):
        await RisingEdge(dut.clk_i)
        low += 1 - int(dut.core_rst_no.value)
        clear += int(dut.clear_o.value)
    assert 6 <= low <= 8
    assert clear <= 1
    assert await axil_read(dut, 0xF00) == -1


@pytest.mark.parametrize(
    "shape",
    [
        {"W": 128, "Slots": 6, "SinglePort": 0x38, "NMaxLog2": 13},
        {
            "W": 40,
            "P": 2,
            "Lanes": 3,
            "NMaxLog2": 12,
            "Slots": 7,
            "SinglePort": 0x78,
            "EnPmul": 0,
            "RnsRate": 4,
            "RnsConversions": 16,
            "RnsEntries": 64,
            "Moves": 32,
        },
    ],
)
def test_host_ctrl(shape):
    run_checks("rs_host_ctrl", {**shape, "BuildHash": "128'h0123456789abcdef0123456789abcdef"})
