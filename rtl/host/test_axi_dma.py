# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiBus, AxiRam
from host_stimulus import packed, parameter, receive, send, start

from ringsmith.flow.cocotb_runner import run_checks

BASE = 0x4000
# (W, P, Lanes, NMaxLog2, CoeffBytes, DataWidth): a bus as wide as a word, narrower than a word, and 16 bits.
SHAPES = [
    (32, 2, 2, 8, 4, 64),
    (40, 2, 3, 9, 8, 128),
    (14, 1, 1, 6, 2, 16),
    (128, 16, 1, 7, 16, 1024),
    (128, 1, 1, 10, 16, 128),
]


async def started(dut) -> AxiRam:
    await start(dut, base_i=BASE, req_valid_i=0, ld_ready_i=0, st_valid_i=0)
    ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, reset_active_level=False, size=1 << 20)
    pauses = random.Random(1)
    for channel in (
        ram.read_if.ar_channel,
        ram.read_if.r_channel,
        ram.write_if.aw_channel,
        ram.write_if.w_channel,
        ram.write_if.b_channel,
    ):
        channel.set_pause_generator(iter(lambda: pauses.random() < 0.3, None))
    return ram


async def request(dut, store: int, buffer: int, log2_n: int) -> None:
    item = {"req_store_i": store, "req_buf_i": buffer, "req_logn_i": log2_n}
    await send(dut, "req_valid_i", "req_ready_o", [item], random.Random(2))


def start_of(buffer: int, lane: int) -> int:
    return BASE + ((buffer * parameter("Lanes") + lane) * parameter("CoeffBytes") << parameter("NMaxLog2"))


def polynomials(log2_n: int, seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.getrandbits(parameter("W")) for _ in range(1 << log2_n)] for _ in range(parameter("Lanes"))]


def words(lanes: list[list[int]]) -> list[int]:
    p, w = parameter("P"), parameter("W")
    return [packed(lane[i : i + p], w) for lane in lanes for i in range(0, len(lane), p)]


def sizes() -> list[int]:
    smallest = (4 * parameter("P")).bit_length() - 1
    return sorted({max(3, smallest), parameter("NMaxLog2")})


@cocotb.test()
async def check_load(dut):
    ram = await started(dut)
    size = parameter("CoeffBytes")
    for buffer, log2_n in enumerate(sizes()):
        lanes = polynomials(log2_n, buffer)
        for lane, values in enumerate(lanes):
            ram.write(start_of(buffer, lane), b"".join(v.to_bytes(size, "little") for v in values))
        await request(dut, 0, buffer, log2_n)
        wanted = words(lanes)
        got = await receive(dut, "ld_valid_o", "ld_ready_i", ["ld_data_o", "ld_err_o"], len(wanted), random.Random(3))
        assert got == [(word, 0) for word in wanted]


@cocotb.test()
async def check_store(dut):
    ram = await started(dut)
    size = parameter("CoeffBytes")
    for buffer, log2_n in enumerate(sizes()):
        lanes = polynomials(log2_n, 10 + buffer)
        await request(dut, 1, buffer, log2_n)
        cocotb.start_soon(
            send(dut, "st_valid_i", "st_ready_o", [{"st_data_i": w} for w in words(lanes)], random.Random(4))
        )
        while not int(dut.st_done_o.value):
            await RisingEdge(dut.clk_i)
        assert int(dut.st_err_o.value) == 0
        await FallingEdge(dut.clk_i)
        for lane, values in enumerate(lanes):
            wanted = b"".join(v.to_bytes(size, "little") for v in values)
            assert ram.read(start_of(buffer, lane), len(wanted)) == wanted


@cocotb.test()
async def check_bus_errors(dut):
    """When the bus answers errors, a LOAD's words say so and all still come; the next transfer is clean."""
    ram = await started(dut)
    far = (1 << 20) // parameter("CoeffBytes") // parameter("Lanes") >> parameter("NMaxLog2") << 1
    log2_n = sizes()[0]
    count = len(words(polynomials(log2_n, 0)))

    async def broken(*_args, **_kwargs):
        raise IndexError

    kept_read, kept_write = ram.read_if._read, ram.write_if._write
    ram.read_if._read = ram.write_if._write = broken
    await request(dut, 0, far, log2_n)
    got = await receive(dut, "ld_valid_o", "ld_ready_i", ["ld_err_o"], count, random.Random(5))
    assert got == [(1,)] * count
    await request(dut, 1, far, log2_n)
    cocotb.start_soon(send(dut, "st_valid_i", "st_ready_o", [{"st_data_i": 1}] * count, random.Random(6)))
    while not int(dut.st_done_o.value):
        await RisingEdge(dut.clk_i)
    assert int(dut.st_err_o.value) == 1
    await FallingEdge(dut.clk_i)
    ram.read_if._read, ram.write_if._write = kept_read, kept_write
    await request(dut, 0, 0, log2_n)
    got = await receive(dut, "ld_valid_o", "ld_ready_i", ["ld_err_o"], count, random.Random(7))
    assert got == [(0,)] * count


@pytest.mark.parametrize(("w", "p", "lanes", "n", "coeff", "data"), SHAPES)
def test_axi_dma(w, p, lanes, n, coeff, data):
    shape = {"W": w, "P": p, "Lanes": lanes, "NMaxLog2": n, "CoeffBytes": coeff, "DataWidth": data}
    run_checks("rs_axi_dma_tb", shape)
