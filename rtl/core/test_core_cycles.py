# SPDX-License-Identifier: Apache-2.0
"""Cycles of rs_core at the published design points, results checked: transforms, products, tensor, encryption."""

from __future__ import annotations

import os
import random
from pathlib import Path

import cocotb
import pytest

from dv.core import Build, Core
from dv.instructions import TABLE, Insn
from dv.parameters import parameter
from dv.primes import prime_below
from dv.reference import Reference
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw

COFHEE = {
    "W": 128, "P": 1, "NMaxLog2": 13, "Slots": 6, "SinglePort": 0b111000, "Moduli": 2, "TwTables": 1,
    "MulStyle": 0, "EnPmul": 1, "EnCyclic": 1,
}  # fmt: skip
CLIENT = {
    "W": 40,
    "P": 2,
    "Lanes": 3,
    "NMaxLog2": 12,
    "Slots": 7,
    "SinglePort": 0b1111000,
    "Moduli": 1,
    "TwTables": 1,
    "MulStyle": 0,
}


async def started(dut, bits: list[int]) -> tuple[Core, Reference]:
    build = Build()
    step = 2 << build.log2n
    rows = []
    for lane in range(build.lanes):
        prime = prime_below(bits[lane], step)
        while prime in rows:
            prime -= step
            while any(pow(base, prime - 1, prime) != 1 for base in (2, 3, 5, 7)):
                prime -= step
        rows.append(prime)
    core = Core(dut, [rows] * build.moduli)
    await core.start()
    return core, Reference(core)


async def cycles(core: Core, reference: Reference, program: list[Insn]) -> int:
    """Run compute instructions; the cycles from the first start to the last write."""
    before = core.pins["counters_o.busy_compute"]
    await core.run(*program)
    for insn in program:
        reference.execute(insn)
    return core.pins["counters_o.busy_compute"] - before


async def load(core: Core, reference: Reference, slots: list[int], log2n: int) -> None:
    source = random.Random(log2n)
    core.table_buffer(0, 0, 1 << log2n)
    program = [Insn("LOAD", TABLE, buf=0, log2n=log2n)]
    for slot in slots:
        core.buffers[slot + 1] = [[source.randrange(m) for _ in range(1 << log2n)] for m in core.moduli[0]]
        program.append(Insn("LOAD", slot, buf=slot + 1, log2n=log2n))
    reference.buffers.update(core.buffers)
    await core.run(*program)
    for insn in program:
        reference.execute(insn)


async def compare(core: Core, reference: Reference, slots: list[int], log2n: int) -> None:
    await core.run(*[Insn("STORE", a=slot, buf=100 + slot, log2n=log2n) for slot in slots])
    for slot in slots:
        assert core.buffers[100 + slot] == reference.read(slot, 1 << log2n), slot


