# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of both tops: a register driver, host memory by buffer, a program with its answer."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod

from dv.instructions import TABLE, Insn
from dv.oracle import forward, root, twiddle_table
from dv.parameters import parameter
from dv.primes import prime_below
from ringsmith.hw import registers

MAP = {r.name: r for r in registers.load().registers}
CLEAR, SNAPSHOT, TABLE_WRITE, RESET = 1, 2, 4, 8
FAILED, TRANSFER = 2, 4

Rows = list[list[int]]


def address(name: str, index: int = 0) -> int:
    """Byte address of a register."""
    return MAP[name].address + 4 * index


class Host(ABC):
    """The co-processor as its host sees it; subclasses say how bytes get to the registers."""

    def __init__(self, dut) -> None:
        """Hold the simulator's handle and the shape of the build."""
        self.dut = dut
        self.width, self.lanes, self.log2n = parameter("W"), parameter("Lanes"), parameter("NMaxLog2")
        self.p, self.wide = parameter("P"), parameter("WidePort")
        least = -(-self.width // 8)
        self.size = least if self.wide else 1 << (least - 1).bit_length()
        step = 2 << self.log2n
        self.moduli = [prime_below(self.width - lane, step) for lane in range(self.lanes)]

    @abstractmethod
    async def read(self, where: int) -> int:
        """Read the register at an address."""

    @abstractmethod
    async def write(self, where: int, value: int) -> None:
        """Write the register at an address."""

    @abstractmethod
    async def serve(self) -> None:
        """Do what the host has to do while the core works; called until it is idle."""

    async def get(self, name: str, index: int = 0) -> int:
        """Read a register by name."""
        return await self.read(address(name, index))

    async def set(self, name: str, value: int, index: int = 0) -> None:
        """Write a register by name."""
        await self.write(address(name, index), value)

    async def table(self, kind: int, lane: int, index: int, value: int) -> None:
        """Write an entry of a lane's tables."""
        for word in range(-(-(self.width + 3) // 32)):
            await self.set("table_data", value >> 32 * word & 0xFFFFFFFF, word)
        await self.set("table_address", kind << 12 | lane << 8 | index)
        await self.set("control", TABLE_WRITE)

    async def configure(self) -> None:
        """Write modulus 0 of every lane with its helpers."""
        for lane, modulus in enumerate(self.moduli):
            bits = modulus.bit_length()
            for kind, value in ((1, (1 << bits + self.width + 2) // modulus), (2, bits), (0, modulus)):
                await self.table(kind, lane, 0, value)

    async def push(self, *program: Insn) -> None:
        """Push instructions."""
        for insn in program:
            await self.set("command_lo", insn.word() & 0xFFFFFFFF)
            await self.set("command_hi", insn.word() >> 32)

    async def wait(self) -> int:
        """Serve the core until it is idle or has failed; the status."""
        for _ in range(2000):
            status = await self.get("status")
            if status & 1 or status & FAILED:
                return status
            await self.serve()
        raise AssertionError("the core does not become idle")

    def start_of(self, buffer: int) -> int:
        """Byte address of a buffer, from the start of the buffers."""
        return buffer * (self.row_bytes << self.log2n) // self.p

    @property
    def row_bytes(self) -> int:
        """Bytes of a word of every lane, in whole beats with a wide port."""
        row = self.lanes * self.p * self.size
        beat = min(128, 1 << (row - 1).bit_length()) if self.wide else 1
        return -(-row // beat) * beat

    def lay(self, memory: bytearray, buffers: dict[int, Rows]) -> None:
        """Write polynomials to where they lie in host memory; padding becomes 0."""
        for buffer, rows in buffers.items():
            data = b"".join(self.bytes_of(row) for row in rows)
            if self.wide:
                starts = range(0, len(rows[0]), self.p)
                words = [b"".join(self.bytes_of(row[i : i + self.p]) for row in rows) for i in starts]
                data = b"".join(word.ljust(self.row_bytes, b"\0") for word in words)
            memory[self.start_of(buffer) : self.start_of(buffer) + len(data)] = data

    def bytes_of(self, row: list[int]) -> bytes:
        """A polynomial as it lies in host memory."""
        return b"".join(x.to_bytes(self.size, "little") for x in row)

    def row_of(self, data: bytes) -> list[int]:
        """A polynomial from its bytes."""
        return [int.from_bytes(data[i : i + self.size], "little") for i in range(0, len(data), self.size)]


async def check_info(host: Host, *, serial: bool) -> None:
    """The info block names the build."""
    assert await host.get("magic") == 0x52534350
    shape, capacity = await host.get("shape"), await host.get("capacity")
    assert (shape & 255, shape >> 8 & 63) == (host.width, parameter("P"))
    assert (shape >> 16 & 15, shape >> 20 & 15) == (host.lanes, host.log2n)
    assert (shape >> 26 & 1, shape >> 27 & 1) == (host.wide, serial)
    assert (capacity & 255, capacity >> 24) == (parameter("Slots"), host.size)
    build = [await host.get("build", i) for i in range(4)]
    assert sum(word << 32 * i for i, word in enumerate(build)) == 0x0123456789ABCDEF0123456789ABCDEF


def program(host: Host, seed: int) -> tuple[list[Insn], dict[int, Rows], dict[int, Rows]]:
    """A transform, a product and a copy of two polynomials: instructions, buffers they load, buffers they leave."""
    n, draw = 1 << host.log2n, random.Random(seed)
    roots = [root(m, n) for m in host.moduli]
    tables = [twiddle_table(m, psi, n) for psi, m in zip(roots, host.moduli, strict=True)]
    a, b = ([[draw.randrange(m) for _ in range(n)] for m in host.moduli] for _ in range(2))
    values = [forward(row, psi, m) for row, psi, m in zip(a, roots, host.moduli, strict=True)]
    products = [
        [x * y % m for x, y in zip(*rows, strict=True)] for m, *rows in zip(host.moduli, values, b, strict=True)
    ]
    common = {"log2n": host.log2n}
    insns = [
        Insn("LOAD", TABLE, buf=0, **common),
        Insn("LOAD", 2, buf=1, **common),
        Insn("NTT", 2, 2, **common),
        Insn("LOAD", 3, buf=2, **common),
        Insn("PMODMUL", 3, 2, 3, **common),
        Insn("STORE", a=2, buf=3, **common),
        Insn("STORE", a=3, buf=4, **common),
        Insn("SYNC"),
    ]
    return insns, {0: tables, 1: a, 2: b}, {3: values, 4: products}


async def check_counters(host: Host, retired: int, words: int) -> None:
    """The counters tell the work done: instructions, and words of P coefficients in both directions."""
    await host.set("control", SNAPSHOT)
    assert await host.get("retired") == retired
    assert await host.get("words_read") == 3 * words
    assert await host.get("words_written") == 2 * words
    assert await host.get("busy_compute") >= words
