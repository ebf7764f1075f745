# SPDX-License-Identifier: Apache-2.0
"""rs_axi_dma on an independent bus model that pauses everywhere: transfers, errors, and transfers that are dropped."""

import os
import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge, with_timeout

from dv.axi_memory import SLAVE_AT_REST, AxiMemory
from dv.parameters import parameter
from dv.stimulus import PERIOD_NS, cycles, packed, receive, send, start
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

BASE = 0x4000
# (W, P, Lanes, NMaxLog2, CoeffBytes, DataWidth, WidePort): a bus as wide as a word, narrower than a word, and 16 bits;
# rows of all lanes' words in one beat, two, three and four, with padding and without.
SHAPES = [
    (40, 2, 3, 9, 8, 128, 0),
    (14, 1, 1, 6, 2, 16, 0),
    (128, 16, 1, 7, 16, 1024, 0),
    (30, 2, 7, 7, 4, 512, 1),
    (20, 2, 3, 6, 3, 128, 1),
    (43, 2, 4, 6, 6, 128, 1),
    (36, 4, 5, 7, 5, 256, 1),
    pytest.param(60, 8, 3, 6, 8, 1024, 1, marks=pytest.mark.slow),
    pytest.param(32, 2, 2, 8, 4, 64, 0, marks=pytest.mark.slow),
    pytest.param(128, 1, 1, 10, 16, 128, 0, marks=pytest.mark.slow),
    pytest.param(64, 8, 4, 5, 8, 512, 1, marks=pytest.mark.slow),
    pytest.param(43, 8, 8, 7, 6, 1024, 1, marks=pytest.mark.slow),
]
# Up to eight lanes side by side, ten and fifteen, with every P up to 8, words of all sizes in memory among them.
SIZES = ((14, 2), (18, 3), (30, 4), (36, 5), (43, 6), (54, 7), (64, 8), (128, 16))
WIDE = [
    (w, p, lanes, 6, size, min(1024, 8 << (lanes * p * size - 1).bit_length()), 1)
    for lanes in (*range(1, 9), 10, 15)
    for p in (1, 2, 4, 8)
    for w, size in [SIZES[(lanes + 3 * p.bit_length()) % 8]]
]


MEMORY_BYTES = 1 << 20
SEED = int(os.environ.get("AXI_SEED", "1"))


async def started(dut) -> AxiMemory:
    quiet = dict.fromkeys(("abort_i", "port_i"), 0)
    await start(dut, base_i=BASE, **quiet, **{name.removesuffix("_i"): v for name, v in SLAVE_AT_REST.items()})
    return AxiMemory(dut, dut, BASE, MEMORY_BYTES, SEED)


async def request(dut, store: int, buffer: int, log2_n: int) -> None:
    item = {"store": store, "buf_idx": buffer, "log2_n": log2_n}
    request = {f"port_i.transfer.{field}": value for field, value in item.items()}
    await send(dut, "port_i.transfer.valid", "port_o.ready", [request], random.Random(2))


def row_bytes() -> int:
    """Bytes from a word of a lane to its next: of every lane's, in whole beats with a wide port."""
    row, beat = parameter("Lanes") * parameter("P") * parameter("CoeffBytes"), parameter("DataWidth") // 8
    return -(-row // beat) * beat if parameter("WidePort") else row


def start_of(buffer: int) -> int:
    return buffer * (row_bytes() << parameter("NMaxLog2")) // parameter("P")


def polynomials(log2_n: int, seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.getrandbits(parameter("W")) for _ in range(1 << log2_n)] for _ in range(parameter("Lanes"))]


def words(lanes: list[list[int]]) -> list[int]:
    """The words between port and core: words of one lane after another's, or rows of a word of every lane."""
    p, w = parameter("P"), parameter("W")
    if parameter("WidePort"):
        rows = range(0, len(lanes[0]), p)
        return [packed([x for lane in lanes for x in lane[i : i + p]], w) for i in rows]
    return [packed(lane[i : i + p], w) for lane in lanes for i in range(0, len(lane), p)]


def sizes() -> list[int]:
    smallest = (4 * parameter("P")).bit_length() - 1
    return sorted({max(3, smallest), parameter("NMaxLog2")})


def lane_bytes(values: list[int]) -> bytes:
    return b"".join(v.to_bytes(parameter("CoeffBytes"), "little") for v in values)


def put(memory: AxiMemory, buffer: int, lanes: list[list[int]]) -> None:
    p, size, start = parameter("P"), parameter("CoeffBytes"), start_of(buffer)
    if parameter("WidePort"):
        rows = [b"".join(lane_bytes(lane[i : i + p]) for lane in lanes) for i in range(0, len(lanes[0]), p)]
        data = b"".join(row.ljust(row_bytes(), b"\0") for row in rows)
        memory.data[start : start + len(data)] = data
        return
    for lane, values in enumerate(lanes):
        at, data = start + (lane * size << parameter("NMaxLog2")), lane_bytes(values)
        memory.data[at : at + len(data)] = data


async def soon(coroutine):
    """A transfer's answer, or an error: nothing here takes long."""
    return await with_timeout(cocotb.start_soon(coroutine), 200_000 * PERIOD_NS, "ns")


async def load(dut, memory: AxiMemory, buffer: int, log2_n: int, seed: int) -> None:
    """A LOAD of fresh values gives them in order."""
    lanes = polynomials(log2_n, seed)
    put(memory, buffer, lanes)
    await soon(request(dut, 0, buffer, log2_n))
    wanted = words(lanes)
    signals = ["ld_data_o", "port_o.ld_err"]
    got = await soon(receive(dut, "port_o.ld_valid", "port_i.ld_ready", signals, len(wanted), random.Random(seed)))
    assert got == [(word, 0) for word in wanted]


