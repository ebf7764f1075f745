# SPDX-License-Identifier: Apache-2.0
import random
import zlib

import cocotb
from cocotb.triggers import FallingEdge

from dv.stimulus import start
from ringsmith.hw.cocotb_runner import run_checks


@cocotb.test()
async def check_crc(dut):
    """Random bytes with pauses have zlib's CRC; behind it the residue is right, behind another one it is not."""
    rng = random.Random(1)
    await start(dut, clear_i=0, valid_i=0, data_i=0)

    async def feed(data: bytes) -> None:
        for byte in data:
            while rng.random() < 0.3:
                dut.valid_i.value, dut.data_i.value = 0, rng.randrange(256)
                await FallingEdge(dut.clk_i)
            dut.valid_i.value, dut.data_i.value = 1, byte
            await FallingEdge(dut.clk_i)
        dut.valid_i.value = 0

    for data in (b"", b"\0", b"123456789", *(rng.randbytes(rng.randrange(1, 80)) for _ in range(20))):
        dut.clear_i.value, dut.valid_i.value = 1, rng.randrange(2)
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        await feed(data)
        assert int(dut.crc_o.value) == zlib.crc32(data)
        wrong = rng.random() < 0.3
        await feed((zlib.crc32(data) ^ wrong << rng.randrange(32)).to_bytes(4, "little"))
        assert int(dut.right_o.value) == (not wrong)


def test_crc32():
    run_checks("rs_crc32")
