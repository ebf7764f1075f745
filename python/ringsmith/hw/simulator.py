# SPDX-License-Identifier: Apache-2.0
"""A simulated device of any top by its registers and its stream (harness/abi.h), for drivers written in Python.

Programs of the co-processor go through the engine's driver instead (`_native.Device`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from ringsmith.errors import DeviceError

_ADDRESS, _WORD = ctypes.c_uint64, ctypes.c_uint32


class Simulator:
    """An open simulation; what it refuses is a DeviceError in its own words. Not for several threads at once."""

    def __init__(self, library: Path) -> None:
        """Open a library of `build_device`."""
        self._library = ctypes.CDLL(str(library))
        for name, kind in (
            ("open", ctypes.c_void_p), ("open_error", ctypes.c_char_p), ("error", ctypes.c_char_p),
            ("cycles", ctypes.c_uint64), ("close", None),
        ):  # fmt: skip
            getattr(self._library, f"rs_{name}").restype = kind
        self._device = ctypes.c_void_p(self._library.rs_open(b""))
        if not self._device:
            raise DeviceError(self._library.rs_open_error().decode())

    def __del__(self) -> None:
        """Free the simulation."""
        if getattr(self, "_device", None):
            self._library.rs_close(self._device)

    def read(self, address: int) -> int:
        """Read a register."""
        value = _WORD()
        self._accept(self._library.rs_reg_read(self._device, _WORD(address), ctypes.byref(value)))
        return value.value

    def write(self, address: int, value: int) -> None:
        """Write a register."""
        self._accept(self._library.rs_reg_write(self._device, _WORD(address), _WORD(value)))

    def step(self, cycles: int) -> None:
        """Clock a number of cycles."""
        self._accept(self._library.rs_step(self._device, ctypes.c_uint64(cycles)))

    def cycles(self) -> int:
        """Clock cycles simulated since open."""
        return int(self._library.rs_cycles(self._device))

    def stream(self, words: Sequence[int], beats: int, user: int) -> list[int]:
        """Send 32-bit words, `beats` beats of them, through AXI4-Stream; the words that come back, as many."""
        buffer = (_WORD * len(words))(*words)
        size = ctypes.c_uint64(ctypes.sizeof(buffer))
        self._accept(self._library.rs_mem_write(self._device, _ADDRESS(0), buffer, size))
        sink = _ADDRESS(size.value)
        self._accept(self._library.rs_stream(self._device, _ADDRESS(0), sink, ctypes.c_uint64(beats), _WORD(user)))
        self._accept(self._library.rs_mem_read(self._device, sink, buffer, size))
        return list(buffer)

    def _accept(self, status: int) -> None:
        """Raise what the library says of a negative status; -2 is a device that failed before."""
        if status < 0:
            raise DeviceError(self._library.rs_error(self._device).decode())
