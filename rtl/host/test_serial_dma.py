# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.parameters import parameter
from dv.stimulus import coefficients, packed, receive, send, start
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks

REST = dict.fromkeys(("port_i", "din_valid_i", "dout_ready_i"), 0)


def shape() -> tuple[int, int, int, int]:
    return parameter("W"), parameter("P"), parameter("Lanes"), parameter("CoeffBytes")


async def request(dut, store: int, log2_n: int) -> None:
    item = {"store": store, "buf_idx": 0xABCDE, "log2_n": log2_n}
    request = {f"port_i.transfer.{field}": value for field, value in item.items()}
    await send(dut, "port_i.transfer.valid", "port_o.ready", [request], random.Random(1))
    pins = Pins(dut)
    assert {field: pins[f"waiting_o.{field}"] for field in ("valid", *item)} == {"valid": 1, **item}


@cocotb.test()
async def check_load(dut):
    w, p, lanes, size = shape()
    await start(dut, **REST)
    log2_n = max(3, (4 * p).bit_length() - 1)
    values = [random.Random(2).getrandbits(w) for _ in range(lanes << log2_n)]
    await request(dut, 0, log2_n)
    data = b"".join(v.to_bytes(size, "little") for v in values)
    assert int(dut.din_left_o.value) == len(data)
    assert int(dut.dout_left_o.value) == 0
    cocotb.start_soon(send(dut, "din_valid_i", "din_ready_o", [{"din_data_i": b} for b in data], random.Random(3)))
    got = await receive(dut, "port_o.ld_valid", "port_i.ld_ready", ["ld_data_o"], len(values) // p, random.Random(4))
    assert [c for (word,) in got for c in coefficients(word, p, w)] == values
    await FallingEdge(dut.clk_i)
    assert Pins(dut)["waiting_o.valid"] == 0


@cocotb.test()
async def check_store(dut):
    w, p, lanes, size = shape()
    await start(dut, **REST)
    log2_n = max(3, (4 * p).bit_length() - 1)
    values = [random.Random(5).getrandbits(w) for _ in range(lanes << log2_n)]
    await request(dut, 1, log2_n)
    words = [{"st_data_i": packed(values[i : i + p], w)} for i in range(0, len(values), p)]
    cocotb.start_soon(send(dut, "port_i.st_valid", "port_o.st_ready", words, random.Random(6)))
    got = await receive(
        dut, "dout_valid_o", "dout_ready_i", ["dout_data_o", "port_o.st_done"], len(values) * size, random.Random(7)
    )
    assert bytes(b for b, _ in got) == b"".join(v.to_bytes(size, "little") for v in values)
    assert [done for _, done in got] == [0] * (len(got) - 1) + [1]
    assert Pins(dut)["waiting_o.valid"] == 0


@pytest.mark.parametrize(
    ("w", "p", "lanes", "size"), [(128, 1, 1, 16), (40, 2, 3, 8), pytest.param(14, 1, 2, 2, marks=pytest.mark.slow)]
)
def test_serial_dma(w, p, lanes, size):
    run_checks("rs_serial_dma", {"W": w, "P": p, "Lanes": lanes, "CoeffBytes": size})
