# SPDX-License-Identifier: Apache-2.0
"""rs_core against the functional reference: every instruction, random programs with hazards and DMA, errors."""

from __future__ import annotations

import os
import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.core import Build, Core
from dv.instructions import STREAM, TABLE, ZERO, Insn
from dv.parameters import formula, parameter
from dv.programs import digits, elements, random_program, routes
from dv.reference import Reference
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import lint

pytestmark = pytest.mark.hw


async def prepared(dut) -> tuple[Core, Reference]:
    core = Core(dut, Build().choose_moduli())
    await core.start()
    if core.build.rate:
        await core.configure_conversions([conversion for _, _, conversion in routes(core)])
    if core.build.moves:
        await core.configure_moves(elements(core), [digit for _, _, digit in digits(core)])
    reference = Reference(core)
    return core, reference


async def both(core: Core, reference: Reference, program: list[Insn]) -> None:
    """Run a program on both and compare every buffer it stores."""
    reference.buffers.update(core.buffers)
    await core.run(*program)
    for insn in program:
        reference.execute(insn)
    for insn in program:
        if insn.op == "STORE":
            assert core.buffers[insn.buf] == reference.buffers[insn.buf], insn


def residues(core: Core, mod: int, source: random.Random) -> list[list[int]]:
    n = 1 << core.build.log2n
    rows = []
    for m in core.moduli[mod]:
        row = [source.randrange(m) for _ in range(n)]
        row[0], row[1], row[-1] = m - 1, 0, 1
        rows.append(row)
    return rows


@cocotb.test()
async def check_transforms(dut):
    """Forward and inverse, both rings, every n of the build, at both kinds of slots, with and without addend."""
    core, reference = await prepared(dut)
    build, source = core.build, random.Random(1)
    last = build.slots - 1
    sizes = os.environ.get("CORE_SIZES")
    for log2n in [int(s) for s in sizes.split()] if sizes else range(build.log2n_min, build.log2n + 1):
        mod = log2n % build.moduli
        core.table_buffer(0, mod, 1 << log2n)
        core.buffers[1], core.buffers[2] = residues(core, mod, source), residues(core, mod, source)
        common = {"log2n": log2n, "mod": mod}
        program = [Insn("LOAD", TABLE, buf=0, **common), Insn("LOAD", last, buf=1, **common)]
        program += [Insn("LOAD", 2, buf=2, **common), Insn("NTT", 0, last, **common)]
        program += [Insn("STORE", a=0, buf=3, **common)]
        program += [Insn("INTT", 1, 0, log2n=log2n, mod=mod)] if log2n % 2 else [Insn("INTT", 0, 0, **common)]
        program += [Insn("STORE", a=log2n % 2, buf=4, **common), Insn("INTT", last, last, c=2, **common)]
        program += [Insn("STORE", a=last, buf=5, **common), Insn("NTT", 2, last, cyclic=1, **common)]
        program += [Insn("INTT", 2, 2, c=last, cyclic=1, **common), Insn("STORE", a=2, buf=6, **common)]
        await both(core, reference, program)


@cocotb.test()
async def check_pointwise(dut):
    """Each pointwise and copy instruction on extreme and random operands."""
    core, reference = await prepared(dut)
    build, source = core.build, random.Random(2)
    for mod in range(build.moduli):
        common = {"log2n": build.log2n, "mod": mod}
        core.buffers[1], core.buffers[2] = residues(core, mod, source), residues(core, mod, source)
        constants = [source.randrange(m) for m in core.moduli[mod]]
        await core.configure_constant(1, constants, mod)
        reference.constants[1] = constants
        load = [Insn("LOAD", 0, buf=1, **common), Insn("LOAD", 1, buf=2, **common)]
        cases = [
            Insn("PMODADD", 2, 0, 1, **common),
            Insn("PMODSUB", 2, 0, 1, **common),
            Insn("PMODMUL", 2, 0, 1, **common),
            Insn("PMODMUL", 2, 1, 1, **common),
            Insn("PMODSQR", 2, 1, **common),
            Insn("CMODMUL", 2, 0, const=1, **common),
            Insn("CMODMUL", 2, 0, c=1, const=1, **common),
            Insn("PMAC", 2, 0, 1, 0, **common),
            Insn("PMAC", 2, 0, ZERO, 1, **common),
            Insn("MEMCPY", 2, 1, **common),
            Insn("MEMCPYR", 2, 1, **common),
            Insn("PMUL", 2, 0, 1, 3, **common),
        ]
        program = load
        for number, insn in enumerate(cases):
            program = [*program, insn, Insn("STORE", a=2, buf=10 + number, **common)]
        program.append(Insn("STORE", a=3, buf=40, **common))
        await both(core, reference, program)


