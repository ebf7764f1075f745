# SPDX-License-Identifier: Apache-2.0
"""rs_mem_unit with slots and a host in Python: copies, reversed ones, loads, stores; their cycles, their errors."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

from dv.oracle import bit_reverse
from dv.parameters import formula, parameter
from dv.structs import MEMORY, Pins, pack, source
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
BITS = 14
SLOTS = 4
P, LANES, ADDRESS = parameter("P", 1), parameter("Lanes", 1), parameter("WordAddrBits", 4)
WIDE = parameter("WidePort", 0)
# Times that a transfer goes through the words of a slot.
PASSES = 1 if WIDE else LANES
LOG2P = P.bit_length() - 1

Word = list[int]


def split(word: int, count: int = P) -> Word:
    return [word >> BITS * i & (1 << BITS) - 1 for i in range(count)]


def join(word: Word) -> int:
    return sum(x << BITS * i for i, x in enumerate(word))


def crossing(lanes: list[list[Word]]) -> list[int]:
    """The words on the data port: one lane's words after another's, or rows of a word of every lane."""
    if WIDE:
        return [join([x for word in row for x in word]) for row in zip(*lanes, strict=True)]
    return [join(word) for lane in lanes for word in lane]


class Bench:
    """The surroundings of the unit: slots and tables by lane in words, the lane's read pipeline, the host's data."""

    def __init__(self, dut, seed: int) -> None:
        self.dut, self.random, self.stutter, self.pins = dut, random.Random(seed), 0.0, Pins(dut)
        self.slots = [[[self.any_word() for _ in range(1 << ADDRESS)] for _ in range(SLOTS)] for _ in range(LANES)]
        self.tables: list[dict[tuple[int, int], Word]] = [{} for _ in range(LANES)]
        self.partial = [[0] * P for _ in range(LANES)]
        self.reads: list[tuple[int, int, int] | None] = [None, None]
        self.give: list[tuple[int, int]] = []
        self.taken: list[tuple[int, int]] = []
        self.request: tuple[int, int, int] | None = None
        self.finish: tuple[int, int] | None = None
        self.streamed: list[int] = []
        # The word on the data port a cycle ago, and now.
        self.loaded = self.offered = 0

    def any_word(self) -> Word:
        return [self.random.getrandbits(BITS) for _ in range(P)]

    async def start(self) -> None:
        dut = self.dut
        self.pins.set(dict.fromkeys(("rst_ni", "start_i", "instr_i", "rd_data_i", "port_i", "stream_ready_i"), 0))
        cocotb.start_soon(Clock(dut.clk_i, 4, unit="step").start())
        await FallingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1

    def pauses(self) -> bool:
        return self.random.random() < self.stutter

    def lane_words(self) -> list[Word]:
        """The contents of the lanes' read registers: the words asked for two cycles ago, checked on their way."""
        late, early = self.reads
        if early is not None:
            slot = early[1]
            assert self.pins["path_o.from"] == slot
        if late is None or not late[0]:
            return [[0] * P for _ in range(LANES)]
        return [self.slots[lane][late[1]][late[2]] for lane in range(LANES)]

    def write(self, words: list[Word]) -> None:
        """Apply this cycle's writes, as a lane would."""
        pins = self.pins
        hits, tables, where = pins["write_valid_o"], pins["table_write_valid_o"], pins["write_o.word"]
        pick, place = pins["path_o.pick"], pins["path_o.place"]
        for lane in range(LANES):
            self.partial[lane][place] = words[lane][pick if P > 1 else 0]
            if pins["path_o.load"]:
                row = split(self.loaded, P * LANES if WIDE else P)
                data = row[P * lane : P * (lane + 1)] if WIDE else row
            else:
                data = list(self.partial[lane]) if pins["path_o.reverse"] else words[lane]
            if hits >> lane & 1:
                self.slots[lane][pins["write_o.slot"]][where] = data
            if tables >> lane & 1:
                self.tables[lane][pins["write_table_o"], where] = data

    def host(self) -> None:
        """The host's side of a transfer, for the edge that follows."""
        pins = {"ready": not self.pauses()}
        sends = self.request is not None and self.give and not self.pauses()
        pins["ld_valid"] = bool(sends)
        if sends:
            self.offered, pins["ld_err"] = self.give[0]
        pins["st_ready"], stream = not self.pauses(), not self.pauses()
        ends = self.finish is not None and len(self.taken) == self.finish[0] and not self.pauses()
        pins["st_done"], pins["st_err"] = ends, self.finish[1] if ends and self.finish else 0
        self.pins.set({"stream_ready_i": stream} | {f"port_i.{name}": int(value) for name, value in pins.items()})

    def moved(self) -> None:
        """Moves the data of the coming clock edge between unit and host."""
        pins = self.pins
        if pins["port_o.transfer.valid"] and pins["port_i.ready"]:
            assert self.request is None
            self.request = tuple(pins[f"port_o.transfer.{field}"] for field in ("store", "buf_idx", "log2_n"))  # type: ignore[assignment]
        if pins["port_i.ld_valid"] and pins["port_o.ld_ready"]:
            self.give.pop(0)
        if pins["stream_push_o"]:
            assert pins["stream_ready_i"]
            self.streamed.append(self.offered)
        if pins["port_o.st_valid"] and pins["port_i.st_ready"]:
            self.taken.append((pins["st_data_o"], pins["port_o.st_last"]))

    async def run(self, **fields: int) -> tuple[int, int]:
        """Run an instruction: the cycles from its start to done_o, and error_o."""
        dut = self.dut
        await FallingEdge(dut.clk_i)
        assert int(dut.ready_o.value)
        dut.start_i.value, dut.instr_i.value = 1, pack(MEMORY, fields)
        ended: tuple[int, int] | None = None
        self.reads, cycle = [None, None], 0
        while ended is None or not int(dut.ready_o.value):
            await FallingEdge(dut.clk_i)
            cycle += 1
            dut.start_i.value = 0
            words = self.lane_words()
            dut.rd_data_i.value = sum(join(word) << P * BITS * lane for lane, word in enumerate(words))
            self.host()
            await Timer(1, unit="step")
            self.write(words)
            self.moved()
            self.loaded = self.offered
            self.reads = [
                self.reads[1],
                tuple(self.pins[f"read_o.{field}"] for field in ("valid", "from", "word")),
            ]
            if int(dut.done_o.value):
                assert ended is None
                ended = cycle, int(dut.error_o.value)
            assert cycle < 40_000
        return ended

    def polynomial(self, lane: int, slot: int, log2n: int) -> list[int]:
        words = self.slots[lane][slot][: (1 << log2n) // P]
        return [0] * (1 << log2n) if slot == 63 else [x for word in words for x in word]


def sizes() -> range:
    return range(max(3, LOG2P + 2), ADDRESS + LOG2P + 1)


@cocotb.test()
async def check_copies(dut):
    bench = Bench(dut, 1)
    await bench.start()
    for log2n in sizes():
        for reverse, slot in ((0, 2), (1, 1), (0, 63), (1, 63), (1, 0)):
            before = [
                [0] * (1 << log2n) if slot == 63 else bench.polynomial(lane, slot, log2n) for lane in range(LANES)
            ]
            rest = [[list(word) for word in lane[3]] for lane in bench.slots]
            cycles, error = await bench.run(reverse=reverse, src=source(slot), dst=3, log2_n=log2n)
            assert error == 0
            wanted = formula("memcpyr", log2n) if reverse else formula("memcpy", log2n, P)
            assert cycles == wanted, (log2n, reverse, slot)
            for lane in range(LANES):
                order = [bit_reverse(i, log2n) if reverse else i for i in range(1 << log2n)]
                assert bench.polynomial(lane, 3, log2n) == [before[lane][i] for i in order], (log2n, reverse, slot)
                words = (1 << log2n) // P
                assert bench.slots[lane][3][words:] == rest[lane][words:]


@cocotb.test()
async def check_loads(dut):
    bench = Bench(dut, 2)
    await bench.start()
    for number, log2n in enumerate(sizes()):
        for stutter in (0.0, 0.4):
            for table in (0, 1):
                bench.stutter, bench.request, bench.tables = stutter, None, [{} for _ in range(LANES)]
                count = (1 << log2n) // P
                words = [[bench.any_word() for _ in range(count)] for _ in range(LANES)]
                bad = bench.random.randrange(PASSES * count) if number % 2 else None
                flat = crossing(words)
                bench.give = [(data, int(i == bad)) for i, data in enumerate(flat)]
                fields = {"load": 1, "table_dst": table, "dst": 2, "mod_idx": 9, "log2_n": log2n, "buf_idx": 0x81234}
                cycles, error = await bench.run(**fields)
                assert bench.request == (0, 0x81234, log2n)
                assert not bench.give
                # One word with an error fails the whole transfer, and all words are taken nevertheless.
                assert error == (bad is not None)
                assert stutter or cycles == formula("load", log2n, P, PASSES)
                for lane in range(LANES):
                    if table:
                        assert bench.tables[lane] == {(9, i): word for i, word in enumerate(words[lane])}
                    else:
                        assert bench.slots[lane][2][:count] == words[lane]
                        assert not bench.tables[lane]


@cocotb.test()
async def check_streams(dut):
    """Words of a LOAD into the stream go there, as it takes them, and into no slot."""
    bench = Bench(dut, 4)
    await bench.start()
    for log2n in sizes():
        for stutter, bad in ((0.0, None), (0.4, 1), (0.7, None)):
            bench.stutter, bench.request, bench.streamed = stutter, None, []
            before = [[list(word) for slot in lane for word in slot] for lane in bench.slots]
            flat = crossing([[bench.any_word() for _ in range((1 << log2n) // P)] for _ in range(LANES)])
            bench.give = [(data, int(i == bad)) for i, data in enumerate(flat)]
            cycles, error = await bench.run(load=1, stream=1, dst=2, log2_n=log2n, buf_idx=7)
            assert (bench.request, bench.give, bench.streamed) == ((0, 7, log2n), [], flat)
            assert error == (bad is not None)
            assert stutter or cycles == formula("load", log2n, P, PASSES)
            assert [[word for slot in lane for word in slot] for lane in bench.slots] == before


@cocotb.test()
async def check_stores(dut):
    bench = Bench(dut, 3)
    await bench.start()
    for log2n in sizes():
        for stutter, slot, failed in ((0.0, 1, 0), (0.5, 2, 1), (0.7, 3, 0), (0.2, 63, 0)):
            bench.stutter, bench.request, bench.taken = stutter, None, []
            count = PASSES * (1 << log2n) // P
            bench.finish = count, failed
            cycles, error = await bench.run(store=1, src=source(slot), log2_n=log2n, buf_idx=5)
            assert bench.request == (1, 5, log2n)
            assert error == failed
            assert stutter or cycles == formula("store", log2n, P, PASSES)
            lanes = [[0] * (1 << log2n) if slot == 63 else bench.polynomial(i, slot, log2n) for i in range(LANES)]
            words = [[lane[i : i + P] for i in range(0, 1 << log2n, P)] for lane in lanes]
            assert [data for data, _ in bench.taken] == crossing(words)
            assert [last for _, last in bench.taken] == [0] * (count - 1) + [1]


@pytest.mark.parametrize(
    ("p", "lanes", "address", "wide"),
    [
        (1, 1, 5, 0),
        (2, 3, 5, 0),
        pytest.param(8, 2, 4, 0, marks=pytest.mark.slow),
        (32, 1, 3, 0),
        (2, 7, 4, 1),
        pytest.param(1, 1, 5, 1, marks=pytest.mark.slow),
        pytest.param(8, 8, 3, 1, marks=pytest.mark.slow),
    ],
)
def test_mem_unit(p, lanes, address, wide):
    shape = {"P": p, "Lanes": lanes, "WordAddrBits": address, "WordBits": p * BITS, "WidePort": wide}
    run_checks("rs_mem_unit", shape)