@cocotb.test()
async def check_figures(dut):
    name, log2n = os.environ["FIGURE"], int(os.environ["LOG2N"])
    core, reference = await started(dut, [109] if name != "client" else [36, 36, 37])
    common = {"log2n": log2n}
    seen: dict[str, int] = {}

    async def measure(what: str, *program: Insn) -> None:
        seen[what] = await cycles(core, reference, list(program))

    if name == "client":
        # u, pk0, pk1, e0, e1 in D2, S3..S6; then c1, s, c0 in D2, S3, S4.
        await load(core, reference, [2, 3, 4, 5, 6], log2n)
        await measure("ntt", Insn("NTT", 2, 2, **common))
        await load(core, reference, [2, 3, 4, 5, 6], log2n)
        await measure(
            "zero-encrypt",
            Insn("NTT", 2, 2, **common),
            Insn("PMODMUL", 0, 2, 3, **common),
            Insn("INTT", 3, 0, c=5, **common),
            Insn("PMODMUL", 0, 2, 4, **common),
            Insn("INTT", 4, 0, c=6, **common),
        )
        await compare(core, reference, [3, 4], log2n)
        await load(core, reference, [2, 3, 4], log2n)
        await measure(
            "delta-m-decrypt",
            Insn("NTT", 2, 2, **common),
            Insn("PMODMUL", 2, 2, 3, **common),
            Insn("INTT", 2, 2, c=4, **common),
        )
        await compare(core, reference, [2], log2n)
    else:
        await load(core, reference, [2, 3, 4, 5], log2n)
        await measure("ntt", Insn("NTT", 3, 3, **common))
        await measure("intt", Insn("INTT", 3, 3, **common))
        await measure("pmodadd", Insn("PMODADD", 2, 3, 4, **common))
        await measure("pmodmul", Insn("PMODMUL", 2, 3, 4, **common))
        await compare(core, reference, [2, 3], log2n)
        await measure(
            "polymul",
            Insn("NTT", 2, 2, **common),
            Insn("NTT", 4, 4, **common),
            Insn("PMODMUL", 2, 2, 4, **common),
            Insn("INTT", 2, 2, **common),
        )
        await compare(core, reference, [2], log2n)
        await load(core, reference, [2, 3, 4, 5], log2n)
        await measure(
            "tensor",
            *[Insn("NTT", slot, slot, **common) for slot in (2, 3, 4, 5)],
            Insn("PMODMUL", 0, 2, 4, **common),
            Insn("PMODMUL", 2, 2, 5, **common),
            Insn("PMAC", 2, 3, 4, 2, **common),
            Insn("PMODMUL", 4, 3, 5, **common),
            Insn("INTT", 3, 0, **common),
            Insn("INTT", 2, 2, **common),
            Insn("INTT", 4, 4, **common),
        )
        await compare(core, reference, [2, 3, 4], log2n)
    limits = dict(item.split("=") for item in os.environ["LIMITS"].split())
    core.dut._log.info("cycles %s", seen)
    Path(os.environ.get("CYCLES_OUT", os.devnull)).write_text(f"{name} {log2n} {seen}\n")
    for what, limit in limits.items():
        assert seen[what] <= int(limit), (what, seen[what], limit)


@cocotb.test()
async def check_bound(dut):
    """NTT and INTT of n = 1024 and more at the build's P take log2(n) n/(2P) + 64 cycles at most, results checked."""
    core, reference = await started(dut, [parameter("W", 0)])
    for log2n in range(10, core.build.log2n + 1):
        await load(core, reference, [2], log2n)
        limit = log2n * (1 << log2n) // (2 * core.build.p) + 64
        for insn in (Insn("NTT", 2, 2, log2n=log2n), Insn("INTT", 2, 2, log2n=log2n)):
            taken = await cycles(core, reference, [insn])
            await compare(core, reference, [2], log2n)
            assert taken <= limit, (insn, taken, limit)


LIMITS = {
    ("cofhee", 12): "ntt=24640 intt=24640 pmodadd=4160 pmodmul=4160 polymul=78200 tensor=191000",
    ("cofhee", 13): "ntt=53312 intt=53312 tensor=407500",
    ("client", 12): "ntt=12320 zero-encrypt=45300 delta-m-decrypt=28800",
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "log2n"), list(LIMITS))
def test_cycles(name, log2n):
    env = {"FIGURE": name, "LOG2N": str(log2n), "LIMITS": LIMITS[name, log2n]}
    run_checks("rs_core", COFHEE if name == "cofhee" else CLIENT, checks="check_figures", env=env, optimise="-O1")


# Barrett in the asic style has the same short pipeline at every width; see docs/hardware.md for the others.
BOUND = {
    "NMaxLog2": 11,
    "Slots": 3,
    "SinglePort": 0,
    "Moduli": 1,
    "TwTables": 1,
    "MulStyle": 0,
    "EnPmul": 0,
    "EnCyclic": 0,
}
WIDE = [(109, 8), (128, 32)]


@pytest.mark.parametrize(
    ("width", "p", "log2n"),
    [
        (30, 4, 9),
        pytest.param(30, 32, 10, marks=pytest.mark.slow),
        *(pytest.param(30, p, 11, marks=pytest.mark.slow) for p in (1, 2, 4, 8, 16, 32)),
        *(pytest.param(w, p, 11, marks=pytest.mark.slow) for w, p in WIDE),
    ],
)
def test_bound_of_a_transform(width, p, log2n):
    run_checks("rs_core", BOUND | {"W": width, "P": p, "NMaxLog2": log2n}, checks="check_bound")
