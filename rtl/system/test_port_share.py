# SPDX-License-Identifier: Apache-2.0
"""rs_port_share between cores and a port that forgets a LOAD one word early, as rs_axi_dma does."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.parameters import parameter
from dv.stimulus import start
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
AT_REST = dict.fromkeys(("core_rst_ni", "base_i", "core_i", "st_data_i", "port_i"), 0) | {"idle_i": 1}

# Pins that each cycle looks at: of the port, and of each core.
PORT = (
    *(f"port_o.{name}" for name in ("transfer.valid", "transfer.store", "transfer.buf_idx", "transfer.log2_n")),
    "port_o.ld_ready", "port_o.st_valid", "port_i.st_ready", "st_data_o", "abort_o", "busy_o",
)  # fmt: skip
CORE = (
    ("core_i", "ld_ready"), ("core_i", "st_valid"), ("core_o", "ready"), ("core_o", "ld_valid"),
    ("core_o", "st_ready"), ("core_o", "st_done"),
)  # fmt: skip


@dataclass
class Core:
    """One core: requests still to make as (store, buffer, words), and what it has seen of the present one."""

    todo: list[tuple[int, int, int]]
    moving: bool = False
    left: int = 0
    waited: int = 0
    done: list[int] = field(default_factory=list)


class Bench:
    """Cores and a port, one clock cycle at a time; every transfer that the port began is in `began`."""

    def __init__(self, dut, todo: list[list[tuple[int, int, int]]], seed: int) -> None:
        self.dut, self.rng, self.pins = dut, random.Random(seed), Pins(dut)
        self.cores = [Core(requests) for requests in todo]
        self.alive = (1 << len(todo)) - 1
        self.began: list[tuple[int, int]] = []
        # The port: words still to fetch or take, whether one is held for the cores, cycles until the end of a STORE.
        self.store, self.left, self.held, self.ending, self.idle, self.buffer = 0, 0, False, 0, True, 0
        self.pause = 0.3
        self.aborted = 0

    def drive(self) -> None:
        bits, data, values = len(self.dut.st_data_i) // len(self.cores), 0, {"core_rst_ni": self.alive}
        for c, core in enumerate(self.cores):
            alive = self.alive >> c & 1
            fields = {"transfer.valid": bool(alive and core.todo and not core.moving), "st_valid": 0}
            if core.todo:
                kind, buffer, words = core.todo[0]
                fields |= {"transfer.store": kind, "transfer.buf_idx": buffer}
                fields["transfer.log2_n"] = words.bit_length() - 1
                if alive and core.moving and kind and core.left and self.rng.random() >= self.pause:
                    fields["st_valid"] = 1
                    data |= (core.left + 16 * c) << bits * c
            fields["ld_ready"] = alive and core.moving and self.rng.random() >= self.pause
            values |= {f"core_i[{c}].{name}": int(value) for name, value in fields.items()}
        port = {"ready": self.idle, "ld_valid": self.held, "st_done": self.ending == 1}
        port["st_ready"] = bool(self.store and self.left and self.rng.random() >= self.pause)
        values |= {"st_data_i": data, "idle_i": self.idle} | {f"port_i.{name}": value for name, value in port.items()}
        self.pins.set(values)

    async def cycle(self) -> None:
        self.drive()
        await RisingEdge(self.dut.clk_i)
        pins = self.pins
        now = {name: pins[name] for name in PORT}
        seen = [{name: pins[f"{port}[{c}].{name}"] for port, name in CORE} for c in range(len(self.cores))]
        await FallingEdge(self.dut.clk_i)
        self.port(now, seen)
        for c, core in enumerate(self.cores):
            self.core(core, seen[c] | {"busy": now["busy_o"] >> c & 1})

    def port(self, now: dict[str, int], cores: list[dict[str, int]]) -> None:
        if self.ending:
            self.ending -= 1
            self.idle = self.ending == 0
        if self.held and now["port_o.ld_ready"]:
            self.held = False
        if now["abort_o"]:
            self.aborted += not self.idle
            self.left, self.held, self.ending, self.idle = 0, False, 0, True
        elif self.idle and now["port_o.transfer.valid"]:
            assert not self.held, "a transfer begins before the last word of the one before it is taken"
            self.idle, self.store, self.left = False, now["port_o.transfer.store"], 1 << now["port_o.transfer.log2_n"]
            self.began.append((self.store, now["port_o.transfer.buf_idx"]))
        elif not self.idle and self.store and self.left:
            if now["port_o.st_valid"] and now["port_i.st_ready"]:
                (owner,) = [c for c, core in enumerate(cores) if core["st_ready"]]
                assert now["st_data_o"] == self.left + 16 * owner, "a stored word of another core"
                self.left -= 1
                self.ending = 3 * (self.left == 0)
        elif not self.idle and not self.store and not self.held and self.rng.random() >= self.pause:
            self.held, self.left = True, self.left - 1
            # The port is idle with its last beat: the word is still to be taken.
            self.idle = self.left == 0

    def core(self, core: Core, now: dict[str, int]) -> None:
        if now["ready"]:
            assert core.todo
            assert not core.moving
            core.moving, core.left = True, core.todo[0][2]
        elif core.moving:
            valid, ready = ("st_valid", "st_ready") if core.todo[0][0] else ("ld_valid", "ld_ready")
            core.left -= now[valid] and now[ready]
        if core.moving:
            assert now["busy"] or now["ready"]
        else:
            assert not now["ld_valid"]
            assert not now["st_done"]
        if core.moving and core.left == 0 and (not core.todo[0][0] or now["st_done"]):
            core.done.append(core.todo.pop(0)[1])
            core.moving = False

    async def run(self, limit: int = 20000) -> None:
        for _ in range(limit):
            await self.cycle()
            if not any(core.todo for core in self.cores):
                return
        raise AssertionError(f"still to do: {[core.todo for core in self.cores]}")


async def started(dut, todo: list[list[tuple[int, int, int]]], seed: int) -> Bench:
    await start(dut, **AT_REST)
    return Bench(dut, todo, seed)


@cocotb.test()
async def check_random_transfers(dut):
    """Each core gets the words of its own requests, in its own order, none of another's; nothing hangs."""
    cores, rng = parameter("Cores"), random.Random(1)
    for pause in (0, 0.3):
        todo = [[(rng.randrange(2), 100 * c + k, 1 << rng.randrange(4)) for k in range(40)] for c in range(cores)]
        wanted = [[request[1] for request in requests] for requests in todo]
        bench = await started(dut, todo, 2)
        bench.pause = pause
        await bench.run()
        assert [core.done for core in bench.cores] == wanted
        assert len(bench.began) == sum(map(len, wanted))


