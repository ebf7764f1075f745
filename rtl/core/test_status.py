# SPDX-License-Identifier: Apache-2.0
"""rs_status against counters in Python: events, work and waiting, the first error, cycle by cycle."""

from __future__ import annotations

import random
from collections import Counter, deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.parameters import parameter
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
RNS, POINTWISE = parameter("EnRns", 0), parameter("EnPointwise", 0)
DMA, OVERFLOW = 7, 8
COUNTERS = (
    "index", "retired", "cycles", "busy_compute", "busy_mem", "busy_rns", "busy_pointwise", "stall_hazard",
    "stall_unit",
)  # fmt: skip
ERROR = ("error_o", "failure_o.code", "failure_o.index", "failure_o.cmd")
IDLE = dict.fromkeys(("idle_i.compute", "idle_i.memory", "idle_i.rns", "idle_i.pointwise"), 1)


class Model:
    """The expected counters, and the instructions in flight."""

    def __init__(self) -> None:
        self.flight: deque[tuple[int, int]] = deque()
        self.memory: tuple[int, int] | None = None
        self.conversion: int | None = None
        self.pointwise: int | None = None
        self.clear()

    def clear(self) -> None:
        self.count, self.error = Counter(dict.fromkeys(COUNTERS, 0)), (0, 0, 0, 0)

    def advance(self, pins: dict[str, int]) -> None:
        """A clock edge with these inputs."""
        started = (self.count["index"], pins["head_word_i"])
        failed = pins["memory_error_i"] and self.memory
        if pins["clear_i"]:
            self.clear()
        else:
            self._count(pins)
            if not self.error[0] and (failed or pins["refused_i"] or pins["overflow_i"]):
                code = DMA if failed else pins["refused_code_i"] if pins["refused_i"] else OVERFLOW
                assert self.memory or not failed
                self.error = (1, code, *(self.memory if failed and self.memory else started))
        if pins["end_i.compute"]:
            self.flight.popleft()
        if pins["start_i.compute"]:
            self.flight.append(started)
        if pins["end_i.memory"]:
            self.memory = None
        if pins["start_i.memory"]:
            self.memory = started
        if pins["end_i.rns"]:
            self.conversion = None
        if pins["start_i.rns"]:
            self.conversion = started[0]
        if pins["end_i.pointwise"]:
            self.pointwise = None
        if pins["start_i.pointwise"]:
            self.pointwise = started[0]

    def _count(self, pins: dict[str, int]) -> None:
        waits = pins["head_valid_i"] and not pins["take_i"] and not pins["refused_i"] and not self.error[0]
        self.count["index"] += pins["take_i"]
        ended = pins["end_i.memory"] and not pins["memory_error_i"]
        others = pins["end_i.rns"] + pins["end_i.pointwise"] + pins["sync_i"]
        self.count["retired"] += pins["end_i.compute"] + bool(ended) + others
        self.count["cycles"] += 1
        self.count["busy_compute"] += 1 - pins["idle_i.compute"]
        self.count["busy_mem"] += 1 - pins["idle_i.memory"]
        self.count["busy_rns"] += 1 - pins["idle_i.rns"]
        self.count["busy_pointwise"] += 1 - pins["idle_i.pointwise"]
        self.count["stall_hazard"] += bool(waits and pins["unit_free_i"])
        self.count["stall_unit"] += bool(waits and not pins["unit_free_i"])


