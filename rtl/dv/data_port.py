# SPDX-License-Identifier: Apache-2.0
"""The host's side of the core's data port: serves LOAD and STORE from buffers, with pauses and errors on demand."""

from __future__ import annotations

import random
from typing import Any, Protocol

from cocotb.triggers import FallingEdge, RisingEdge

from dv.structs import Pins

#: Inputs of the data port from the host, at rest: pins start at random.
DATA_PORT_AT_REST = {"port_i": 0}


class Shape(Protocol):
    """Of a build: bits of a coefficient, butterflies, lanes, whether the port carries all lanes at a time."""

    width: int
    p: int
    lanes: int
    wide: int


class DataPort:
    """Buffers by number, each a polynomial for every lane."""

    def __init__(self, dut: Any, build: Shape) -> None:
        """Hold the simulator's handle and the shape of the build."""
        self.dut, self.build, self.pins = dut, build, Pins(dut)
        self.buffers: dict[int, list[list[int]]] = {}
        self.jitter = random.Random(0)
        self.stutter = False
        # Faults of the host: an error at a word of the next LOAD, at the end of the next STORE, no answer at all.
        self.load_error: int | None = None
        self.store_error = False
        self.hold = False
        # The build has the stream.
        self.streams = False

    async def serve(self) -> None:
        """Serve requests for ever."""
        dut, pins = self.dut, self.pins
        while True:
            ready = not self.stutter
            pins.set({"port_i.ready": ready})
            while not pins["port_o.transfer.valid"]:
                await dut.port_o.value_change
            await FallingEdge(dut.clk_i)
            while self.stutter and self.jitter.random() < 0.5:
                await FallingEdge(dut.clk_i)
            if not ready:
                pins.set({"port_i.ready": 1})
                await FallingEdge(dut.clk_i)
            store, buffer, log2_n = (pins[f"port_o.transfer.{field}"] for field in ("store", "buf_idx", "log2_n"))
            words = (1 << log2_n) // self.build.p
            while self.hold:
                await FallingEdge(dut.clk_i)
            await (self._take(buffer, words) if store else self._give(buffer, words))

    def _crossing(self, buffer: int, words: int) -> list[list[int]]:
        """The words of a LOAD: words of one lane after another's, or rows of a word of every lane."""
        p = self.build.p
        lanes = [[row[word * p : (word + 1) * p] for word in range(words)] for row in self.buffers[buffer]]
        if self.build.wide:
            return [[x for word in row for x in word] for row in zip(*lanes, strict=True)]
        return [word for lane in lanes for word in lane]

    async def _give(self, buffer: int, words: int) -> None:
        dut, build, pins = self.dut, self.build, self.pins
        for number, chunk in enumerate(self._crossing(buffer, words)):
            while True:
                await FallingEdge(dut.clk_i)
                wait = self.stutter and self.jitter.random() < 0.3
                pins.set({"port_i.ld_valid": not wait})
                if not wait:
                    break
            dut.ld_data_i.value = sum(x << i * build.width for i, x in enumerate(chunk))
            pins.set({"port_i.ld_err": number == self.load_error})
            # Only the stream lets a word wait. What is ready now is so at the next edge.
            while not pins["port_o.ld_ready"]:
                assert self.streams, "a LOAD into a slot waits"
                await FallingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        pins.set({"port_i.ld_valid": 0, "port_i.ld_err": 0})
        self.load_error = None

    async def _take(self, buffer: int, words: int) -> None:
        dut, build, pins = self.dut, self.build, self.pins
        mask = (1 << build.width) - 1
        rows: list[list[int]] = [[] for _ in range(build.lanes)]
        together = build.lanes if build.wide else 1
        for number in range(build.lanes // together * words):
            while True:
                ready = not (self.stutter and self.jitter.random() < 0.4)
                pins.set({"port_i.st_ready": ready})
                await RisingEdge(dut.clk_i)
                # Sampled before the edge changes anything.
                taken, data, last = ready and pins["port_o.st_valid"], pins["st_data_o"], pins["port_o.st_last"]
                await FallingEdge(dut.clk_i)
                if taken:
                    break
            assert last == (number == build.lanes // together * words - 1)
            for beside in range(together):
                at = range(beside * build.p, (beside + 1) * build.p)
                rows[number // words + beside] += [data >> i * build.width & mask for i in at]
        self.buffers[buffer] = rows
        pins.set({"port_i.st_ready": 0, "port_i.st_done": 1, "port_i.st_err": self.store_error})
        await FallingEdge(dut.clk_i)
        pins.set({"port_i.st_done": 0, "port_i.st_err": 0})
        self.store_error = False
