# SPDX-License-Identifier: Apache-2.0
"""Programs for `rs_core`: constants of base conversion and of moves, the rules of a program, random ones."""

from __future__ import annotations

import random

from dv.conversion import Conversion
from dv.core import Build, Core
from dv.instructions import OPCODES, STREAM, TABLE, ZERO, Insn
from dv.moves import Digit


def elements(core: Core) -> list[int]:
    """Automorphisms: a rotation, a conjugation, one beyond 2n."""
    return [5, (2 << core.build.log2n) - 1, 40961]


def digits(core: Core) -> list[tuple[int, int, Digit]]:
    """Digits within a modulus index and between two, from and to: one lane to all, lanes in turn."""
    lanes, found = core.build.lanes, []
    for start, end in ((0, 0), (1, 1), (0, 1), (1, 0)):
        q, p = core.moduli[start], core.moduli[end]
        for sources in ([0] * lanes, [lanes - 1] * lanes, [(lane + 1) % lanes for lane in range(lanes)]):
            primes = [q[source] for source in sources]
            if all(prime < 2 * target for prime, target in zip(primes, p, strict=True)):
                found.append((start, end, Digit(tuple(sources), tuple(primes), tuple(p))))
    return found[: core.build.moves]


def routes(core: Core) -> list[tuple[int, int, Conversion]]:
    """Base conversions between the modulus indices, from and to: two lifts, a digit, a scaling, a division."""
    q, p = (tuple(row) for row in core.moduli[:2])
    last = core.build.lanes - 1
    assert core.build.moduli == 2
    assert not set(q) & set(p)
    return [
        (0, 1, Conversion(q, p)),
        (1, 0, Conversion(p, q)),
        (0, 0, Conversion(q[last:], q, first=last)),
        (0, 1, Conversion(q, p, 33)),
        (1, 0, Conversion(p[last:], q, 1, first=last)),
    ]


def single(build: Build, slot: int) -> bool:
    """Whether a slot has one port."""
    return build.single >> slot & 1 == 1


def legal(build: Build, insn: Insn, written: set[int]) -> bool:
    """The rules of docs/hardware.md that a program must keep."""
    reads = {
        "NTT": (insn.a,),
        "INTT": (insn.a, insn.c),
        "PMODSQR": (insn.a,),
        "CMODMUL": (insn.a, insn.c),
        "PMAC": (insn.a, insn.b, insn.c),
    }
    used = reads.get(insn.op, (insn.a, insn.b) if OPCODES[insn.op] < 16 else (insn.a,))
    if insn.op in ("LIFT", "SCALE"):
        used = (insn.a, insn.b)
    if insn.op == "AUTO" and insn.dst == insn.a:
        return False
    if any(s not in (ZERO, STREAM) and s not in written for s in used):
        return False
    if insn.op == "SCALE" and insn.a == insn.b:
        return False
    # The form of the only constant of a random program belongs to modulus 0.
    if insn.op == "CMODMUL" and build.kind and insn.mod:
        return False
    if insn.op in ("NTT", "INTT"):
        if insn.op == "INTT" and (insn.c < 2 or (insn.c == insn.dst and single(build, insn.dst))):
            return False
        if insn.dst < 2 and insn.a < 2:
            return (insn.dst == insn.a) == (insn.log2n % 2 == 0)
        return True
    if (
        insn.op in ("MEMCPYR", "PMUL")
        and insn.dst in (insn.a, insn.c)
        and ((insn.op == "MEMCPYR" and insn.dst == insn.a) or insn.dst == insn.c)
    ):
        return False
    results = (insn.dst, insn.c) if insn.op == "PMUL" else (insn.dst,)
    return not any(single(build, s) and s in used for s in results)


