# SPDX-License-Identifier: Apache-2.0
"""A watcher of the rules of AXI4 on the pins of a port (ARM IHI 0022), which knows neither side of it.

Once a cycle, in both directions: VALID low in reset, VALID and its payload stable until READY; of bursts their
boundaries of 4 KiB, sizes, kinds and alignment, WLAST and RLAST, no data or answer that no address asked for.
With four states, nothing that a VALID stands for is undefined.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

CHANNELS = {
    "aw": ("addr", "len", "size", "burst"),
    "w": ("data", "strb", "last"),
    "b": ("resp",),
    "ar": ("addr", "len", "size", "burst"),
    "r": ("data", "resp", "last"),
}
INCR, PAGE = 1, 4096


class Channel:
    """The pins of one channel and what it offered in the cycle before."""

    def __init__(self, pins: Any, prefix: str, name: str) -> None:
        """Find the pins; a payload that the port lacks is left out (AXI4-Lite)."""
        self.name = f"{prefix}_{name}"
        self.valid, self.ready = getattr(pins, f"{self.name}valid"), getattr(pins, f"{self.name}ready")
        self.payload = {
            part: getattr(pins, f"{self.name}{part}") for part in CHANNELS[name] if hasattr(pins, f"{self.name}{part}")
        }
        self.waiting: dict[str, Any] | None = None

    def reset(self) -> None:
        """A cycle with the reset low, in which nothing may be offered."""
        self.waiting = None
        assert str(self.valid.value) == "0", f"{self.name}valid is {self.valid.value} in reset"

    def cycle(self) -> dict[str, int] | None:
        """Check a cycle; the payload if it was taken."""
        valid = str(self.valid.value)
        if valid == "0":
            assert self.waiting is None, f"{self.name}valid fell before it was taken"
            return None
        ready = str(self.ready.value)
        assert (valid, ready) in (("1", "0"), ("1", "1")), f"{self.name}: valid {valid}, ready {ready}"
        offered = {part: str(pin.value) for part, pin in self.payload.items()}
        undefined = {part: value for part, value in offered.items() if set(value) - {"0", "1"}}
        assert not undefined, f"{self.name}: undefined while valid: {undefined}"
        assert self.waiting in (None, offered), f"{self.name}: {self.waiting} became {offered} before it was taken"
        self.waiting = None if ready == "1" else offered
        return None if self.waiting else {part: int(value, 2) for part, value in offered.items()}


class AxiRules:
    """Watches a port from now on; a broken rule fails the test. `transfers` counts handshakes by channel."""

    def __init__(self, dut: Any, pins: Any, prefix: str) -> None:
        """Watch the pins `prefix_*`; `whole` asks that each beat is written with all its bytes."""
        self.dut, self.whole, self.paused = dut, True, 0
        self.channels = {name: Channel(pins, prefix, name) for name in CHANNELS}
        self.transfers = dict.fromkeys(CHANNELS, 0)
        self.bursts = "len" in self.channels["aw"].payload
        self._reset()
        cocotb.start_soon(self._watch())

    def outstanding(self) -> int:
        """Bursts that have begun and not ended."""
        return len(self.reads) + len(self.unanswered) + len(self.writes) + bool(self.beats)

    def _reset(self) -> None:
        self.reads: deque[int] = deque()
        self.writes: deque[int] = deque()  # beats of bursts whose data is not complete
        self.unanswered: deque[None] = deque()  # bursts whose data is complete
        self.beats, self.last_at = 0, deque[int]()

    async def _watch(self) -> None:
        edge = RisingEdge(self.dut.clk_i)
        while True:
            await edge
            if str(self.dut.rst_ni.value) != "1":
                self._reset()
                for channel in self.channels.values():
                    channel.reset()
                continue
            taken = {name: channel.cycle() for name, channel in self.channels.items()}
            self.paused += any(channel.waiting is not None for channel in self.channels.values())
            for name, payload in taken.items():
                if payload is not None:
                    self.transfers[name] += 1
                    if self.bursts:
                        getattr(self, f"_{name}")(payload)

    def _address(self, payload: dict[str, int]) -> int:
        """Check a burst's address; its beats."""
        beat = len(self.channels["w"].payload["strb"])
        beats, address = payload["len"] + 1, payload["addr"]
        assert (1 << payload["size"], payload["burst"]) == (beat, INCR), f"no INCR burst of whole beats: {payload}"
        assert address % beat == 0, f"{address:#x} is not aligned"
        assert address // PAGE == (address + beats * beat - 1) // PAGE, f"{beats} beats at {address:#x} leave a page"
        return beats

    def _ar(self, payload: dict[str, int]) -> None:
        self.reads.append(self._address(payload))

    def _r(self, payload: dict[str, int]) -> None:
        assert self.reads, "a read beat that nothing asked for"
        self.reads[0] -= 1
        assert payload["last"] == (self.reads[0] == 0), "RLAST is not at a burst's end"
        if not self.reads[0]:
            self.reads.popleft()

    def _aw(self, payload: dict[str, int]) -> None:
        self.writes.append(self._address(payload))
        self._matched()

    def _w(self, payload: dict[str, int]) -> None:
        if self.whole:
            full = (1 << len(self.channels["w"].payload["strb"])) - 1
            assert payload["strb"] == full, f"strobes {payload['strb']:#x} of a beat"
        self.beats += 1
        if payload["last"]:
            self.last_at.append(self.beats)
            self.beats = 0
        self._matched()

    def _matched(self) -> None:
        """Data may come before or after its address: compare where both are there."""
        while self.writes and self.last_at:
            wanted, found = self.writes.popleft(), self.last_at.popleft()
            assert wanted == found, f"WLAST after {found} beats of a burst of {wanted}"
            self.unanswered.append(None)
        assert not self.writes or self.beats < self.writes[0], "more beats than the burst has"

    def _b(self, _payload: dict[str, int]) -> None:
        assert self.unanswered, "an answer to no write"
        self.unanswered.popleft()