@cocotb.test(skip=not parameter("RnsRate", 0))
async def check_conversions(dut):
    """Every conversion at every n, from the zero slot, in place, onto single-port slots; beside the other units."""
    core, reference = await prepared(dut)
    build, source, last = core.build, random.Random(8), core.build.slots - 1
    core.stutter = True
    for mod in range(2):
        core.buffers[mod] = residues(core, mod, source)
    for log2n in range(build.log2n_min, build.log2n + 1):
        common = {"log2n": log2n}
        program, stores = [], iter(range(10, 90))

        def store(slot: int, stores=stores, common=common) -> Insn:
            return Insn("STORE", a=slot, buf=next(stores), **common)

        for number, (start, end, conversion) in enumerate(routes(core)):
            op, chosen = ("SCALE" if conversion.own else "LIFT"), common | {"const": number}
            kept = 3 if conversion.own else ZERO
            program += [Insn("LOAD", 2, buf=start, **common), Insn("LOAD", 3, buf=end, **common)]
            program += [Insn("LOAD", 1, buf=0, **common), Insn(op, last, 2, kept, **chosen)]
            # The other units work on other slots meanwhile.
            program += [Insn("PMODADD", 0, 1, 1, **common), store(1), store(0), store(last)]
            program += [Insn(op, 0, 2, ZERO, **chosen), store(0), Insn(op, 2, 2, kept, **chosen), store(2)]
            if conversion.own:
                program += [Insn(op, 1, ZERO, 3, **chosen), store(1), Insn(op, 3, 2, 3, **chosen), store(3)]
        await both(core, reference, program)


@cocotb.test(skip=not parameter("Moves", 0))
async def check_moves(dut):
    """Every automorphism and digit at every n, from the zero slot, in place, onto single-port slots."""
    core, reference = await prepared(dut)
    build, source, last = core.build, random.Random(9), core.build.slots - 1
    core.stutter = True
    for mod in range(2):
        core.buffers[mod] = residues(core, mod, source)
    assert {start == end for start, end, _ in digits(core)} >= {True}
    for log2n in range(build.log2n_min, build.log2n + 1):
        common = {"log2n": log2n}
        program, stores = [], iter(range(10, 90))

        def store(slot: int, stores=stores, common=common) -> Insn:
            return Insn("STORE", a=slot, buf=next(stores), **common)

        for number in range(len(elements(core))):
            chosen = common | {"const": number}
            program += [Insn("LOAD", 2, buf=1, **common), Insn("AUTO", last, 2, **chosen)]
            program += [Insn("PMODADD", 0, 2, ZERO, mod=1, **common), store(0), Insn("AUTO", 1, last, **chosen)]
            program += [store(last), store(1), Insn("AUTO", 3, ZERO, **chosen), store(3)]
        for number, (start, _, _) in enumerate(digits(core)):
            chosen = common | {"const": number}
            program += [Insn("LOAD", 2, buf=start, **common), Insn("DECOMP", last, 2, **chosen)]
            program += [Insn("PMODSUB", 0, 2, 2, mod=start, **common), store(last), store(0)]
            program += [Insn("DECOMP", 2, 2, **chosen), store(2), Insn("DECOMP", 1, ZERO, **chosen), store(1)]
        await both(core, reference, program)