def draw(model: Model, source: random.Random, fault: float) -> dict[str, int]:
    """Inputs that the core could give: units that end what they took, one memory instruction, seven computing."""
    starts = ("start_i.compute", "start_i.memory", "start_i.rns", "start_i.pointwise")
    pins = dict.fromkeys((*starts, "sync_i", "refused_i", "take_i"), 0)
    pins |= {"head_valid_i": int(source.random() < 0.8), "head_word_i": source.getrandbits(64)}
    pins |= {"unit_free_i": source.getrandbits(1), "refused_code_i": source.randrange(1, 7)}
    pins["end_i.compute"] = int(bool(model.flight) and source.random() < 0.3)
    pins["end_i.memory"] = int(model.memory is not None and source.random() < 0.2)
    pins["memory_error_i"] = int(pins["end_i.memory"] and source.random() < fault)
    pins["end_i.rns"] = int(model.conversion is not None and source.random() < 0.1)
    pins["idle_i.rns"] = int(model.conversion is None)
    pins["end_i.pointwise"] = int(model.pointwise is not None and source.random() < 0.2)
    pins["idle_i.pointwise"] = int(model.pointwise is None)
    pins |= {"idle_i.compute": int(not model.flight), "idle_i.memory": int(model.memory is None)}
    pins["overflow_i"] = int(source.random() < fault)
    pins["clear_i"] = int(source.random() < (0.2 if model.error[0] else 0.002))
    if pins["head_valid_i"] and not model.error[0]:
        if source.random() < fault:
            pins["refused_i"] = 1
        elif source.random() < 0.6:
            idle = not model.flight and model.memory is model.conversion is model.pointwise is None
            kinds = [
                *(["start_i.compute"] if len(model.flight) < 7 else []),
                *(["start_i.memory"] if model.memory is None else []),
                *(["start_i.rns"] if RNS and model.conversion is None else []),
                *(["start_i.pointwise"] if POINTWISE and model.pointwise is None else []),
                *(["sync_i"] if idle else []),
            ]
            if kinds:
                pins[source.choice(kinds)] = pins["take_i"] = 1
    return pins


def check_events(seen: Pins, model: Model, pins: dict[str, int]) -> None:
    """Starts and ends of this cycle, with the indices and words of their instructions."""
    index, word = model.count["index"], pins["head_word_i"]
    for unit in ("compute", "memory", "rns", "pointwise"):
        assert seen[f"events_o.start.{unit}"] == pins[f"start_i.{unit}"], unit
        assert seen[f"events_o.ends.{unit}"] == pins[f"end_i.{unit}"], unit
    if pins["take_i"]:
        assert seen["events_o.start_idx"] == sum(index << 32 * unit for unit in range(4))
        assert seen["events_o.start_cmd"] == sum(word << 64 * unit for unit in range(4))
    ends = seen["events_o.end_idx"]
    if pins["end_i.compute"]:
        assert ends & 0xFFFFFFFF == model.flight[0][0]
    if pins["end_i.memory"]:
        assert model.memory is not None
        assert ends >> 32 & 0xFFFFFFFF == model.memory[0]
    if pins["end_i.rns"]:
        assert ends >> 64 & 0xFFFFFFFF == model.conversion
    if pins["end_i.pointwise"]:
        assert ends >> 96 == model.pointwise


@cocotb.test()
async def check_counters(dut):
    model, source = Model(), random.Random(6)
    seen = Pins(dut)
    seen.set(dict.fromkeys(draw(model, random.Random(0), 0.0), 0) | IDLE)
    dut.rst_ni.value = 0
    await start_clock(dut.clk_i, 4)
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    codes: Counter[int] = Counter()
    highest: Counter[str] = Counter()
    pins = dict.fromkeys(draw(model, random.Random(0), 0.0), 0) | IDLE
    for cycle in range(8000):
        await FallingEdge(dut.clk_i)
        model.advance(pins)
        assert {n: seen["index_o" if n == "index" else f"counters_o.{n}"] for n in COUNTERS} == dict(model.count), cycle
        assert tuple(seen[pin] for pin in ERROR) == model.error, cycle
        codes[model.error[1]] += 1
        highest |= model.count
        # Long runs without a fault, then phases full of them, several in one cycle too.
        pins = draw(model, source, 0.2 if cycle // 1000 % 2 else 0.0005)
        seen.set(pins)
        await Timer(1, unit="step")
        check_events(seen, model, pins)
    assert {1, 2, 3, 4, 5, 6, DMA, OVERFLOW} <= codes.keys()
    absent = {name for name, there in (("busy_rns", RNS), ("busy_pointwise", POINTWISE)) if not there}
    assert all(highest[name] > 10 for name in COUNTERS if name not in absent), highest


@pytest.mark.parametrize(("rns", "pointwise"), [(0, 0), (1, 0), (1, 1)])
def test_status(rns, pointwise):
    run_checks("rs_status", {"EnRns": rns, "EnPointwise": pointwise})
