# SPDX-License-Identifier: Apache-2.0
"""The Verilated core behind AXI in this process: registers, memory, clock, interrupt line."""

from __future__ import annotations

import ctypes
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.hw.registers import load

#: What a bus gives where nothing answers.
NOTHING = 0xFFFF_FFFF
#: Bytes of the registers of a core.
REGISTERS = 4096


class Core:
    """A simulated core; each access takes the cycles that it takes on the bus."""

    def __init__(self, library: Path, memory: int) -> None:
        """Open the device of a simulator library (see `build_device`) with `memory` bytes behind its data port."""
        self._library = ctypes.CDLL(str(library))
        self._library.rs_open.restype = ctypes.c_void_p
        for name in ("rs_open_error", "rs_error"):
            getattr(self._library, name).restype = ctypes.c_char_p
        opened = self._library.rs_open(f"memory={memory}".encode())
        if not opened:
            raise ToolError(f"{library}: {self._library.rs_open_error().decode()}")
        self._handle = ctypes.c_void_p(opened)
        registers = load()
        self._status, self._enable, self._events = (
            registers[name].address for name in ("status", "irq_enable", "irq_status")
        )
        self.memory = memory
        self.reset()
        #: How many share the registers and the memory.
        self.cores = self.read(registers["shape"].address) >> 28

    def reset(self) -> None:
        """Reset all of it, as a bitstream that is loaded anew."""
        self._library.rs_reset(self._handle)

    def read(self, address: int) -> int:
        """Read a register; all ones where there is none."""
        value = ctypes.c_uint32()
        failed = self._library.rs_reg_read(self._handle, ctypes.c_uint32(address), ctypes.byref(value))
        return NOTHING if failed else value.value

    def write(self, address: int, value: int) -> None:
        """Write a register."""
        self._library.rs_reg_write(self._handle, ctypes.c_uint32(address), ctypes.c_uint32(value))

    def load(self, address: int, size: int) -> bytes:
        """Read memory. Raises ValueError outside of it."""
        data = ctypes.create_string_buffer(size)
        if self._library.rs_mem_read(self._handle, ctypes.c_uint64(address), data, ctypes.c_uint64(size)):
            raise ValueError(self._library.rs_error(self._handle).decode())
        return data.raw

    def store(self, address: int, data: bytes) -> None:
        """Write memory. Raises ValueError outside of it."""
        size = ctypes.c_uint64(len(data))
        if self._library.rs_mem_write(self._handle, ctypes.c_uint64(address), data, size):
            raise ValueError(self._library.rs_error(self._handle).decode())

    def clock(self, cycles: int) -> None:
        """Let cycles pass. Raises ToolError where an assertion of the RTL fires."""
        if self._library.rs_step(self._handle, ctypes.c_uint64(cycles)) < 0:
            raise ToolError(self._library.rs_error(self._handle).decode())

    @property
    def busy(self) -> bool:
        """Whether a command waits or runs in a core, or something is in flight."""
        return not all(self.read(core * REGISTERS + self._status) & 1 for core in range(self.cores))

    @property
    def interrupt(self) -> bool:
        """The interrupt line of the first core, by the two registers that it is made of."""
        return bool(self.read(self._events) & self.read(self._enable) & 7)
