# SPDX-License-Identifier: Apache-2.0
"""The effect of a program on the slots and buffers of `rs_core`: the instruction set's semantics on lists."""

from __future__ import annotations

from dv import oracle
from dv.core import Core
from dv.instructions import STREAM, TABLE, ZERO, Insn
from dv.moves import permuted


class Reference:
    """Functional model of a program on lists: the instruction set's semantics, nothing of the schedule."""

    def __init__(self, core: Core) -> None:
        """Start with empty slots and buffers."""
        self.core, self.build = core, core.build
        # The stream is one of them until it is read.
        self.slots: dict[int, list[list[int]]] = {}
        self.buffers: dict[int, list[list[int]]] = {}
        self.table: dict[int, list[list[int]]] = {}
        self.constants: dict[int, list[int]] = {}

    def read(self, slot: int, n: int) -> list[list[int]]:
        """A slot's first n coefficients in every lane."""
        if slot == ZERO:
            return [[0] * n for _ in range(self.build.lanes)]
        if slot == STREAM:
            return self.slots.pop(STREAM)
        return [row[:n] for row in self.slots[slot]]

    def write(self, slot: int, rows: list[list[int]], n: int) -> None:
        """Replace a slot's first n coefficients."""
        old = self.slots.get(slot) or [[0] * (1 << self.build.log2n) for _ in range(self.build.lanes)]
        self.slots[slot] = [[*new, *before[n:]] for new, before in zip(rows, old, strict=True)]

    def execute(self, insn: Insn) -> None:
        """Execute one instruction."""
        n = 1 << insn.log2n
        if insn.op == "LOAD":
            rows = [row[:n] for row in self.buffers[insn.buf]]
            if insn.dst == TABLE:
                self.table[insn.mod if self.build.tables > 1 else 0] = rows
            elif insn.dst == STREAM:
                self.slots[STREAM] = rows
            else:
                self.write(insn.dst, rows, n)
        elif insn.op == "STORE":
            self.buffers[insn.buf] = self.read(insn.a, n)
        elif insn.op in ("LIFT", "SCALE"):
            self._convert(insn, n)
        elif insn.op == "AUTO":
            rows = [permuted(row, self.core.automorphisms[insn.const]) for row in self.read(insn.a, n)]
            self.write(insn.dst, rows, n)
        elif insn.op == "DECOMP":
            self.write(insn.dst, self.core.digits[insn.const].defined(self.read(insn.a, n)), n)
        elif insn.op != "SYNC":
            self._lanes(insn, n)

    def _convert(self, insn: Insn, n: int) -> None:
        conversion = self.core.conversions[insn.const]
        first, count = conversion.first, len(conversion.source)
        x = zip(*self.read(insn.a, n)[first : first + count], strict=True)
        kept = zip(*self.read(insn.b, n)[: len(conversion.target)], strict=True)
        padding = [0] * (self.build.lanes - len(conversion.target))
        rows = [[*conversion.defined(residues, own), *padding] for residues, own in zip(x, kept, strict=True)]
        self.write(insn.dst, [list(row) for row in zip(*rows, strict=True)], n)

    def _lanes(self, insn: Insn, n: int) -> None:
        a, b, c = (self.read(s, n) for s in (insn.a, insn.b, ZERO if insn.op == "PMUL" else insn.c))
        low, high = [], []
        for lane in range(self.build.lanes):
            result = self._lane(insn, n, lane, a[lane], b[lane], c[lane])
            low.append([x & (1 << self.build.width) - 1 for x in result])
            high.append([x >> self.build.width for x in result])
        if insn.op in ("NTT", "INTT"):
            for work in (0, 1):
                self.slots.pop(work, None)
        self.write(insn.dst, low, n)
        if insn.op == "PMUL":
            self.write(insn.c, high, n)

    def _lane(self, insn: Insn, n: int, lane: int, a: list[int], b: list[int], c: list[int]) -> list[int]:
        m = self.core.moduli[insn.mod][lane]
        inverse = pow(self.build.radix(m), -1, m)
        if insn.op in ("NTT", "INTT"):
            loaded = self.table[insn.mod if self.build.tables > 1 else 0][lane]
            # Entry n/2 is psi itself; the others follow from it.
            psi = loaded[n // 2] * inverse % m
            if insn.op == "NTT":
                return oracle.forward(a, psi, m, cyclic=bool(insn.cyclic))
            back = oracle.inverse(a, psi, m, cyclic=bool(insn.cyclic))
            return [(x + y) % m for x, y in zip(back, c, strict=True)]
        if insn.op in ("MEMCPY", "MEMCPYR"):
            return [a[oracle.bit_reverse(i, insn.log2n)] for i in range(n)] if insn.op == "MEMCPYR" else a
        constant = self.constants.get(insn.const, [0] * self.build.lanes)[lane]
        rules = {
            "PMODADD": lambda x, y, z: (x + y) % m,
            "PMODSUB": lambda x, y, z: (x - y) % m,
            "PMODMUL": lambda x, y, z: x * y * inverse % m,
            "PMODSQR": lambda x, y, z: x * x * inverse % m,
            "CMODMUL": lambda x, y, z: (x * constant + z) % m,
            "PMAC": lambda x, y, z: (x * y * inverse + z) % m,
            "PMUL": lambda x, y, z: x * y,
        }
        rule = rules[insn.op]
        return [rule(x, y, z) for x, y, z in zip(a, b, c, strict=True)]
