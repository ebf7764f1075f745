# SPDX-License-Identifier: Apache-2.0
"""A generated package's top through a driver that knows the package's documents alone, in four states and in two.

Registers by cocotbext-axi's master, host memory by its slave; every channel pauses at random. A watcher holds both
ports to the rules of AXI4. Inputs are undefined (in two states: random) wherever no VALID stands for them, and with
four states so are all registers and memories until something writes them: nothing of it may reach an output.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge, with_timeout
from cocotb.types import LogicArray
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from dv.axi_lite import rest_axil
from dv.axi_memory import SLAVE_AT_REST, AxiMemory, Pins
from dv.axi_rules import CHANNELS, AxiRules
from dv.package_driver import Documents, Failure, PackageDriver
from dv.primes import prime_below
from dv.stimulus import PERIOD_NS, cycles, start
from ringsmith.hw import icarus
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.generate import generate
from ringsmith.presets import load_preset

pytestmark = pytest.mark.hw
BASE, MEMORY_BYTES = 0x7_1234_5000, 1 << 14
SEED = int(os.environ.get("AXI_SEED", "1"))
FOUR_STATE = "FOUR_STATE" in os.environ
BUS_ERROR = 7
COUNTERS = (
    *("CYCLES", "BUSY_COMPUTE", "BUSY_MEMORY", "STALL_HAZARD", "STALL_UNIT", "BUSY_PORT", "WORDS_READ"),
    *("WORDS_WRITTEN", "BUSY_RNS", "BUSY_POINTWISE"),
)


class Board:
    """The top between both models of cocotbext-axi, watched, with its driver and what a program needs."""

    def __init__(self, dut) -> None:
        """Attach everything; the reset must have ended."""
        self.dut, self.random = dut, random.Random(SEED)
        host, port = Pins(dut, "s_axil"), Pins(dut, "m_axi")
        self.lite = AxiLiteMaster(AxiLiteBus.from_prefix(host, "s_axil"), dut.clk_i, dut.rst_ni, False)
        reads, writes = self.lite.read_if, self.lite.write_if
        for channel in (reads.ar_channel, reads.r_channel, writes.aw_channel, writes.w_channel, writes.b_channel):
            channel.set_pause_generator(iter(lambda: self.random.random() < 0.3, None))
        self.memory = AxiMemory(dut, port, BASE, MEMORY_BYTES, SEED)
        self.rules = [AxiRules(dut, host, "s_axil"), AxiRules(dut, port, "m_axi")]
        cocotb.start_soon(self._noise(host, "s_axil", ("aw", "w", "ar")))
        cocotb.start_soon(self._noise(port, "m_axi", ("b", "r")))
        cocotb.start_soon(self._defined())
        self.driver = PackageDriver(Documents(Path(os.environ["PACKAGE"])), self.read, self.write)

    async def read(self, address: int) -> int:
        """Read a register."""
        return await with_timeout(cocotb.start_soon(self.lite.read_dword(address)), 2000 * PERIOD_NS, "ns")

    async def write(self, address: int, value: int) -> None:
        """Write a register, all its bytes."""
        assert (await self.lite.write(address, value.to_bytes(4, "little"))).resp == AxiResp.OKAY

    async def strobed(self, address: int, value: int, strobe: int) -> None:
        """Write a register's bytes whose bit of `strobe` is 1."""
        writes = self.lite.write_if
        address_item, data_item = writes.aw_channel._transaction_obj(), writes.w_channel._transaction_obj()
        address_item.awaddr, data_item.wdata, data_item.wstrb = address, value, strobe
        await writes.aw_channel.send(address_item)
        await writes.w_channel.send(data_item)
        assert int((await writes.b_channel.recv()).bresp) == AxiResp.OKAY

    async def begin(self) -> None:
        """What a driver does after a reset: the tables, with constants of their own each time."""
        widths = [self.driver.word_bits - lane for lane in range(self.driver.lanes)]
        self.moduli = [prime_below(bits, 2 * self.driver.n_max) for bits in widths]
        self.constants = [self.random.randrange(m) for m in self.moduli]
        await self.driver.configure(self.moduli, self.constants, BASE)
        assert not self.rules[1].outstanding()

    def polynomials(self, n: int) -> list[list[int]]:
        """A random one for each lane."""
        return [[self.random.randrange(m) for _ in range(n)] for m in self.moduli]

    async def run(self, log2_n: int = 0) -> None:
        """Multiply, add and scale: k (a b + e) in Z_m[x] / (x^n + 1), and nothing else in memory changes."""
        driver, memory = self.driver, self.memory
        n = 1 << (log2_n or self.random.randrange(3, 5))
        a, b, e = (self.polynomials(n) for _ in range(3))
        for buffer, rows in enumerate(([driver.twiddle_table(m, n) for m in self.moduli], a, b, e)):
            driver.lay(memory.data, buffer, rows)
        expected = bytearray(memory.data)
        driver.lay(expected, 4, list(map(scaled_product, a, b, e, self.constants, self.moduli)))
        await driver.push(*self.commands(n))
        assert await driver.finish() is None
        assert memory.data == expected
        assert not self.rules[1].outstanding()

    def commands(self, n: int) -> list[int]:
        """The program of `run`."""
        words = (
            ("LOAD", {"dst": self.driver.documents.twiddles, "buf_idx": 0}),
            ("LOAD", {"dst": 2, "buf_idx": 1}),
            ("LOAD", {"dst": 3, "buf_idx": 2}),
            ("NTT", {"dst": 2, "src_a": 2}),
            ("NTT", {"dst": 3, "src_a": 3}),
            ("PMODMUL", {"dst": 2, "src_a": 2, "src_b": 3}),
            ("LOAD", {"dst": 3, "buf_idx": 3}),
            ("INTT", {"dst": 2, "src_a": 2, "src_c": 3}),
            ("CMODMUL", {"dst": 2, "src_a": 2, "const_idx": 0}),
            ("STORE", {"src_a": 2, "buf_idx": 4}),
        )
        return [self.driver.documents.command(name, log2_n=n.bit_length() - 1, **fields) for name, fields in words]

    async def taken(self, channel: str, count: int) -> None:
        """Wait until the data port has moved `count` more items on a channel."""
        transfers = self.rules[1].transfers
        goal = transfers[channel] + count
        for _ in range(20000):
            if transfers[channel] >= goal:
                return
            await FallingEdge(self.dut.clk_i)
        raise AssertionError(f"the data port stands still: {transfers}")

    async def _noise(self, pins: Pins, prefix: str, channels: tuple[str, ...]) -> None:
        """Between the items of a channel that the models drive, put noise on its payload."""
        payloads = [
            (
                getattr(pins, f"{prefix}_{name}valid"),
                [getattr(pins, f"{prefix}_{name}{p}") for p in CHANNELS[name] if hasattr(pins, f"{prefix}_{name}{p}")],
            )
            for name in channels
        ]
        undefined = {len(pin): LogicArray("X" * len(pin)) for _, payload in payloads for pin in payload}
        while True:
            await FallingEdge(self.dut.clk_i)
            for valid, payload in payloads:
                if str(valid.value) == "0":
                    for pin in payload:
                        pin.value = undefined[len(pin)] if FOUR_STATE else self.random.getrandbits(len(pin))

    async def _defined(self) -> None:
        """Outside of a reset the interrupt and the events are defined in every cycle."""
        dut = self.dut
        outputs = [dut.irq_o, dut.ev_start_o, dut.ev_end_o]
        while True:
            await RisingEdge(dut.clk_i)
            if str(dut.rst_ni.value) == "1":
                for pin in outputs:
                    assert not set(str(pin.value)) - {"0", "1"}, f"{pin._name} is {pin.value}"


