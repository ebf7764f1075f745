# SPDX-License-Identifier: Apache-2.0
"""rs_butterfly against Python integers: all modes in random order, one a cycle."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.operands import word_moduli
from dv.parameters import WIDTHS, formula, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
WIDTH = parameter("W", 32)


def outputs(mode: str, u: int, v: int, w: int, e0: int, e1: int, m: int, r: int) -> tuple[int | None, int | None]:
    """The outputs of each mode; None for an unused output."""
    half = (m + 1) // 2
    return {
        "ct": ((u + v * w * r) % m, (u - v * w * r) % m),
        "gs": (((u + v) * half + e0) % m, ((v - u) * half * w * r + e1) % m),
        "add": ((u + v + e0) % m, None),
        "sub": ((u - v + e0) % m, None),
        "mul": (v * w % (1 << WIDTH), v * w >> WIDTH),
    }[mode]


@cocotb.test()
async def check_modes(dut):
    kind, word, keeps = parameter("MulKind", 0), parameter("MontW", 8), parameter("KeepProduct", 0)
    build = (kind, parameter("MulStyle", 1), WIDTH, parameter("ModMinBits", 5), word)
    latency, late = formula("butterfly_latency", *build), formula("addsub_latency", build[1])
    late += formula("mod_mul_latency", *build)
    await start_clock(dut.clk_i, 2)
    source = random.Random(WIDTH)
    for m in word_moduli(WIDTH, word):
        r = pow(2, -(-(-WIDTH // word) * word), m) if kind else 1
        dut.modulus_i.value, dut.mod_bits_i.value = m, m.bit_length()
        dut.aux_i.value = m >> word if kind else (1 << m.bit_length() + WIDTH + 2) // m

        def operand(m: int = m) -> int:
            return source.choice((0, 1, m - 1, source.randrange(m)))

        def words() -> tuple[int, ...]:
            """An unreduced product takes any words, and 0 on the x side."""
            return 0, *(source.choice((0, 1, (1 << WIDTH) - 1, source.getrandbits(WIDTH))) for _ in range(2))

        modes = [source.choice(("ct", "gs", "add", "sub", *(["mul"] if keeps else []))) for _ in range(200)]
        taken = [words() if mode == "mul" else (operand(), operand(), operand()) for mode in modes]
        cases = [(mode, *three, operand(), operand()) for mode, three in zip(modes, taken, strict=True)]
        for cycle in range(len(cases) + latency):
            if cycle >= latency:
                expected = outputs(*cases[cycle - latency], m, r)
                for want, port in zip(expected, (dut.x_o, dut.y_o), strict=True):
                    assert want is None or int(port.value) == want, (m, cases[cycle - latency])
            if cycle < len(cases):
                mode, u, v, w, _, _ = cases[cycle]
                dut.u_i.value, dut.v_i.value, dut.w_i.value = u, v, w
                dut.cross_i.value, dut.sub_i.value, dut.halve_i.value = (
                    mode in ("gs", "add", "sub"),
                    mode == "sub",
                    mode == "gs",
                )
                dut.product_i.value = mode == "mul"
            if late <= cycle < late + len(cases):
                dut.e0_i.value, dut.e1_i.value = cases[cycle - late][4:]
            await FallingEdge(dut.clk_i)


CASES = [(w, k, s) for w in WIDTHS for k in (0, 1) for s in (0, 1, 2)]


def build_of(width: int, kind: int, style: int) -> dict[str, int]:
    return {"W": width, "MulKind": kind, "MulStyle": style, "MontW": min(15, width // 2 - 1)}


@pytest.mark.parametrize(("width", "kind", "style"), matrix([(32, 1, 1), (60, 0, 1)], CASES))
def test_butterfly(width, kind, style):
    run_checks("rs_butterfly", build_of(width, kind, style))


@pytest.mark.parametrize("primitive", [[], ["RINGSMITH_DSP48E2"]], ids=["registers", "dsp48e2"])
@pytest.mark.parametrize(("width", "kind", "style"), [(60, 1, 1), (30, 0, 0)])
def test_products(width, kind, style, primitive):
    run_checks("rs_butterfly", build_of(width, kind, style) | {"KeepProduct": 1}, defines=primitive)
