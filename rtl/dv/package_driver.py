# SPDX-License-Identifier: Apache-2.0
"""A driver written from the documents of a generated package alone, as a stranger would write it.

It reads `include/registers.h` for addresses and fields and `docs/isa.yaml` for the command word; what it does follows
`docs/driver.md`, `docs/registers.md` and `docs/isa.md`. Nothing of ringsmith is imported: a fact that it lacks is one
that the documents lack.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

Read = Callable[[int], Awaitable[int]]
Write = Callable[[int, int], Awaitable[None]]


@dataclass(frozen=True)
class Failure:
    """Why the core stopped, and at which command."""

    cause: int
    index: int
    command: int


class Documents:
    """Names of registers and fields, and the layout of a command, from a package's folder."""

    def __init__(self, package: Path) -> None:
        """Read the header and the instruction set."""
        header = (package / "include" / "registers.h").read_text()
        self.macros = {name: int(value, 0) for name, value in re.findall(r"#define RS_(\w+) (\w+?)u?\b", header)}
        isa = yaml.safe_load((package / "docs" / "isa.yaml").read_text())
        self.fields = isa["fields"]
        self.opcodes = {entry["mnemonic"]: entry["opcode"] for entry in isa["instructions"]}
        self.slot_fields = [field["name"] for field in self.fields if field["kind"] == "operand"]
        self.zero, self.twiddles = isa["zero_slot"], isa["twiddle_slot"]

    def field(self, register: str, name: str, value: int) -> int:
        """A field of a register's value."""
        return value >> self.macros[f"{register}_{name}_SHIFT"] & self.macros[f"{register}_{name}_MASK"]

    def command(self, mnemonic: str, **given: int) -> int:
        """The 64-bit word of a command: slots that it does not use are 63, other fields 0."""
        values = dict.fromkeys(self.slot_fields, 63) | {"opcode": self.opcodes[mnemonic]} | given
        word = low = 0
        for field in self.fields:
            word |= values.get(field["name"], 0) << low
            low += field["bits"]
        return word


class PackageDriver:
    """The co-processor behind `read` and `write` of 32-bit registers; host memory is the caller's."""

    def __init__(self, documents: Documents, read: Read, write: Write) -> None:
        """Hold the way to the registers."""
        self.documents, self.read, self.write = documents, read, write

    async def get(self, register: str, index: int = 0) -> int:
        """Read a register by its name in the header."""
        return await self.read(self.documents.macros[register] + 4 * index)

    async def set(self, register: str, value: int, index: int = 0) -> None:
        """Write a register by its name in the header."""
        await self.write(self.documents.macros[register] + 4 * index, value)

    async def bit(self, register: str, name: str) -> bool:
        """Read a field of one bit."""
        return bool(self.documents.field(register, name, await self.get(register)))

    async def act(self, action: str) -> None:
        """Write an action's bit of CONTROL."""
        await self.set("CONTROL", 1 << self.documents.macros[f"CONTROL_{action}_SHIFT"])

    async def identify(self) -> None:
        """Start, step 1: this is a co-processor whose map is known; learn its shape."""
        assert await self.get("MAGIC") == 0x52534350
        field = self.documents.field
        assert field("VERSION", "MAJOR", await self.get("VERSION")) == 1
        shape, capacity = await self.get("SHAPE"), await self.get("CAPACITY")
        assert field("SHAPE", "REDUCTION", shape) == 0  # this driver knows Barrett, lane after lane
        assert field("SHAPE", "WIDE_PORT", shape) == 0
        self.word_bits, self.lanes = field("SHAPE", "WORD_BITS", shape), field("SHAPE", "LANES", shape)
        self.n_max = 1 << field("SHAPE", "LOG2_N_MAX", shape)
        self.word_bytes = field("CAPACITY", "WORD_BYTES", capacity)
        self.lane_bytes = self.n_max * self.word_bytes
        self.features = await self.get("FEATURES") | await self.get("FEATURES", 1) << 32
        self.queue = field("PORTS", "FIFO_DEPTH", await self.get("PORTS"))

    async def table(self, kind: int, lane: int, index: int, value: int) -> None:
        """Start, step 2: one entry of a lane's tables."""
        for word in range(-(-(self.word_bits + 3) // 32)):
            await self.set("TABLE_DATA", value >> 32 * word & 0xFFFFFFFF, word)
        macros = self.documents.macros
        parts = {"KIND": kind, "LANE": lane, "INDEX": index}
        address = sum(value << macros[f"TABLE_ADDRESS_{name}_SHIFT"] for name, value in parts.items())
        await self.set("TABLE_ADDRESS", address)
        await self.act("TABLE_WRITE")

    async def configure(self, moduli: Sequence[int], constants: Sequence[int], base: int) -> None:
        """Start, steps 2 and 3: modulus 0 and constant 0 of every lane, the address of host buffer 0."""
        while not await self.bit("STATUS", "IDLE"):
            pass
        for lane, (modulus, constant) in enumerate(zip(moduli, constants, strict=True)):
            bits = modulus.bit_length()
            await self.table(1, lane, 0, (1 << bits + self.word_bits + 2) // modulus)
            await self.table(2, lane, 0, bits)
            await self.table(3, lane, 0, constant)
            await self.table(0, lane, 0, modulus)
        await self.set("DMA_BASE_LO", base & 0xFFFFFFFF)
        await self.set("DMA_BASE_HI", base >> 32)

    async def push(self, *commands: int) -> None:
        """Work: push commands, as many as the queue has places for."""
        for command in commands:
            while not self.documents.field("STATUS", "FREE", await self.get("STATUS")):
                pass
            await self.set("COMMAND_LO", command & 0xFFFFFFFF)
            await self.set("COMMAND_HI", command >> 32)

    async def finish(self) -> Failure | None:
        """Work: wait until the core is idle, or idle after it has failed; the failure."""
        failed = False
        for _ in range(5000):
            status = await self.get("STATUS")
            failed = bool(self.documents.field("STATUS", "FAILED", status))
            if self.documents.field("STATUS", "IDLE", status):
                break
        else:
            raise AssertionError("the core does not become idle")
        if not failed:
            return None
        command = await self.get("ERROR_COMMAND") | await self.get("ERROR_COMMAND", 1) << 32
        cause = self.documents.field("ERROR", "CAUSE", await self.get("ERROR"))
        return Failure(cause, await self.get("ERROR_INDEX"), command)

    def twiddle_table(self, modulus: int, n: int) -> list[int]:
        """Entry j is psi^brv(j), psi a primitive 2n-th root of unity: psi^n = -1."""
        powers = (pow(g, (modulus - 1) // (2 * n), modulus) for g in range(2, modulus))
        psi = next(p for p in powers if pow(p, n, modulus) == modulus - 1)
        bits = n.bit_length() - 1
        return [pow(psi, int(f"{j:0{bits}b}"[::-1], 2), modulus) for j in range(n)]

    def place(self, buffer: int, lane: int) -> int:
        """Where a lane of a host buffer starts, in bytes from buffer 0."""
        return buffer * self.lanes * self.lane_bytes + lane * self.lane_bytes

    def lay(self, memory: bytearray, buffer: int, rows: Sequence[Sequence[int]]) -> None:
        """Write a polynomial of each lane to a host buffer."""
        for lane, row in enumerate(rows):
            data = b"".join(value.to_bytes(self.word_bytes, "little") for value in row)
            memory[self.place(buffer, lane) : self.place(buffer, lane) + len(data)] = data