def scaled_product(a: list[int], b: list[int], e: list[int], k: int, m: int) -> list[int]:
    """k (a b + e) modulo x^n + 1 and m, by the definition."""
    n = len(a)
    total = list(e)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            total[(i + j) % n] += x * y if i + j < n else -x * y
    return [k * value % m for value in total]


async def started(dut) -> Board:
    await start(dut, **rest_axil("s_axil_"), **SLAVE_AT_REST)
    board = Board(dut)
    await cycles(dut, 1)
    await board.driver.identify()
    await board.begin()
    return board


@cocotb.test()
async def check_programs(dut):
    """Programs of several degrees and their interrupt, the last on a slave that takes addresses after their data."""
    board = await started(dut)
    driver = board.driver
    await driver.set("IRQ_ENABLE", 1)
    await driver.set("IRQ_STATUS", 15)
    assert str(dut.irq_o.value) == "0"
    await board.run(4)
    assert str(dut.irq_o.value) == "1"
    await check_counters(board, 16)
    await driver.set("IRQ_STATUS", 1)
    assert str(dut.irq_o.value) == "0"
    await board.run(driver.n_max.bit_length() - 1 if "AXI_WHOLE" in os.environ else 5)
    board.memory.data_first()
    await board.run()
    assert all(rules.paused > 30 for rules in board.rules)


