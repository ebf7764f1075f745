# SPDX-License-Identifier: Apache-2.0
"""A trace as values: what each instruction computes from which others, each value once.

Sums with zero, products with 0 and 1 and transforms of zero are no operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

#: Values that are given: words of an input, one constant in every place, the values of a power of x.
GIVEN = ("input", "constant", "monomial")


@dataclass(frozen=True, slots=True)
class Node:
    """One polynomial modulo one prime; `operands` are numbers of nodes, `modulus` an index of the trace's table.

    | kind | number | form |
    |---|---|---|
    | `input` | its address | |
    | `constant` | the word in every place | |
    | `monomial`, values of x^k | k below 2n | |
    | `ntt` `intt` `add` `sub` `neg` `mul` `mul_add` | | |
    | `scale`, `scale_add`: times a constant, plus an operand | the constant | |
    | `permute` | the odd element | `coefficients` or `values` |
    | `foreign`: words of another modulus times a constant | the constant | |
    | `quotient`: `rs_quotient`, words without a modulus | | |
    | `convert`, the centred representative of its operands | | |
    | `round`, the term of a division by its operands' moduli | the numerator | |
    """

    kind: str
    operands: tuple[int, ...]
    modulus: int
    number: int = 0
    form: str = ""


class Nodes:
    """Nodes by number, operands first."""

    def __init__(self, moduli: tuple[int, ...]) -> None:
        """Begin with none, over a trace's table of moduli."""
        self.moduli = moduli
        self._all: list[Node] = []
        self._known: dict[Node, int] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._all)

    def __getitem__(self, number: int) -> Node:
        """Return a node."""
        return self._all[number]

    def q(self, number: int) -> int:
        """Return the modulus of a node."""
        return self.moduli[self._all[number].modulus]

    def add(self, node: Node) -> int:
        """Return the number of a node, which is new or known."""
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = len(self._all)
            self._all.append(node)
        return found

    def find(self, node: Node) -> int | None:
        """Return the number of a node that is known."""
        return self._known.get(node)

    def constant(self, word: int, modulus: int) -> int:
        """Return the polynomial with this residue in every place."""
        return self.add(Node("constant", (), modulus, word % self.moduli[modulus]))

    def is_zero(self, number: int) -> bool:
        """Whether a node is the polynomial 0."""
        node = self._all[number]
        return node.kind == "constant" and node.number == 0

    def unary(self, kind: str, a: int, number: int = 0, form: str = "") -> int:
        """Return the transform, negative or automorphism of a node."""
        node = self._all[a]
        if self.is_zero(a):
            return a
        if (kind, node.kind) in (("ntt", "intt"), ("intt", "ntt"), ("neg", "neg")):
            return node.operands[0]
        return self.add(Node(kind, (a,), node.modulus, number, form))

    def sum(self, a: int, b: int) -> int:
        """Return a + b."""
        if self.is_zero(a) or self.is_zero(b):
            return b if self.is_zero(a) else a
        if self._all[a].kind == "constant":
            a, b = b, a
        node, last = self._all[a], self._all[b]
        if last.kind == "constant" and node.kind == "add" and self._all[node.operands[1]].kind == "constant":
            # Recorders centre words by adding half a modulus before a conversion and subtracting it after.
            word = last.number + self._all[node.operands[1]].number
            return self.sum(node.operands[0], self.constant(word, node.modulus))
        return self.add(Node("add", (a, b), node.modulus))

    def difference(self, a: int, b: int) -> int:
        """Return a - b."""
        if self.is_zero(b):
            return a
        if self.is_zero(a):
            return self.unary("neg", b)
        if self._all[b].kind == "constant":
            return self.sum(a, self.constant(-self._all[b].number, self._all[b].modulus))
        return self.add(Node("sub", (a, b), self._all[a].modulus))

    def product(self, a: int, b: int) -> int:
        """Return a b, place by place."""
        if self.is_zero(a) or self.is_zero(b):
            return a if self.is_zero(a) else b
        return self.add(Node("mul", (a, b), self._all[a].modulus))

    def scaled(self, a: int, factor: int) -> int:
        """Return a times a constant."""
        factor %= self.q(a)
        if self.is_zero(a) or factor == 1:
            return a
        return self.add(Node("scale", (a,), self._all[a].modulus, factor))

    def needed(self, outputs: Iterable[int]) -> Iterator[int]:
        """Yield what outputs depend on, operands first."""
        needed = bytearray(len(self._all))
        for output in outputs:
            needed[output] = 1
        for number in reversed(range(len(self._all))):
            if needed[number]:
                for operand in self._all[number].operands:
                    needed[operand] = 1
        return (number for number in range(len(self._all)) if needed[number])