@cocotb.test()
async def check_random_programs(dut):
    """Random programs leave the same memory as the reference, whatever overlaps."""
    core, reference = await prepared(dut)
    build, source = core.build, random.Random(int(os.environ.get("CORE_SEED", "3")))
    core.stutter = True
    for mod in range(build.moduli):
        for size in range(build.log2n_min, build.log2n + 1):
            core.table_buffer(1000 + 16 * mod + size, mod, 1 << size)
        for slot in range(build.slots):
            core.buffers[2000 + 16 * mod + slot] = residues(core, mod, source)
    constants = [
        source.randrange(min(core.moduli[i][lane] for i in range(build.moduli))) for lane in range(build.lanes)
    ]
    for _ in range(int(os.environ.get("CORE_PROGRAMS", "4"))):
        await core.configure_constant(1, constants, 0)
        start = [Insn("LOAD", TABLE, buf=1000 + build.log2n, log2n=build.log2n)]
        start += [Insn("LOAD", s, buf=2000 + s, log2n=build.log2n) for s in range(build.slots)]
        reference.constants[1] = constants
        program = random_program(core, source, 60)
        first = next((i for i in program if i.log2n), None)
        assert first is not None
        # Modulus 0 comes last: a program starts with it, and a shared table holds what was loaded last.
        fill = [
            Insn("LOAD", TABLE, buf=1000 + 16 * m + first.log2n, log2n=first.log2n, mod=m)
            for m in reversed(range(build.moduli))
        ]
        await both(core, reference, [*start, *fill, *program])


@cocotb.test()
async def check_moduli_in_turn(dut):
    """Instructions of two moduli directly behind each other, on slots of their own, at every n."""
    core, reference = await prepared(dut)
    build, source = core.build, random.Random(12)
    second = build.moduli - 1
    core.buffers[1], core.buffers[2] = residues(core, 0, source), residues(core, second, source)
    for log2n in range(build.log2n_min, build.log2n + 1):
        first, other = {"log2n": log2n}, {"log2n": log2n, "mod": second}
        program = [Insn("LOAD", 2, buf=1, **first), Insn("LOAD", 3, buf=2, **other)]
        program += [Insn("PMODADD", 0, 2, 2, **first), Insn("PMODMUL", 1, 3, 3, **other)]
        program += [Insn("STORE", a=slot, buf=10 + slot, log2n=log2n) for slot in range(2)]
        program += [Insn("PMODSUB", 1, ZERO, 3, **other), Insn("PMODSQR", 0, 2, **first)]
        program += [Insn("STORE", a=slot, buf=12 + slot, log2n=log2n) for slot in range(2)]
        await both(core, reference, program)


