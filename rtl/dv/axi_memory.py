# SPDX-License-Identifier: Apache-2.0
"""Host memory behind an AXI4 master: cocotbext-axi's slave model, made difficult.

Every channel pauses at random; a slave may want the data of a burst before its address; places may answer SLVERR.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cocotb.types import LogicArray
from cocotbext.axi import AxiBus, AxiResp, AxiSlave


class Tied:
    """A pin that the module does not have: the one ID of its transactions."""

    value = LogicArray("0")

    def __len__(self) -> int:
        """One bit wide."""
        return 1

    def setimmediatevalue(self, _value: int) -> None:
        """Nothing is driven."""


class Pins:
    """The pins of a port under the names that the bus models expect, without the direction's suffix."""

    def __init__(self, dut: Any, prefix: str) -> None:
        """Find `prefix_*_i` and `prefix_*_o`; the IDs are tied."""
        self._name, self._log = dut._name, dut._log
        for handle in dut:
            name = handle._name
            if name.startswith(prefix) and name[-2:] in ("_i", "_o"):
                setattr(self, name[:-2], handle)
        for channel in ("aw", "b", "ar", "r"):
            setattr(self, f"{prefix}_{channel}id", Tied())


#: Inputs of an AXI manager from its subordinate, at rest: pins start at random.
SLAVE_AT_REST = {
    f"m_axi_{name}_i": 0
    for name in ("arready", "rvalid", "rdata", "rresp", "rlast", "awready", "wready", "bvalid", "bresp")
}


class AxiMemory:
    """`size` bytes from `base`; reads and writes of places in `bad`, and beyond the end, are answered with `error`."""

    def __init__(self, dut: Any, pins: Any, base: int, size: int, seed: int, *, slowness: float = 0.4) -> None:
        """Attach the slave to `m_axi`; about `slowness` of each channel's cycles are pauses, in stretches."""
        self.dut, self.pins, self.base = dut, pins, base
        self.data, self.bad, self.random = bytearray(size), range(0), random.Random(seed)
        self.stalled, self.error = False, AxiResp.SLVERR
        bus = AxiBus.from_prefix(pins, "m_axi")
        self.slave = AxiSlave(bus, dut.clk_i, dut.rst_ni, target=self, reset_active_level=False)
        reads, writes = self.slave.read_if, self.slave.write_if
        self.address = writes.aw_channel
        writes.w_channel.queue_occupancy_limit = -1
        for channel, response in ((reads.r_channel, "rresp"), (writes.b_channel, "bresp")):
            channel.send = self._with_error(channel.send, response)
        for channel in (reads.ar_channel, reads.r_channel, writes.aw_channel, writes.w_channel, writes.b_channel):
            channel.set_pause_generator(self._pauses(slowness))

    def data_first(self) -> None:
        """From now on take the address of a burst only after its last beat, as the standard allows."""
        self.address.clear_pause_generator()
        cocotb.start_soon(self._data_first())

    async def read(self, address: int, length: int) -> bytes:
        """Serve a beat of a read burst."""
        at = self._place(address, length)
        return bytes(self.data[at : at + length])

    async def write(self, address: int, data: bytes) -> None:
        """Serve the enabled bytes of a beat of a write burst."""
        at = self._place(address, len(data))
        self.data[at : at + len(data)] = data

    def _place(self, address: int, length: int) -> int:
        at = address - self.base
        if not 0 <= at <= len(self.data) - length or any(place in self.bad for place in range(at, at + length)):
            raise IndexError(f"no memory at {address:#x}")
        return at

    def _with_error(self, send: Callable[[Any], Awaitable[None]], response: str) -> Callable[[Any], Awaitable[None]]:
        """The slave's way to answer, with `error` for the one error that it knows."""

        async def answer(item: Any) -> None:
            if getattr(item, response) == AxiResp.SLVERR:
                setattr(item, response, self.error)
            await send(item)

        return answer

    def _pauses(self, slowness: float):
        while True:
            for pause, likely in ((False, 1 - slowness), (True, slowness)):
                for _ in range(1 + int(self.random.expovariate(1) * 6 * likely)):
                    yield pause or self.stalled

    async def _data_first(self) -> None:
        pins, ahead = self.pins, 0
        while True:
            # One address for each burst whose data came: the pause must be seen before the next edge.
            self.address.pause = ahead <= 0
            await RisingEdge(self.dut.clk_i)
            ahead += all(int(pin.value) for pin in (pins.m_axi_wvalid, pins.m_axi_wready, pins.m_axi_wlast))
            ahead -= all(int(pin.value) for pin in (pins.m_axi_awvalid, pins.m_axi_awready))
