# SPDX-License-Identifier: Apache-2.0
"""rs_scoreboard against the rules of docs/hardware.md: the answer at every cycle of random traffic on the units."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.parameters import parameter
from dv.structs import DECODED, Pins, mask, pack
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
FLIGHT = 7
KINDS = ("pointwise", "pointwise", "ntt", "intt", "copy", "copy", "load", "table", "store", "sync")
KINDS += ("convert", "convert") * parameter("EnRns", 0)
# A pointwise instruction in a unit of its own.
KINDS += ("multiply", "multiply") * parameter("EnPointwise", 0)


@dataclass(frozen=True)
class Command:
    """The fields of an instruction that the scoreboard sees."""

    kind: str
    log2n: int
    mod: int
    reads: frozenset[int]
    writes: frozenset[int]
    late: frozenset[int] = frozenset()

    @property
    def transform(self) -> bool:
        return self.kind in ("ntt", "intt")

    @property
    def compute(self) -> bool:
        return self.transform or self.kind == "pointwise"

    @property
    def memory(self) -> bool:
        return not self.compute and self.kind not in ("sync", "convert", "multiply")

    @property
    def claims(self) -> frozenset[int]:
        """Slots it writes, scratch included."""
        return self.writes | (frozenset((0, 1)) if self.transform else frozenset())

    def word(self) -> int:
        return pack(
            DECODED,
            {
                "compute": self.compute, "memory": self.memory, "sync": self.kind == "sync",
                "rns": self.kind == "convert", "pointwise": self.kind == "multiply",
                "needs_table": self.transform, "mod_idx": self.mod, "c.log2_n": self.log2n,
                "reads": mask(*self.reads), "late": mask(*self.late), "writes": mask(*self.writes),
                "works": 3 if self.transform else 0, "m.table_dst": self.kind == "table",
            },
        )  # fmt: skip


def draw(source: random.Random, slots: int, *, crowded: bool = False) -> Command:
    """A command on few slots, so that they meet; crowded: only what fills the pipeline."""
    kind = "pointwise" if crowded else source.choice(KINDS)
    log2n, mod = source.choice((5, 8, 8, 11)), 0 if crowded else source.choice((0, 0, 0, 0, 3))
    some = [frozenset(source.sample(range(slots), count)) for count in (1, source.choice((1, 2)))]
    if kind == "sync":
        return Command(kind, 0, 0, frozenset(), frozenset())
    if kind == "intt" and source.random() < 0.6:
        addend = frozenset((source.randrange(2, slots),))
        return Command(kind, log2n, mod, some[0] | addend, some[0], addend)
    if kind in ("load", "table", "store"):
        return Command(
            kind, log2n, mod, some[0] if kind == "store" else frozenset(), some[0] if kind == "load" else frozenset()
        )
    return Command(kind, log2n, mod, some[1], frozenset((source.randrange(slots),)))


@dataclass
class Units:
    """The units: what is in flight, and the timers of the compute unit's issue and of its pipeline."""

    pipe: int
    p: int
    single: int
    flight: list[tuple[Command, int]] = field(default_factory=list)
    issuing: Command | None = None
    step: int = 0
    first: int = 0
    total: int = 0
    sources: frozenset[int] = frozenset()
    memory: Command | None = None
    memory_left: int = 0
    conversion: Command | None = None
    conversion_left: int = 0
    product: Command | None = None
    product_left: int = 0

    @property
    def ready(self) -> bool:
        return self.issuing is None or self.step == self.total

    @property
    def sources_done(self) -> bool:
        return self.issuing is None or self.step > self.first or self.step == self.total

    @property
    def table_busy(self) -> bool:
        return self.issuing is not None and self.issuing.transform

    def free(self, head: Command) -> bool:
        if head.kind == "convert":
            return self.conversion is None
        if head.kind == "multiply":
            return self.product is None
        return self.ready if head.compute else self.memory is None or not head.memory

    def obstacles(self, head: Command) -> set[str]:
        """The rules that hold a command back, by name."""
        if head.kind == "sync":
            return {"sync"} if self.flight or self.memory or self.conversion or self.product else set()
        touched = head.reads | head.claims
        found = {rule for rule, holds in self._rules(head, touched).items() if holds}
        return found

    def _rules(self, head: Command, touched: frozenset[int]) -> dict[str, bool]:
        commands = [command for command, _ in self.flight]
        written: set[int] = set().union(*(c.claims for c in commands))
        late: set[int] = set().union(*(c.late for c in commands))
        held, converted, multiplied = (
            command.reads | command.writes if command else frozenset()
            for command in (self.memory, self.conversion, self.product)
        )
        if not head.compute:
            other = {"held by memory": held, "converted": converted, "multiplied": multiplied}
            own = {"convert": "converted", "multiply": "multiplied"}.get(head.kind, "held by memory")
            del other[own]
            return {
                "busy" if head.memory else f"busy {head.kind}": bool(touched & (written | late)),
                "source": bool(touched & self.sources),
                "table": head.kind == "table" and self.table_busy,
                **{rule: bool(touched & slots) for rule, slots in other.items()},
            }
        read = head.reads & written
        chains = len(commands) == 1 and commands[0].log2n == head.log2n and 1 << head.log2n >= 4 * self.p * self.pipe
        ported = all(not self.single >> s & 1 for s in read)
        return {
            "in flight": bool(read) and not (chains and ported),
            "addend": bool(head.reads & late),
            "modulus": any(c.mod != head.mod for c in commands),
            "full": len(commands) == FLIGHT,
            "held": bool(touched & held),
            "converting": bool(touched & converted),
            "multiplying": bool(touched & multiplied),
            "table held": head.transform and self.memory is not None and self.memory.kind == "table",
        }

    def take(self, head: Command, source: random.Random) -> None:
        if head.compute:
            self.issuing, self.step, self.sources = head, 0, head.reads - head.late
            self.first = source.randrange(1, 6)
            self.total = self.first + (source.randrange(12) if head.transform else 0)
            self.flight.append((head, self.total + self.pipe))
        elif head.memory:
            self.memory, self.memory_left = head, source.randrange(3, 20)
        elif head.kind == "convert":
            self.conversion, self.conversion_left = head, source.randrange(3, 40)
        elif head.kind == "multiply":
            self.product, self.product_left = head, source.randrange(3, 30)

    def advance(self) -> None:
        """A clock edge, after what ended then was taken off."""
        self.flight = [(command, left - 1) for command, left in self.flight]
        # The scoreboard knows a cycle later that the sources are free.
        if self.sources_done:
            self.sources = frozenset()
        if self.issuing is not None:
            if self.step == self.total:
                self.issuing = None
            self.step += 1
        self.memory_left -= self.memory is not None
        self.conversion_left -= self.conversion is not None
        self.product_left -= self.product is not None