async def check_counters(board: Board, n: int) -> None:
    """After one program of degree n: ten commands; in words of P coefficients, four polynomials in and one out."""
    driver, field = board.driver, board.driver.documents.field
    words = driver.lanes * n // field("SHAPE", "BUTTERFLIES", await driver.get("SHAPE"))
    await driver.act("SNAPSHOT")
    counted = {name: await driver.get(name) + (await driver.get(name, 1) << 32) for name in COUNTERS}
    assert (counted["WORDS_READ"], counted["WORDS_WRITTEN"]) == (4 * words, words)
    assert await driver.get("RETIRED") == 10
    assert all(0 < counted[name] < counted["CYCLES"] for name in ("BUSY_COMPUTE", "BUSY_MEMORY", "BUSY_PORT"))


@cocotb.test()
async def check_resets(dut):
    """The pin's reset, and that of CONTROL, in a LOAD, in a transform, in a STORE: the next program is right."""
    board = await started(dut)
    for where in ("load", "transform", "store"):
        for by_pin in (True, False):
            await begin_until(board, where)
            before = bytes(board.memory.data)
            await reset(board, by_pin)
            board.rules[1].whole = True
            assert_only_stored(board, before)
            driver = board.driver
            free = driver.documents.field("STATUS", "FREE", await driver.get("STATUS"))
            assert (await driver.get("RETIRED"), free) == (0, driver.queue)
            await board.begin()
            await board.run()


