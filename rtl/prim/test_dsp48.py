# SPDX-License-Identifier: Apache-2.0
"""rs_dsp48 on the model of its primitive: every sum that its parents ask for, at every number of registers."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
NONE, RUNNING, ADDEND, CHAIN = 0, 2, 3, 5
WIDTHS = {"a_i": 26, "b_i": 17, "c_i": 48, "chain_i": 48}


@cocotb.test()
async def check_sums(dut):
    stages, late = parameter("OperandStages"), parameter("AddendStages")
    source = random.Random(10 * stages + late)
    draws = [
        {n: source.choice([0, (1 << w) - 1, source.getrandbits(w)]) for n, w in WIDTHS.items()} for _ in range(400)
    ]
    modes = [(source.choice([NONE, RUNNING, ADDEND, CHAIN]), source.choice([0, 3]), source.randrange(2)) for _ in draws]
    modes = [(z, 0, sub) if z == ADDEND else (z, w, sub) for z, w, sub in modes]
    await start_clock(dut.clk_i, 4)
    p = None
    for cycle, (draw, (z, w, sub)) in enumerate(zip(draws, modes, strict=True)):
        await FallingEdge(dut.clk_i)
        for name, value in draw.items():
            getattr(dut, name).value = value
        dut.z_i.value, dut.w_i.value, dut.sub_i.value = (z, w, sub) if cycle else (NONE, 0, 0)
        await Timer(1, unit="step")
        if p is not None:
            assert int(dut.p_o.value) == int(dut.chain_o.value) == p, cycle
        if cycle <= stages + 1:
            p = None
            continue
        operands, addend = draws[cycle - stages - 1], draws[cycle - late]["c_i"]
        chain = draw["chain_i"]
        fill = (chain >> 47) * ((1 << 17) - 1) << 31
        if z == RUNNING and p is None:
            continue
        whole = {NONE: 0, RUNNING: p, ADDEND: addend, CHAIN: chain >> 17 | fill}[z]
        summand = operands["a_i"] * operands["b_i"] + (addend if w else 0)
        p = (whole - summand if sub else whole + summand) % (1 << 48)


@pytest.mark.parametrize(("stages", "late"), [(0, 0), (1, 1), (2, 0)])
def test_dsp48(stages, late):
    run_checks("rs_dsp48", {"OperandStages": stages, "AddendStages": late}, defines=["RINGSMITH_DSP48E2"])