@cocotb.test()
async def check_answers(dut):
    slots, source, pins = parameter("Slots", 3), random.Random(parameter("PipeLatency", 11)), Pins(dut)
    units = Units(parameter("PipeLatency", 11), parameter("P", 1), parameter("SinglePort", 0))
    for name in (
        "head_i",
        "head_valid_i",
        "take_i",
        "finish_i",
        "memory_done_i",
        "rns_done_i",
        "pointwise_done_i",
    ):
        getattr(dut, name).value = 0
    dut.compute_ready_i.value, dut.memory_ready_i.value = 1, 1
    dut.sources_done_i.value, dut.table_busy_i.value, dut.rst_ni.value = 1, 0, 0
    await start_clock(dut.clk_i, 4)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    head, seen = draw(source, slots), Counter[str]()
    for cycle in range(8000):
        await FallingEdge(dut.clk_i)
        # A head that waits is sometimes exchanged, so that every rule meets every state.
        crowded = cycle // 500 % 4 == 0
        if source.random() < 0.2:
            head = draw(source, slots, crowded=crowded)
        ends = units.flight[0][0] if units.flight and units.flight[0][1] == 0 else None
        done = units.memory is not None and units.memory_left == 0
        converted = units.conversion is not None and units.conversion_left == 0
        multiplied = units.product is not None and units.product_left == 0
        dut.head_i.value, dut.head_valid_i.value = head.word(), 1
        dut.compute_ready_i.value, dut.memory_ready_i.value = units.ready, units.memory is None
        dut.sources_done_i.value, dut.table_busy_i.value = units.sources_done, units.table_busy
        dut.memory_done_i.value = done
        dut.rns_done_i.value, dut.pointwise_done_i.value = converted, multiplied
        slots_of = {"writes": mask(*ends.claims), "late": mask(*ends.late)} if ends else {"writes": 0, "late": 0}
        pins.set({"finish_i.valid": ends is not None} | {f"finish_i.{name}": x for name, x in slots_of.items()})
        dut.take_i.value = 0
        await Timer(1, unit="step")
        obstacles = units.obstacles(head)
        assert int(dut.unit_free_o.value) == units.free(head), cycle
        assert int(dut.clear_o.value) == (not obstacles), (cycle, head, obstacles)
        assert int(dut.compute_idle_o.value) == (not units.flight), cycle
        assert int(dut.memory_idle_o.value) == (units.memory is None), cycle
        assert int(dut.rns_idle_o.value) == (units.conversion is None), cycle
        assert int(dut.pointwise_idle_o.value) == (units.product is None), cycle
        seen.update([next(iter(obstacles))] if len(obstacles) == 1 else [])
        taken = units.free(head) and not obstacles and source.random() < 0.9
        dut.take_i.value = taken
        if ends:
            units.flight.pop(0)
        if done:
            units.memory = None
        if converted:
            units.conversion = None
        if multiplied:
            units.product = None
        units.advance()
        if taken:
            seen[f"taken {head.kind}"] += 1
            seen["chained"] += bool(units.flight) and bool(units.flight[0][0].claims & head.reads) and head.compute
            units.take(head, source)
            head = draw(source, slots, crowded=crowded)
    # Every rule alone has held something back, and every kind has gone through. Many slots fill the pipeline; on few,
    # commands meet and read results in flight.
    rules = {"in flight", "addend", "modulus", "held", "table held", "busy", "source", "table", "sync"}
    if parameter("EnRns", 0):
        rules |= {"converted", "converting", "held by memory", "busy convert"}
    if parameter("EnPointwise", 0):
        rules |= {"multiplied", "multiplying", "held by memory", "busy multiply"}
    rules |= {f"taken {kind}" for kind in KINDS} | {"full" if slots == 32 else "chained"}
    assert {rule for rule in rules if seen[rule] < 2} == set(), seen


@pytest.mark.parametrize(
    ("slots", "single", "pipe", "p", "rns", "pointwise"),
    [
        (5, 0b10000, 12, 1, 1, 0),
        (8, 0b11100000, 40, 2, 0, 0),
        (7, 0b1000000, 12, 1, 1, 1),
        (32, 0xFFFF0000, 30, 1, 1, 1),
    ],
)
def test_scoreboard(slots, single, pipe, p, rns, pointwise):
    shape = {"Slots": slots, "SinglePort": single, "PipeLatency": pipe, "P": p}
    run_checks("rs_scoreboard", shape | {"EnRns": rns, "EnPointwise": pointwise})
