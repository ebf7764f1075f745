# SPDX-License-Identifier: Apache-2.0
"""Drives `rs_core` in cocotb: configuration, programs, events."""

from __future__ import annotations

from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, First, RisingEdge, with_timeout

from dv.conversion import Arithmetic, Conversion
from dv.data_port import DATA_PORT_AT_REST, DataPort
from dv.instructions import Insn
from dv.moves import Digit
from dv.oracle import root, twiddle_table
from dv.parameters import parameter
from dv.primes import prime_above, prime_below
from dv.structs import Pins

#: Units, by bit of an event.
UNITS = ("compute", "memory", "rns", "pointwise")


@dataclass(frozen=True)
class Build:
    """The parameters of the core under test."""

    width: int = field(default_factory=lambda: parameter("W", 32))
    p: int = field(default_factory=lambda: parameter("P", 2))
    lanes: int = field(default_factory=lambda: parameter("Lanes", 1))
    log2n: int = field(default_factory=lambda: parameter("NMaxLog2", 6))
    slots: int = field(default_factory=lambda: parameter("Slots", 5))
    single: int = field(default_factory=lambda: parameter("SinglePort", 16))
    moduli: int = field(default_factory=lambda: parameter("Moduli", 2))
    tables: int = field(default_factory=lambda: parameter("TwTables", parameter("Moduli", 2)))
    consts: int = field(default_factory=lambda: parameter("Consts", 4))
    kind: int = field(default_factory=lambda: parameter("MulKind", 0))
    mont: int = field(default_factory=lambda: parameter("MontW", 8))
    smallest: int = field(default_factory=lambda: parameter("ModMinBits", 5))
    rate: int = field(default_factory=lambda: parameter("RnsRate", 0))
    moves: int = field(default_factory=lambda: parameter("Moves", 0))
    wide: int = field(default_factory=lambda: parameter("WidePort", 0))
    stream: int = field(default_factory=lambda: parameter("EnStream", 0))

    @property
    def log2n_min(self) -> int:
        """The smallest log2 n."""
        return max(3, (4 * self.p).bit_length() - 1)

    def radix(self, modulus: int) -> int:
        """The Montgomery factor modulo the modulus; 1 for Barrett."""
        steps = -(-self.width // self.mont)
        return pow(2, self.mont * steps, modulus) if self.kind else 1

    def choose_moduli(self) -> list[list[int]]:
        """Primes for every modulus index and lane, from both ends of the range."""
        step = 1 << max(self.log2n + 1, self.mont if self.kind else 0)
        low, found = max(step.bit_length() + 2, 5 if self.kind else self.smallest), []
        for index in range(self.moduli):
            bits = self.width if index % 2 == 0 else max(low, self.width // 2)
            # Not every small size has a prime.
            while prime_above(bits, step) >> bits:
                bits += 1
            row: list[int] = []
            while len(row) < self.lanes:
                prime = prime_below(bits, step) if len(row) % 2 == 0 else prime_above(bits, step)
                row.append(prime)
                bits = max(bits - 1, low) if len(row) % 2 == 0 else bits
            found.append(row)
        return found


class Core(DataPort):
    """The core with its host around it."""

    build: Build

    def __init__(self, dut, moduli: list[list[int]]) -> None:
        """Hold the simulator's handle and the moduli by index and lane."""
        super().__init__(dut, Build())
        self.moduli, self.streams, self.pins = moduli, bool(self.build.stream), Pins(dut)
        self.events: list[tuple[str, int, int, int]] = []
        self.conversions: list[Conversion] = []
        self.automorphisms: list[int] = []
        self.digits: list[Digit] = []

    async def start(self) -> None:
        """Reset, start the clock and the host's side, write moduli and what belongs to them."""
        dut = self.dut
        self.pins.set(dict.fromkeys(("clear_i", "cmd_valid_i", "constant_i", "rst_ni"), 0) | DATA_PORT_AT_REST)
        dut.dma_room_i.value = (1 << 27) - 1
        cocotb.start_soon(Clock(dut.clk_i, 2, unit="step").start())
        for _ in range(4):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        cocotb.start_soon(self.serve())
        for index, row in enumerate(self.moduli):
            for lane, modulus in enumerate(row):
                await self.configure_modulus(index, lane, modulus)
        await self._configured()

    async def configure_modulus(self, index: int, lane: int, modulus: int) -> None:
        """Write one modulus and its helpers."""
        build, bits = self.build, modulus.bit_length()
        aux = modulus >> build.mont if build.kind else (1 << bits + build.width + 2) // modulus
        third = -build.radix(modulus) % modulus if build.kind else bits
        for sel, data in ((1, aux), (2, third), (0, modulus)):
            await self._configure(sel, lane, index, data)

    async def configure_constant(self, index: int, values: list[int], mod: int) -> None:
        """Write constant `index` of every lane, in the form the multiplier wants."""
        for lane, value in enumerate(values):
            modulus = self.moduli[mod][lane]
            await self._configure(3, lane, index, value * self.build.radix(modulus) % modulus)
        await self._configured()

    async def configure_conversions(self, conversions: list[Conversion]) -> None:
        """Write base conversions, numbered from 0 on, their constants one behind the other."""
        arithmetic, base = Arithmetic(self.build.width, self.build.kind, self.build.mont), 0
        for number, conversion in enumerate(conversions):
            for sel, lane, index, data in conversion.words(arithmetic, number, base, self.build.lanes):
                await self._configure(4 + sel, lane, index, data)
            base += len(conversion.source) + 1
        await self._configured()
        self.conversions = conversions

    async def configure_moves(self, automorphisms: list[int], digits: list[Digit]) -> None:
        """Write automorphisms and digits, numbered from 0 on."""
        for number, element in enumerate(automorphisms):
            await self._configure(13, 0, number, element)
        for number, digit in enumerate(digits):
            for lane, data in enumerate(digit.words(self.build.width)):
                await self._configure(14, lane, number, data)
        await self._configured()
        self.automorphisms, self.digits = automorphisms, digits

    async def _configure(self, sel: int, lane: int, index: int, data: int) -> None:
        await FallingEdge(self.dut.clk_i)
        fields = {"we": 1, "sel": sel, "lane": lane, "idx": index, "data": data}
        self.pins.set({f"constant_i.{name}": value for name, value in fields.items()})

    async def _configured(self) -> None:
        await FallingEdge(self.dut.clk_i)
        self.pins.set({"constant_i.we": 0})

    def failure(self) -> tuple[int, int, int]:
        """Code of the error, index and word of its instruction."""
        code, index, word = (self.pins[f"failure_o.{name}"] for name in ("code", "index", "cmd"))
        return code, index, word

    def tables(self, mod: int, n: int) -> list[list[int]]:
        """Twiddle tables of every lane, plain."""
        return [twiddle_table(m, root(m, n), n) for m in self.moduli[mod]]

    def table_buffer(self, buffer: int, mod: int, n: int) -> None:
        """Put the tables of a modulus index into a buffer in the form the multiplier wants."""
        rows = zip(self.tables(mod, n), self.moduli[mod], strict=True)
        self.buffers[buffer] = [[x * self.build.radix(m) % m for x in row] for row, m in rows]

    async def push(self, *program: Insn, raw: int | None = None) -> None:
        """Push instructions as fast as the queue takes them."""
        dut = self.dut
        for word in [raw] if raw is not None else [insn.word() for insn in program]:
            await FallingEdge(dut.clk_i)
            dut.cmd_valid_i.value = 0
            while not int(dut.cmd_ready_o.value):
                await FallingEdge(dut.clk_i)
            dut.cmd_i.value, dut.cmd_valid_i.value = word, 1
        await FallingEdge(dut.clk_i)
        dut.cmd_valid_i.value = 0

    async def run(self, *program: Insn, timeout: int = 4_000_000) -> None:
        """Push a program and a SYNC, wait for it; a core that stops with an error fails at once."""
        waiter = cocotb.start_soon(self._end())
        await self.push(*program, Insn("SYNC"))
        await with_timeout(waiter, timeout, "step")

    async def _end(self) -> None:
        dut = self.dut
        await First(RisingEdge(dut.sync_o), RisingEdge(dut.error_o))
        # The second is behind the rising edge at which assertions look at the SYNC.
        await FallingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        code, index, word = self.failure()
        assert not int(dut.error_o.value), f"error {code} at instruction {index}: {word:#018x}"

    async def trace(self) -> None:
        """Record events (start with `cocotb.start_soon`): (kind, unit, index, cycle)."""
        dut, pins = self.dut, self.pins
        while True:
            await FallingEdge(dut.clk_i)
            for kind, bits in (("start", "start"), ("end", "ends")):
                at = [unit for unit, name in enumerate(UNITS) if pins[f"events_o.{bits}.{name}"]]
                indices = pins[f"events_o.{kind}_idx"] if at else 0
                for unit in at:
                    stamp = pins["counters_o.cycles"]
                    self.events.append((kind, unit, indices >> (32 * unit) & 0xFFFF_FFFF, stamp))

    def cycles_of(self, index: int) -> int:
        """Cycles from the start to the end of an instruction."""
        times = {kind: stamp for kind, _, i, stamp in self.events if i == index}
        return times["end"] - times["start"]