@cocotb.test()
async def check_latencies(dut):
    """Every instruction alone takes what spec/latency.yaml says, from start to last write."""
    core, _ = await prepared(dut)
    build = core.build
    cocotb.start_soon(core.trace())
    style, smallest = parameter("MulStyle", 1), parameter("ModMinBits", 5)
    pipe = formula("pipe_latency", build.kind, style, build.width, smallest, build.mont)
    apart = parameter("EnPointwise", 0)
    short = formula("pointwise_pipe", build.kind, style, build.width, smallest, build.mont) if apart else pipe
    shape = (build.kind, style, build.width, smallest, build.mont, build.p, build.rate)
    tail = formula("convert_pipe", *shape) if build.rate else 0
    index = core.pins["counters_o.retired"]
    for log2n in (build.log2n_min, build.log2n):
        core.table_buffer(0, 0, 1 << log2n)
        core.buffers[1] = residues(core, 0, random.Random(5))
        program = [Insn("LOAD", TABLE, buf=0, log2n=log2n), Insn("LOAD", 2, buf=1, log2n=log2n)]
        program += [Insn("NTT", 3, 2, log2n=log2n), Insn("INTT", 3, 3, c=2, log2n=log2n)]
        program += [Insn("PMODADD", 3, 2, 2, log2n=log2n), Insn("PMUL", 0, 2, 3, 1, log2n=log2n)]
        program += [Insn("MEMCPY", 3, 2, log2n=log2n), Insn("MEMCPYR", 3, 2, log2n=log2n)]
        expected = [None, None, formula("ntt", log2n, build.p, pipe), formula("intt", log2n, build.p, pipe)]
        expected += [formula("pointwise", log2n, build.p, short), formula("pmul", log2n, build.p, pipe)]
        expected += [formula("memcpy", log2n, build.p), formula("memcpyr", log2n)]
        for number, (_, _, conversion) in enumerate(routes(core) if build.rate else []):
            program.append(Insn("SCALE" if conversion.own else "LIFT", 3, 2, ZERO, log2n=log2n, const=number))
            expected.append(formula("convert", log2n, conversion.steps, build.rate, tail))
        if build.moves:
            program += [Insn("AUTO", 3, 2, log2n=log2n), Insn("DECOMP", 3, 2, log2n=log2n)]
            expected += [formula("move_words", log2n, build.p)] * 2
        for insn, cycles in zip(program, expected, strict=True):
            await core.run(insn)
            if cycles is not None:
                assert core.cycles_of(index) == cycles, insn
            index += 2  # the instruction and its SYNC


@cocotb.test()
async def check_errors(dut):
    """Each refusal: its code, the index and word of the instruction; clear_i makes the core usable again."""
    core, _ = await prepared(dut)
    build = core.build
    top = build.log2n
    core.buffers[0] = core.buffers[1] = residues(core, 0, random.Random(4))
    single = build.slots - 1
    cases = [
        (Insn("SYNC").word() | 0x3F, 1),
        (Insn("LOAD", 2, log2n=top + 1).word(), 2),
        (Insn("LOAD", 2, log2n=2).word(), 2),
        (Insn("LOAD", build.slots, log2n=top).word(), 3),
        (Insn("STORE", a=40, log2n=top).word(), 3),
        (Insn("PMODADD", ZERO, 2, 2, log2n=top).word(), 3),
        (Insn("PMODADD", 2, 2, 2, log2n=top, mod=build.moduli).word(), 4),
        (Insn("CMODMUL", 2, 2, log2n=top, const=build.consts).word(), 4),
        (Insn("PMODADD", single, single, 2, log2n=top).word(), 5),
        (Insn("INTT", 2, 2, c=0, log2n=top).word(), 5),
        (Insn("NTT", 0, 0 if top % 2 else 1, log2n=top).word(), 5),
        (Insn("MEMCPYR", 2, 2, log2n=top).word(), 5),
        (Insn("PMUL", 2, 3, 3, 2, log2n=top).word(), 5),
        (Insn("PMODADD", 2, 0, 2, log2n=top).word(), 6),
    ]
    if build.rate:
        cases += [
            (Insn("LIFT", build.slots, 2, log2n=top).word(), 3),
            (Insn("LIFT", 2, 2, log2n=top, const=5).word(), 4),
            (Insn("LIFT", 2, 2, log2n=top, const=3).word(), 4),
            (Insn("SCALE", 2, 2, 3, log2n=top).word(), 4),
            (Insn("SCALE", 3, 2, 2, log2n=top, const=3).word(), 5),
            (Insn("LIFT", single, single, log2n=top).word(), 5),
            (Insn("LIFT", 2, 3, log2n=top).word(), 6),
        ]
    else:
        cases.append((Insn("LIFT", 2, 2, log2n=top).word(), 1))
    if build.moves:
        cases += [
            (Insn("AUTO", build.slots, 2, log2n=top).word(), 3),
            (Insn("AUTO", 3, 2, log2n=top, const=3).word(), 4),
            (Insn("DECOMP", 3, 2, log2n=top, const=31).word(), 4),
            (Insn("AUTO", 2, 2, log2n=top).word(), 5),
            (Insn("DECOMP", single, single, log2n=top).word(), 5),
            (Insn("AUTO", 2, 3, log2n=top).word(), 6),
        ]
    else:
        cases += [(Insn(op, 3, 2, log2n=top).word(), 1) for op in ("AUTO", "DECOMP")]
    for word, code in cases:
        if build.moduli == 16 and code == 4:
            continue
        await core.push(Insn("LOAD", 2, buf=0, log2n=top))
        await core.push(raw=word)
        for _ in range(4 * (build.lanes << top) + 200):
            await FallingEdge(dut.clk_i)
            if int(dut.error_o.value) and not int(dut.busy_o.value):
                break
        assert (int(dut.error_o.value), core.failure()) == (1, (code, 1, word)), hex(word)
        dut.clear_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        await FallingEdge(dut.clk_i)
        assert not int(dut.error_o.value)
        await core.run(Insn("LOAD", 2, buf=1, log2n=top))
        dut.clear_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0