def random_program(core: Core, source: random.Random, length: int) -> list[Insn]:
    """A program that keeps the rules, with as many hazards as chance gives: few slots, both units busy."""
    build, written, program = core.build, set(range(core.build.slots)), []
    # The modulus index whose residues a slot holds, up to the size of the time: base conversions change it.
    held = dict.fromkeys(written, 0)
    units = ("LIFT", "SCALE", "AUTO", "DECOMP")
    kinds = [o for o in OPCODES if o not in ("SYNC", "PMUL", *units)] + ["NTT", "INTT", "PMAC", "PMODMUL"]
    kinds += ["LIFT", "LIFT", "SCALE", "SCALE"] if build.rate else []
    kinds += ["AUTO", "AUTO", "DECOMP", "DECOMP"] if build.moves else []
    sizes = range(build.log2n_min, build.log2n + 1)
    size, mod = source.choice(list(sizes)), 0
    stores = 100

    def any_slot() -> int:
        return source.randrange(build.slots)

    def maybe() -> int:
        return ZERO if source.random() < 0.3 else any_slot()

    while len(program) < length:
        if source.random() < 0.08:
            size, mod = source.choice(list(sizes)), source.randrange(build.moduli)
            # Slots hold residues of one modulus at a time, and one size of table.
            program += [Insn("LOAD", TABLE, buf=1000 + 16 * mod + size, log2n=size, mod=mod)]
            for slot in range(build.slots):
                program.append(Insn("LOAD", slot, buf=2000 + 16 * mod + slot, log2n=build.log2n, mod=mod))
            written = set(range(build.slots))
            held = dict.fromkeys(written, mod)
            continue
        op = source.choice(kinds)
        if op == "LOAD":
            insn = Insn(op, any_slot(), buf=2000 + 16 * mod + any_slot(), log2n=size, mod=mod)
            written.add(insn.dst)
            held[insn.dst] = mod
        elif op in ("LIFT", "SCALE"):
            number = source.choice([i for i, route in enumerate(routes(core)) if route[2].own == (op == "SCALE")])
            start, end, _ = routes(core)[number]
            insn = Insn(op, any_slot(), maybe(), maybe() if op == "SCALE" else ZERO, log2n=size, const=number)
            fits = held.get(insn.a, start) == start and held.get(insn.b, end) == end
            if not fits or not legal(build, insn, written):
                continue
            written.add(insn.dst)
            held[insn.dst] = end
        elif op == "AUTO":
            insn = Insn(op, any_slot(), maybe(), log2n=size, const=source.randrange(len(elements(core))))
            if not legal(build, insn, written):
                continue
            written.add(insn.dst)
            held[insn.dst] = held.get(insn.a, held[insn.dst])
        elif op == "DECOMP":
            number = source.randrange(len(digits(core)))
            start, end, _ = digits(core)[number]
            insn = Insn(op, any_slot(), maybe(), log2n=size, const=number)
            if held.get(insn.a, start) != start or not legal(build, insn, written):
                continue
            written.add(insn.dst)
            held[insn.dst] = end
        elif op == "STORE":
            stores += 1
            insn = Insn(op, a=any_slot(), buf=stores, log2n=size)
            if insn.a not in written:
                continue
        else:
            third = maybe() if op in ("PMAC", "INTT", "CMODMUL") else ZERO
            second = any_slot() if op in ("PMODADD", "PMODSUB", "PMODMUL", "PMAC") else ZERO
            streamed = build.stream and op in ("PMODMUL", "PMAC") and source.random() < 0.5
            second = STREAM if streamed else second
            cyclic = source.randrange(2) if op in ("NTT", "INTT") else 0
            insn = Insn(op, any_slot(), any_slot(), second, third, log2n=size, mod=mod, cyclic=cyclic, const=1)
            modular = op not in ("MEMCPY", "MEMCPYR")
            operands = [s for s in (insn.a, insn.b, insn.c) if s not in (ZERO, STREAM)]
            if not legal(build, insn, written) or (modular and any(held[s] != mod for s in operands)):
                continue
            held[insn.dst] = mod if modular else held.get(insn.a, held[insn.dst])
            if streamed:
                program.append(Insn("LOAD", STREAM, buf=2000 + 16 * mod + any_slot(), log2n=size))
                # Work of the compute unit may stand between the two.
                if source.random() < 0.5:
                    program.append(Insn("PMODADD", insn.a, insn.a, ZERO, log2n=size, mod=mod))
                    if single(build, insn.a):
                        program.pop()
            if op in ("NTT", "INTT"):
                written -= {0, 1}
            written.add(insn.dst)
        program.append(insn)
    # A transform leaves what lies beyond its n in the work slots undefined.
    return program + [Insn("STORE", a=s, buf=900 + s, log2n=size if s < 2 else build.log2n) for s in sorted(written)]