async def give(dut, items: list[int], seed: int) -> None:
    await send(dut, "port_i.st_valid", "port_o.st_ready", [{"st_data_i": w} for w in items], random.Random(seed))


async def store_end(dut) -> int:
    """Wait for the end of a STORE: whether it failed."""
    pins = Pins(dut)
    while not pins["port_o.st_done"]:
        await RisingEdge(dut.clk_i)
    failed = pins["port_o.st_err"]
    await FallingEdge(dut.clk_i)
    return failed


async def store(dut, memory: AxiMemory, buffer: int, log2_n: int, seed: int) -> None:
    """A STORE writes its buffer and nothing else."""
    lanes = polynomials(log2_n, seed)
    before = bytes(memory.data)
    await soon(request(dut, 1, buffer, log2_n))
    cocotb.start_soon(give(dut, words(lanes), seed))
    assert await soon(store_end(dut)) == 0
    found = bytes(memory.data)
    memory.data[:] = before
    put(memory, buffer, lanes)
    assert bytes(memory.data) == found


@cocotb.test()
async def check_transfers(dut):
    memory = await started(dut)
    for number, log2_n in enumerate(sizes()):
        await load(dut, memory, number, log2_n, SEED + number)
        await store(dut, memory, number, log2_n, SEED + 10 + number)


@cocotb.test()
async def check_data_before_address(dut):
    """A slave that takes the address of a burst only after its data, as AXI4 lets it, is served."""
    memory = await started(dut)
    memory.data_first()
    for number, log2_n in enumerate(sizes()):
        await store(dut, memory, number, log2_n, SEED + 20 + number)


@cocotb.test()
async def check_bus_errors(dut):
    """Errors in the middle of a burst: the transfer says so and ends whole, the next one is clean."""
    memory = await started(dut)
    log2_n, beat = sizes()[-1], parameter("DataWidth") // 8
    count, end = len(words(polynomials(log2_n, 0))), start_of(1)
    per_word = end // count
    for first, last in ((0, end), (end // 2, end // 2 + beat), (end - beat, end)):
        memory.bad = range(first, last)
        await soon(request(dut, 0, 0, log2_n))
        got = await soon(receive(dut, "port_o.ld_valid", "port_i.ld_ready", ["port_o.ld_err"], count, random.Random(5)))
        assert got == [(int(at * per_word < last and first < (at + 1) * per_word),) for at in range(count)]
        await soon(request(dut, 1, 0, log2_n))
        cocotb.start_soon(give(dut, [1] * count, 6))
        assert await soon(store_end(dut)) == 1
        memory.bad = range(0)
        await load(dut, memory, 0, log2_n, SEED)
        await store(dut, memory, 0, log2_n, SEED)


async def drop(dut, memory: AxiMemory) -> None:
    """Reset the core's side, once or twice, and wait until the port says that nothing is in flight."""
    Pins(dut).set({"port_i": 0})
    for _ in range(1 + memory.random.randrange(2)):
        dut.abort_i.value = 1
        await cycles(dut, 8)
        dut.abort_i.value = 0
        await cycles(dut, memory.random.randrange(6))
    while not int(dut.idle_o.value):
        await FallingEdge(dut.clk_i)


async def begun(dut, memory: AxiMemory, is_store: int, log2_n: int, lanes: list[list[int]]) -> None:
    """Begin a transfer of buffer 0 and leave off somewhere."""
    await request(dut, is_store, 0, log2_n)
    count = len(words(lanes))
    if is_store:
        work = cocotb.start_soon(give(dut, words(lanes), SEED))
    else:
        work = cocotb.start_soon(
            receive(dut, "port_o.ld_valid", "port_i.ld_ready", ["ld_data_o"], count, random.Random(SEED))
        )
    # Short of the end, which no longer is in the middle of a transfer.
    await cycles(dut, memory.random.randrange(2 + count))
    work.cancel()


@cocotb.test()
async def check_dropped_transfers(dut):
    """A transfer dropped anywhere leaves a quiet bus and no wrong byte; the next ones are right."""
    memory = await started(dut)
    log2_n = sizes()[-1]
    for number in range(16):
        if number == 8:
            memory.data_first()
        lanes = polynomials(log2_n, 40 + number)
        before = bytes(memory.data)
        await soon(begun(dut, memory, number % 2, log2_n, lanes))
        await soon(drop(dut, memory))
        found = bytes(memory.data)
        put(memory, 0, lanes)
        whole = bytes(memory.data)
        assert all(new in (old, full) for new, old, full in zip(found, before, whole, strict=True))
        memory.data[:] = found
        await load(dut, memory, 1, sizes()[0], 60 + number)
        await store(dut, memory, 1, sizes()[0], 80 + number)


def run(shape: tuple[int, ...], seed: int) -> None:
    names = ("W", "P", "Lanes", "NMaxLog2", "CoeffBytes", "DataWidth", "WidePort")
    run_checks("rs_axi_dma_tb", dict(zip(names, shape, strict=True)), env={"AXI_SEED": str(seed)})


@pytest.mark.parametrize(("w", "p", "lanes", "n", "coeff", "data", "wide"), SHAPES)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_axi_dma(w, p, lanes, n, coeff, data, wide, seed):
    run((w, p, lanes, n, coeff, data, wide), seed)


@pytest.mark.slow
@pytest.mark.parametrize("shape", WIDE, ids=str)
def test_axi_dma_of_every_width(shape):
    run(shape, 1)


def test_refuses_beats_that_do_not_divide_a_word():
    shape = {"W": 32, "P": 1, "CoeffBytes": 4, "DataWidth": 64}
    assert "must divide" in elaboration_error("rs_axi_dma", shape)
    assert elaboration_error("rs_axi_dma", shape | {"WidePort": 1}) is None