async def begin_until(board: Board, where: str) -> None:
    """Start commands and return in the middle of a LOAD, of transforms or of a STORE."""
    driver, n = board.driver, 64
    load_table, load, _, transform, *_, store = board.commands(n)
    beats = driver.lanes * n * driver.word_bytes * 8 // len(board.dut.m_axi_rdata_i)
    begun, channel, count = {
        "load": ([load], "r", 1 + board.random.randrange(beats // 2)),
        "transform": ([load_table, load, transform, transform, transform], "r", 2 * beats),
        "store": ([load, store], "w", 1 + board.random.randrange(beats // 2)),
    }[where]
    moved = cocotb.start_soon(board.taken(channel, count))
    await driver.push(*begun)
    await moved
    if where == "transform":
        await cycles(board.dut, board.random.randrange(200))
    assert not driver.documents.field("STATUS", "IDLE", await driver.get("STATUS"))


def assert_only_stored(board: Board, before: bytes) -> None:
    """Each word of buffer 4 is as it was or that of buffer 1, which was being copied there; the rest is unchanged."""
    driver, now = board.driver, board.memory.data
    first, size = driver.place(4, 0), driver.place(1, 0)
    for at in range(0, len(now), driver.word_bytes):
        word = slice(at, at + driver.word_bytes)
        source = slice(word.start - first + size, word.stop - first + size)
        assert now[word] == before[word] or (first <= at < first + size and now[word] == before[source]), f"{at:#x}"


async def reset(board: Board, by_pin: bool) -> None:
    """Reset, and with CONTROL's the wait for idle: what has begun on the bus ends there by its rules."""
    if by_pin:
        board.dut.rst_ni.value = 0
        await cycles(board.dut, 2 + board.random.randrange(3))
        board.dut.rst_ni.value = 1
        await cycles(board.dut, 1)
        return
    board.rules[1].whole = False
    await board.driver.set("IRQ_ENABLE", 2)
    await board.driver.act("RESET")
    assert await board.driver.finish() is None
    assert not board.rules[1].outstanding()
    kept = [await board.driver.get(register) for register in ("DMA_BASE_HI", "DMA_BASE_LO", "IRQ_ENABLE")]
    assert kept == [BASE >> 32, BASE & 0xFFFFFFFF, 2]


@cocotb.test()
async def check_errors(dut):
    """SLVERR and DECERR anywhere in a LOAD and in a STORE: cause, index, command, interrupt; then programs run."""
    board = await started(dut)
    driver, memory = board.driver, board.memory
    beat = len(dut.m_axi_rdata_i) // 8
    await driver.set("IRQ_ENABLE", 2)
    for memory.error in (AxiResp.SLVERR, AxiResp.DECERR):
        for mnemonic, fields in (("LOAD", {"dst": 3}), ("STORE", {"src_a": 2})):
            good = driver.documents.command("LOAD", log2_n=4, dst=2, buf_idx=0)
            bad = driver.documents.command(mnemonic, log2_n=4, buf_idx=1, **fields)
            for lane in (0, driver.lanes - 1):  # in the first burst and in the last
                at = driver.place(1, lane) + beat * board.random.randrange(4)
                memory.bad = range(at, at + beat)
                await driver.act("CLEAR")
                await driver.set("IRQ_STATUS", 15)
                await driver.push(good, bad, good)
                assert await driver.finish() == Failure(BUS_ERROR, 1, bad)
                assert str(dut.irq_o.value) == "1"
                memory.bad = range(0)
                await driver.act("CLEAR")
                await driver.set("IRQ_STATUS", 2)
                assert str(dut.irq_o.value) == "0"
            await board.run()


@cocotb.test()
async def check_strobes(dut):
    """Bytes that are not enabled stay in stored registers, and do nothing in those that act; no write of any harms."""
    board = await started(dut)
    driver, macros, draw = board.driver, board.driver.documents.macros, board.random
    stored = {"TABLE_DATA": 0xFFFFFFFF, "COMMAND_LO": 0xFFFFFFFF, "DMA_BASE_LO": 0xFFFFF000, "DMA_BASE_HI": 0xFF}
    stored |= {"IRQ_ENABLE": 0b111, "TABLE_ADDRESS": 0xFF7F}
    for register, bits in stored.items():
        held = await driver.get(register)
        for strobe in draw.sample(range(16), 6):
            value, enabled = draw.getrandbits(32), sum(0xFF << 8 * i for i in range(4) if strobe >> i & 1)
            await board.strobed(macros[register], value, strobe)
            held = (held & ~enabled | value & enabled) & bits
            assert await driver.get(register) == held, (register, f"{strobe:04b}")
    await driver.set("IRQ_ENABLE", 0)
    for register in ("MAGIC", "SHAPE", "BUILD", "STATUS", "ERROR", "RETIRED", "CYCLES"):
        before = await driver.get(register)
        await board.strobed(macros[register], draw.getrandbits(32), draw.randrange(16))
        assert await driver.get(register) == before
    await strobed_actions(board)
    await board.begin()
    await board.run()


async def strobed_actions(board: Board) -> None:
    """CONTROL, IRQ_STATUS and COMMAND_HI: bytes that are not enabled clear, push and start nothing."""
    driver, macros = board.driver, board.driver.documents.macros
    sync = driver.documents.command("SYNC")
    for strobe in range(16):
        retired = await driver.get("RETIRED")
        await driver.set("COMMAND_LO", sync & 0xFFFFFFFF)
        await board.strobed(macros["COMMAND_HI"], sync >> 32, strobe)
        await driver.finish()
        assert await driver.get("RETIRED") - retired == (strobe != 0), f"{strobe:04b}"
    for strobe in (0b1110, 0b0000, 0b0001):
        count = await driver.get("CYCLES")
        await board.strobed(macros["CONTROL"], 0x02, strobe)  # snapshot
        assert (await driver.get("CYCLES") != count) == (strobe & 1)
        assert await driver.get("IRQ_STATUS") == 1  # done
    for action in ("RESET", "CLEAR"):
        await board.strobed(macros["CONTROL"], 0xF << macros[f"CONTROL_{action}_SHIFT"], 0b1110)
        assert await driver.get("RETIRED") == 15
    for strobe, left in ((0b1110, 1), (0b0000, 1), (0b0001, 0)):
        await board.strobed(macros["IRQ_STATUS"], 0xFFFFFFFF, strobe)
        assert await driver.get("IRQ_STATUS") == left
    await driver.act("CLEAR")
    assert await driver.get("RETIRED") == 0
    for address in (0x0FC, 0x170, 0x7FC):
        assert (await board.lite.write(address, b"\xff" * 4)).resp == AxiResp.SLVERR
        assert (await board.lite.read(address, 4)).resp == AxiResp.SLVERR


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("package") / "tiny"
    generate(load_preset("tiny"), target)
    return target


def simulate(package: Path, *, four_state: bool, seed: int = 1, changed: Path | None = None, **options) -> None:
    """Run the checks on the package's own RTL, one file of it changed if so asked."""
    files = {path.name: path for path in (package / "rtl").glob("*.sv")}
    if changed is not None:
        files[changed.name] = changed
    env = {"AXI_SEED": str(seed), "PACKAGE": str(package), **options.pop("env", {})}
    run_checks("rs_top_axi", extra=list(files.values()), env=env, four_state=four_state, **options)


needs_icarus = pytest.mark.skipif(shutil.which("iverilog") is None, reason=f"Icarus Verilog is missing: {icarus.HINT}")


@needs_icarus
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
def test_four_states(package: Path, seed: int) -> None:
    simulate(package, four_state=True, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 12))
def test_two_states(package: Path, seed: int) -> None:
    """The whole ring degree too, and the assertions of the RTL."""
    simulate(package, four_state=False, seed=seed, env={"AXI_WHOLE": "1"}, optimise="-O1")


@dataclass(frozen=True)
class Fault:
    """A planted mistake: in module `unit`, `old` becomes `new`; the check that must fail, and with which words."""

    kind: str
    unit: str
    old: str
    new: str
    check: str
    words: str


FAULTS = (
    Fault(
        "pause",
        "rs_axi_dma",
        "beat_wanted && (beat_valid || filling);",
        "beat_wanted && (beat_valid || filling) && !held_q;",
        "check_programs",
        "m_axi_wvalid fell before it was taken",
    ),
    Fault(
        "pause",
        "rs_axi_dma",
        ".beat_ready_i(m_axi_wready_i && beat_wanted",
        ".beat_ready_i(beat_wanted",
        "check_programs",
        "before it was taken",
    ),
    Fault(
        "reset",
        "rs_axi_dma",
        "      lead_q         <= '0;\n      in_burst_q     <= '0;\n",
        "      lead_q         <= '0;\n",
        "check_resets",
        "m_axi_w: undefined while valid",
    ),
    Fault(
        "reset",
        "rs_host_ctrl",
        "core_rst_no <= reset_left_q == '0;",
        "core_rst_no <= 1'b1;",
        "check_resets",
        "RETIRED",
    ),
    Fault(
        "error",
        "rs_axi_dma",
        "b_take && m_axi_bresp_i[1]))",
        "b_take && m_axi_bresp_i == 2'b10))",
        "check_errors",
        "Failure",
    ),
    Fault("error", "rs_axi_dma", ".beat_err_i  (m_axi_rresp_i[1]),", ".beat_err_i  (1'b0),", "check_errors", "Failure"),
    Fault("strobe", "rs_axi_dma", "= filling ? '0 : '1;", "= '1;", "check_resets", "assert_only_stored"),
    Fault("strobe", "rs_host_regs", "= {8{axil_wstrb[i]}};", "= '1;", "check_strobes", "TABLE_DATA"),
    Fault(
        "undefined",
        "rs_host_ctrl",
        "      words_read_q    <= '0;\n",
        "",
        "check_programs",
        "s_axil_r: undefined while valid",
    ),
    Fault(
        "undefined",
        "rs_axi_dma",
        "m_axi_rvalid_i && state_q == Load),",
        "(|m_axi_rdata_i) && state_q == Load),",
        "check_programs",
        "X",
    ),
)


@needs_icarus
@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.kind}-{fault.new.strip() or fault.unit}")
def test_planted_faults_are_found(package: Path, tmp_path: Path, fault: Fault) -> None:
    """The check made for a kind of fault fails on it, for the reason that is wrong."""
    changed = tmp_path / f"{fault.unit}.sv"
    text = (package / "rtl" / changed.name).read_text()
    assert text.count(fault.old) == 1
    changed.write_text(text.replace(fault.old, fault.new))
    with pytest.raises(AssertionError, match=re.escape(fault.words)):
        simulate(package, four_state=True, changed=changed, checks=fault.check, module=Path(__file__))