async def stopped(core: Core) -> tuple[int, int, int]:
    """Wait until an error has stopped the core: its code, and the index and word of its instruction."""
    dut = core.dut
    for _ in range(8 * (core.build.lanes << core.build.log2n) + 400):
        await FallingEdge(dut.clk_i)
        if int(dut.error_o.value) and not int(dut.busy_o.value):
            return core.failure()
    raise AssertionError("no error stops the core")


async def cleared(core: Core) -> None:
    """Clear the error; the core works again."""
    core.dut.clear_i.value = 1
    await FallingEdge(core.dut.clk_i)
    core.dut.clear_i.value = 0
    await core.run(Insn("LOAD", 2, buf=0, log2n=core.build.log2n))
    core.dut.clear_i.value = 1
    await FallingEdge(core.dut.clk_i)
    core.dut.clear_i.value = 0


@cocotb.test(skip=not parameter("EnStream", 0))
async def check_stream(dut):
    """A streamed operand: at every n, on a slow port, in place, beside the other units; and how it goes wrong."""
    core, reference = await prepared(dut)
    build, top = core.build, core.build.log2n
    for mod in range(2):
        core.buffers[mod] = residues(core, 0, random.Random(20 + mod))
    core.table_buffer(2, 0, 1 << top)
    for stutter in (False, True):
        core.stutter = stutter
        for log2n in range(build.log2n_min, top + 1):
            common = {"log2n": log2n}
            load = Insn("LOAD", STREAM, buf=0, **common)
            program = [Insn("LOAD", 2, buf=1, **common), Insn("LOAD", TABLE, buf=2, log2n=top)]
            program += [load, Insn("PMODMUL", 3, 2, STREAM, **common), Insn("STORE", a=3, buf=10, **common)]
            # In place, behind a transform, whose result it reads; a load follows at once.
            program += [Insn("NTT", 2, 2, log2n=top)] if log2n == top else []
            program += [load, Insn("PMAC", 2, 2, STREAM, 3, **common), Insn("LOAD", 1, buf=0, **common)]
            program += [load, Insn("PMODADD", 0, 1, 2, **common), Insn("PMAC", 0, 1, STREAM, 0, **common)]
            program += [load, Insn("PMAC", 1, 0, STREAM, 2, **common), load, Insn("PMODMUL", 1, 1, STREAM, **common)]
            program += [Insn("STORE", a=slot, buf=11 + slot, **common) for slot in (0, 1, 2)]
            await both(core, reference, program)
    core.stutter = False
    await cleared(core)
    common = {"log2n": top}
    read, load = Insn("PMODMUL", 3, 2, STREAM, **common), Insn("LOAD", STREAM, buf=0, **common)
    other = Insn("PMODMUL", 3, 2, STREAM, log2n=top - 1)
    cases = [
        ((read,), 6, 0),
        ((load, load), 5, 1),
        ((load, Insn("STORE", a=2, buf=5, **common)), 5, 1),
        ((load, Insn("SYNC")), 5, 1),
        *([((load, other), 5, 1)] if top > build.log2n_min else []),
        ((load, read, read), 6, 2),
        ((Insn("PMODADD", 3, 2, STREAM, **common),), 3, 0),
        ((Insn("PMAC", 3, STREAM, 2, 2, **common),), 3, 0),
        ((Insn("PMODMUL", STREAM, 2, 2, **common),), 3, 0),
    ]
    for program, code, index in cases:
        await core.push(Insn("LOAD", 2, buf=1, **common), *program)
        assert await stopped(core) == (code, index + 1, program[index].word()), program
        await cleared(core)
    # A fault of the host in the middle: the LOAD's code and place; what reads it ends, what follows never starts.
    core.load_error = 3
    await core.push(load, Insn("LOAD", 1, buf=1, **common))
    assert (await stopped(core))[0] == 5
    await cleared(core)
    await core.push(Insn("LOAD", 2, buf=1, **common))
    while core.pins["counters_o.retired"] == 0:
        await FallingEdge(dut.clk_i)
    core.load_error = 3
    await core.push(load, read, Insn("STORE", a=3, buf=7, **common))
    assert await stopped(core) == (7, 1, load.word())
    assert 7 not in core.buffers
    await cleared(core)


