# SPDX-License-Identifier: Apache-2.0
"""Programs for `rs_core`: constants of base conversion and of moves, the rules of a program, random ones."""

from __future__ import annotations

import random
from collections.abc import Sized

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


class Draw:
    """A program as it is drawn: which slots hold something, and of which modulus index."""

    def __init__(self, core: Core, source: random.Random) -> None:
        """Start with every slot written, with residues of modulus index 0."""
        self.core, self.build, self.source = core, core.build, source
        self.sizes = list(range(self.build.log2n_min, self.build.log2n + 1))
        self.written = set(range(self.build.slots))
        # The modulus index whose residues a slot holds, up to the size of the time: base conversions change it.
        self.held = dict.fromkeys(self.written, 0)
        self.size, self.mod, self.stores = source.choice(self.sizes), 0, 100

    def slot(self) -> int:
        """Any slot."""
        return self.source.randrange(self.build.slots)

    def maybe(self) -> int:
        """Any slot, or zero."""
        return ZERO if self.source.random() < 0.3 else self.slot()

    def kinds(self) -> list[str]:
        """The instructions of the build, some of them more often."""
        units = ("LIFT", "SCALE", "AUTO", "DECOMP")
        kinds = [o for o in OPCODES if o not in ("SYNC", "PMUL", *units)] + ["NTT", "INTT", "PMAC", "PMODMUL"]
        kinds += ["LIFT", "LIFT", "SCALE", "SCALE"] if self.build.rate else []
        return kinds + (["AUTO", "AUTO", "DECOMP", "DECOMP"] if self.build.moves else [])

    def other_modulus(self) -> list[Insn]:
        """Load the table of another size and modulus, and every slot: each holds residues of one modulus at a time."""
        self.size, self.mod = self.source.choice(self.sizes), self.source.randrange(self.build.moduli)
        size, mod, log2n = self.size, self.mod, self.build.log2n
        self.written = set(range(self.build.slots))
        self.held = dict.fromkeys(self.written, mod)
        loads = [Insn("LOAD", slot, buf=2000 + 16 * mod + slot, log2n=log2n, mod=mod) for slot in self.written]
        return [Insn("LOAD", TABLE, buf=1000 + 16 * mod + size, log2n=size, mod=mod), *loads]

    def of_kind(self, op: str) -> list[Insn]:
        """An instruction, with the load that it needs; nothing where the one that was drawn breaks a rule."""
        match op:
            case "LOAD":
                return self.load()
            case "LIFT" | "SCALE":
                return self.conversion(op)
            case "AUTO":
                insn = Insn(op, self.slot(), self.maybe(), log2n=self.size, const=self.below(elements(self.core)))
                return self.kept(insn, self.held.get(insn.a, self.held[insn.dst]))
            case "DECOMP":
                return self.digit()
            case "STORE":
                self.stores += 1
                insn = Insn(op, a=self.slot(), buf=self.stores, log2n=self.size)
                return [insn] if insn.a in self.written else []
        return self.computed(op)

    def below(self, known: Sized) -> int:
        """A number of one of those known."""
        return self.source.randrange(len(known))

    def kept(self, insn: Insn, index: int) -> list[Insn]:
        """The instruction, whose result is of a modulus index, if it is legal."""
        if not legal(self.build, insn, self.written):
            return []
        self.written.add(insn.dst)
        self.held[insn.dst] = index
        return [insn]

    def load(self) -> list[Insn]:
        """A polynomial of the modulus."""
        insn = Insn("LOAD", self.slot(), buf=2000 + 16 * self.mod + self.slot(), log2n=self.size, mod=self.mod)
        self.written.add(insn.dst)
        self.held[insn.dst] = self.mod
        return [insn]

    def conversion(self, op: str) -> list[Insn]:
        """A lift or a scaling, of operands of its moduli."""
        known = routes(self.core)
        number = self.source.choice([i for i, route in enumerate(known) if route[2].own == (op == "SCALE")])
        start, end, _ = known[number]
        slots = (self.slot(), self.maybe(), self.maybe() if op == "SCALE" else ZERO)
        insn = Insn(op, *slots, log2n=self.size, const=number)
        fits = self.held.get(insn.a, start) == start and self.held.get(insn.b, end) == end
        return self.kept(insn, end) if fits else []

    def digit(self) -> list[Insn]:
        """A digit of an operand of its modulus."""
        known = digits(self.core)
        number = self.below(known)
        start, end, _ = known[number]
        insn = Insn("DECOMP", self.slot(), self.maybe(), log2n=self.size, const=number)
        return self.kept(insn, end) if self.held.get(insn.a, start) == start else []

    def computed(self, op: str) -> list[Insn]:
        """A transform, a pointwise operation or a copy, behind the load of an operand that is streamed."""
        third = self.maybe() if op in ("PMAC", "INTT", "CMODMUL") else ZERO
        second = self.slot() if op in ("PMODADD", "PMODSUB", "PMODMUL", "PMAC") else ZERO
        streamed = self.build.stream and op in ("PMODMUL", "PMAC") and self.source.random() < 0.5
        second = STREAM if streamed else second
        cyclic = self.source.randrange(2) if op in ("NTT", "INTT") else 0
        size, mod = self.size, self.mod
        insn = Insn(op, self.slot(), self.slot(), second, third, log2n=size, mod=mod, cyclic=cyclic, const=1)
        modular = op not in ("MEMCPY", "MEMCPYR")
        operands = [s for s in (insn.a, insn.b, insn.c) if s not in (ZERO, STREAM)]
        if not legal(self.build, insn, self.written) or (modular and any(self.held[s] != mod for s in operands)):
            return []
        self.held[insn.dst] = mod if modular else self.held.get(insn.a, self.held[insn.dst])
        before = self.streamed(insn) if streamed else []
        if op in ("NTT", "INTT"):
            self.written -= {0, 1}
        self.written.add(insn.dst)
        return [*before, insn]

    def streamed(self, insn: Insn) -> list[Insn]:
        """The load of an operand that is streamed; work of the compute unit may stand behind it."""
        found = [Insn("LOAD", STREAM, buf=2000 + 16 * self.mod + self.slot(), log2n=self.size)]
        if self.source.random() < 0.5 and not single(self.build, insn.a):
            found.append(Insn("PMODADD", insn.a, insn.a, ZERO, log2n=self.size, mod=self.mod))
        return found


def random_program(core: Core, source: random.Random, length: int) -> list[Insn]:
    """A program that keeps the rules, with as many hazards as chance gives: few slots, both units busy."""
    draw, program = Draw(core, source), list[Insn]()
    kinds = draw.kinds()
    while len(program) < length:
        program += draw.other_modulus() if source.random() < 0.08 else draw.of_kind(source.choice(kinds))
    # A transform leaves what lies beyond its n in the work slots undefined.
    size, log2n = draw.size, core.build.log2n
    return program + [Insn("STORE", a=s, buf=900 + s, log2n=size if s < 2 else log2n) for s in sorted(draw.written)]