@cocotb.test()
async def check_common_loads(dut):
    """Cores that wait for the same LOAD take part in one; a STORE of the same number, or another address, does not."""
    cores = parameter("Cores")
    bench = await started(dut, [[(0, 7, 8), (0, 8, 4), (0, 9, 4)] for _ in range(cores)], 3)
    await bench.run()
    assert [core.done for core in bench.cores] == [[7, 8, 9]] * cores
    assert bench.began == [(0, 7), (0, 8), (0, 9)]
    stores = await started(dut, [[(1, 7, 8)] for _ in range(cores)], 4)
    await stores.run()
    assert stores.began == [(1, 7)] * cores
    apart = await started(dut, [[(0, 7, 8)] for _ in range(cores)], 5)
    dut.base_i.value = sum(c << 12 << 64 * c for c in range(cores))
    await apart.run()
    assert apart.began == [(0, 7)] * cores
    lengths = await started(dut, [[(0, 7, 4 << (c == 0))] for c in range(cores)], 6)
    await lengths.run()
    assert len(lengths.began) == 2


@cocotb.test()
async def check_turns(dut):
    """Cores that all ask all the time take turns."""
    cores = parameter("Cores")
    bench = await started(dut, [[(0, 100 * c + k, 2) for k in range(10)] for c in range(cores)], 7)
    await bench.run()
    assert [buffer // 100 for _, buffer in bench.began] == [*range(cores)] * 10


@cocotb.test()
async def check_reset_of_a_core(dut):
    """A core that is reset leaves: alone, it ends the transfer; with others, they go on. The port serves the next."""
    cores = parameter("Cores")
    alone = await started(dut, [[(kind, c, 16)] for c, kind in zip(range(cores), [0, 1] * cores, strict=False)], 8)
    while alone.cores[0].left != 5:
        await alone.cycle()
    alone.alive &= ~1
    alone.cores[0] = Core([])
    await alone.run()
    assert alone.aborted == 1
    assert [core.done for core in alone.cores] == [[], *([c] for c in range(1, cores))]
    common = await started(dut, [[(0, 3, 16)] for _ in range(cores)], 9)
    while common.cores[0].left != 5:
        await common.cycle()
    common.alive &= ~1
    common.cores[0] = Core([])
    await common.run()
    assert common.aborted == 0
    assert [core.done for core in common.cores] == [[], *([3] for _ in range(1, cores))]


@pytest.mark.parametrize("cores", [2, 3, pytest.param(8, marks=pytest.mark.slow)])
def test_port_share(cores):
    run_checks("rs_port_share", {"Cores": cores, "PortBits": 8})