@cocotb.test()
async def check_transfer_errors(dut):
    """A transfer that the host reports as failed: code 7 with its own index, also when others were issued behind it."""
    core, _ = await prepared(dut)
    passes = 1 if core.build.wide else core.build.lanes
    top, count = core.build.log2n, passes * (1 << core.build.log2n) // core.build.p
    core.buffers[0] = residues(core, 0, random.Random(6))
    common = {"log2n": top}
    for word in (0, count // 2, count - 1):
        load = Insn("LOAD", 3, buf=0, **common)
        await core.push(Insn("LOAD", 2, buf=0, **common))
        while core.pins["counters_o.retired"] == 0:
            await FallingEdge(dut.clk_i)
        core.load_error = word
        # The sum is issued while the LOAD runs, and finishes; what needs the slot never starts.
        await core.push(load, Insn("PMODADD", 2, 2, 2, **common), Insn("PMODADD", 2, 3, 2, **common))
        assert await stopped(core) == (7, 1, load.word()), word
        assert core.pins["counters_o.retired"] == 2
        await cleared(core)
    store = Insn("STORE", a=2, buf=1, **common)
    core.store_error = True
    await core.push(Insn("LOAD", 2, buf=0, **common), Insn("MEMCPY", 3, 2, **common), store, Insn("SYNC"))
    assert await stopped(core) == (7, 2, store.word())
    assert core.pins["counters_o.retired"] == 2
    await cleared(core)


@cocotb.test()
async def check_overflow(dut):
    """A push into the full queue: code 8, and the command is lost; what runs finishes."""
    core, _ = await prepared(dut)
    top, depth = core.build.log2n, parameter("FifoDepth", 16)
    core.buffers[0], core.hold = residues(core, 0, random.Random(7)), True
    load = Insn("LOAD", 2, buf=0, log2n=top)
    # One runs, one waits at the head, the rest fills the queue.
    await core.push(load, load, *[Insn("SYNC")] * depth)
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    assert (int(dut.cmd_ready_o.value), int(dut.cmd_level_o.value), int(dut.error_o.value)) == (0, depth, 0)
    dut.cmd_i.value, dut.cmd_valid_i.value = Insn("SYNC").word(), 1
    await FallingEdge(dut.clk_i)
    dut.cmd_valid_i.value, core.hold = 0, False
    assert (await stopped(core))[0] == 8
    assert core.pins["counters_o.retired"] == 1
    await cleared(core)


RNS = {"RnsRate": 4, "RnsConversions": 6, "RnsEntries": 32}
BUILDS = [
    {"W": 40, "P": 1, "Lanes": 3, "NMaxLog2": 6, "MulStyle": 0, "SinglePort": 24},
    {"W": 32, "P": 4, "NMaxLog2": 8, "MulKind": 1, "MontW": 9, "MulStyle": 1},
    {
        "W": 30,
        "P": 2,
        "Lanes": 3,
        "NMaxLog2": 5,
        "MulStyle": 1,
        "MulKind": 1,
        "MontW": 8,
        "MontSteps": 2,
        "ModMinBits": 14,
    }
    | RNS,
]
# Moves, beside base conversion.
BUILDS += [{"W": 30, "P": 4, "Lanes": 3, "NMaxLog2": 6, "MulStyle": 0, "ModMinBits": 14, "Moves": 16} | RNS]
# A word of every lane at a time: one small build, then lanes and P.
BUILDS += [{"W": 16, "P": 2, "Lanes": 3, "NMaxLog2": 5, "MulStyle": 0, "WidePort": 1}]
# A streamed operand.
BUILDS += [{"W": 16, "P": 2, "Lanes": 2, "NMaxLog2": 6, "MulStyle": 0, "WidePort": 1, "EnStream": 1} | RNS]
# Pointwise instructions in a unit of their own, beside all others; with a streamed operand.
BUILDS += [
    {"W": 16, "P": 2, "Lanes": 2, "NMaxLog2": 6, "MulStyle": 0, "EnPointwise": 1, "Slots": 7, "SinglePort": 64} | RNS,
    {"W": 30, "P": 4, "Lanes": 1, "NMaxLog2": 6, "MulStyle": 1, "MulKind": 1, "ModMinBits": 14, "EnPointwise": 1}
    | {"WidePort": 1, "EnStream": 1, "Moves": 8, "Slots": 8, "SinglePort": 128},
]
# The remaining P, transforms only.
WIDER = [{"W": 14, "P": p, "NMaxLog2": 7, "MulStyle": 0, "TwTables": 1, "Moduli": 1} for p in (8, 16, 32)]
# Every P, n from 8 on, both reductions, all styles; then all n up to 2^15.
MATRIX = [
    {"W": w, "P": p, "NMaxLog2": max(5, p.bit_length() + 3), "MulStyle": style, "MulKind": kind}
    for w, style in ((14, 1), (60, 1), (64, 2), (109, 0))
    for p in (1, 2, 4, 8, 16, 32)
    for kind in (0, 1)
    if kind == 0 or w > 14
] + [{"W": 128, "P": 8, "NMaxLog2": 7, "MulStyle": 0, "TwTables": 1}, {"W": 30, "P": 2, "NMaxLog2": 6, "MulStyle": 1}]
# Base conversion at every rate, both reductions, P below and above the rate.
MATRIX += [
    {"W": w, "P": p, "Lanes": lanes, "NMaxLog2": 6, "MulStyle": style, "MulKind": kind, "ModMinBits": 14} | RNS | rate
    for (w, style, lanes), p, kind in (
        ((20, 0, 2), 1, 0),
        ((30, 1, 7), 2, 1),
        ((60, 2, 3), 8, 0),
        ((64, 0, 4), 4, 1),
    )
    for rate in ({"RnsRate": 1}, {"RnsRate": 2, "RnsEntries": 64}, {"RnsRate": 4, "RnsEntries": 64})
    if lanes < 5 or rate["RnsRate"] > 1
]
MATRIX += [
    {"W": w, "P": p, "Lanes": lanes, "NMaxLog2": 6, "MulStyle": 0, "WidePort": 1}
    for w, p, lanes in (
        (14, 1, 8),
        (14, 1, 15),
        (30, 2, 7),
        (30, 4, 6),
        (64, 8, 5),
        (40, 1, 4),
        (128, 2, 2),
        (60, 4, 1),
    )
]
MATRIX += [
    {"W": w, "P": p, "Lanes": lanes, "NMaxLog2": 7, "MulStyle": 1, "MulKind": kind, "WidePort": 1, "EnStream": 1}
    for w, p, lanes, kind in ((14, 1, 8, 0), (30, 4, 7, 1), (60, 8, 2, 1), (40, 32, 1, 0))
]
MATRIX += [
    {"W": w, "P": p, "Lanes": lanes, "NMaxLog2": 7, "MulStyle": 0, "MulKind": kind, "Moves": moves, "ModMinBits": 14}
    for w, p, lanes, kind, moves in (
        (14, 1, 1, 0, 4),
        (30, 2, 8, 1, 32),
        (30, 2, 15, 1, 4),
        (54, 8, 8, 1, 16),
        (64, 32, 2, 0, 8),
    )
] + [{"W": 24, "P": 1, "Lanes": 10, "NMaxLog2": 5, "MulStyle": 0, "Moves": 8}]
MATRIX += [
    {"W": w, "P": p, "Lanes": lanes, "NMaxLog2": 7, "MulStyle": style, "MulKind": kind}
    | {"EnPointwise": 1, "Slots": 9, "SinglePort": 336}
    for w, p, lanes, style, kind in ((14, 1, 8, 0, 0), (30, 2, 3, 1, 1), (60, 8, 2, 2, 0), (54, 16, 1, 1, 1))
]
LARGE = [{"W": w, "P": p, "NMaxLog2": 15, "MulStyle": 0} for w, p in ((32, 1), (60, 4), (30, 32))]
BASE = {"SinglePort": 16, "Slots": 5, "Moduli": 2, "TwTables": 2, "Consts": 4}


@pytest.mark.parametrize(
    ("build", "programs"),
    [*((b, 4) for b in BUILDS), *(pytest.param(b, 20, marks=pytest.mark.slow) for b in MATRIX)],
    ids=str,
)
def test_core(build, programs):
    run_checks("rs_core", BASE | build, env={"CORE_PROGRAMS": str(programs)}, optimise="-O1" if programs > 4 else "-O0")


@pytest.mark.parametrize(
    "build", [WIDER[0], *(pytest.param(b, marks=pytest.mark.slow) for b in (*WIDER[1:], *LARGE))], ids=str
)
def test_transforms(build):
    run_checks("rs_core", BASE | build, checks="check_transforms", optimise="-O1" if build in LARGE else "-O0")


def test_fewest_slots():
    build = {"W": 16, "P": 2, "NMaxLog2": 5, "MulStyle": 0, "Slots": 3, "SinglePort": 4}
    run_checks("rs_core", BASE | build, checks="check_random_programs", env={"CORE_PROGRAMS": "4"})


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"W": 13}, "W (word_bits) must be 14..128"),
        ({"P": 3}, "P (butterflies) must be 1, 2, 4, 8, 16 or 32"),
        ({"NMaxLog2": 16}, "n_max must be a power of two from 8 to 32768"),
        ({"P": 32}, "n_max must be at least 4 * butterflies = 128"),
        ({"Slots": 33}, "Slots (slots) must be 3..32"),
        ({"SinglePort": 17}, "must be 0 in its two lowest bits, which are the work slots"),
        ({"Lanes": 16}, "Lanes (lanes) must be 1..15"),
        ({"TwTables": 3}, "TwTables (twiddle_tables) must be 1 or moduli_slots"),
        ({"Moduli": 17, "TwTables": 1}, "Moduli (moduli_slots) must be 1..16"),
        ({"Consts": 33}, "Consts (constants) must be 1..32"),
        ({"RnsRate": 3}, "RnsRate (rns_rate) must be 0, 1, 2 or 4"),
        ({"Moves": 5}, "Moves (moves) must be 0, 4, 8, 16 or 32"),
        ({"Moves": 4, "W": 65}, "W (word_bits) must be at most 64 with moves between lanes"),
        ({"RnsRate": 2, "W": 65}, "W (word_bits) must be at most 64 with base conversion"),
        ({"ModMinBits": 33}, "ModMinBits (modulus_bits_min) must be 5..word_bits = 32"),
        ({"MulKind": 1, "MontW": 31}, "MontW must be from 2 to W - 2"),
    ],
)
def test_refused(parameters, words):
    assert any(words in line for line in lint("rs_core", parameters))
