# SPDX-License-Identifier: Apache-2.0
"""Nodes as a device likes them: products and sums in one, digits of a key switch in one slot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ringsmith.fhetch.nodes import Node, Nodes


def fused(nodes: Nodes, outputs: Sequence[int]) -> tuple[Nodes, list[int]]:
    """Return nodes anew with `mul_add` and `scale_add`, and the outputs."""
    fusion = Fusion(nodes, outputs)
    return fusion.nodes, fusion.outputs


class Fusion:
    """Writes nodes anew."""

    def __init__(self, nodes: Nodes, outputs: Sequence[int]) -> None:
        """Take what outputs need of nodes."""
        self._from, self._wanted = nodes, frozenset(outputs)
        self._order = list(nodes.needed(outputs))
        self._uses: dict[int, list[int]] = {number: [] for number in self._order}
        for number in self._order:
            for operand in nodes[number].operands:
                self._uses[operand].append(number)
        self.nodes = Nodes(nodes.moduli)
        self._made: dict[int, int] = {}
        #: Of values that products take as digits do: the way of a digit.
        self._digits = dict(self._raised())
        self._again: dict[int, int] = {}
        for number in self._order:
            if not self._is_part(number):
                self._made[number] = self._written(nodes[number])
                if number in self._digits:
                    self._again[number] = self._own(number, self._digits[number])
        self.outputs = [self._made[one] for one in outputs]

    def _written(self, node: Node) -> int:
        part = self._part(node) if node.kind == "add" else None
        if part is None:
            return self.nodes.add(replace(node, operands=self._operands(node)))
        rest = next(one for one in node.operands if one != part)
        product = self._from[part]
        kind = "mul_add" if product.kind == "mul" else "scale_add"
        operands = (*self._operands(product), self._made[rest])
        return self.nodes.add(Node(kind, operands, node.modulus, product.number))

    def _operands(self, node: Node) -> tuple[int, ...]:
        again = self._again if node.kind == "mul" else {}
        return tuple(again.get(one, self._made[one]) for one in node.operands)

    def _is_part(self, number: int) -> bool:
        """Whether a product is part of the sum that alone reads it."""
        users = self._uses[number]
        return len(users) == 1 and self._from[users[0]].kind == "add" and self._part(self._from[users[0]]) == number

    def _part(self, total: Node) -> int | None:
        """Return the operand of a sum that is computed with it: the last product that nothing else reads."""
        for one in reversed(total.operands):
            is_product = self._from[one].kind in ("mul", "scale")
            if is_product and len(self._uses[one]) == 1 and one not in self._wanted:
                return one
        return None

    def _raised(self) -> Iterator[tuple[int, tuple[int | None, bool]]]:
        """Yield values whose coefficients are converted to other primes, transformed and multiplied, and the way there.

        Digits of a key switch are such. In products their own residues take the same way, so that they stand in one
        slot with the others: a constant is added before the conversion, or none, and after it.
        """
        for number in self._order:
            if self._from[number].kind == "intt":
                ways = {way for one in self._around(number) for way in self._ways(*one)}
                way = next(iter(ways)) if len(ways) == 1 else None
                if way is not None:
                    yield self._from[number].operands[0], way

    def _around(self, number: int) -> Iterator[tuple[int, int | None]]:
        """Yield coefficients as they are and plus a constant."""
        yield number, None
        for user in self._uses[number]:
            if (added := self._added(user)) is not None:
                yield user, added

    def _added(self, number: int) -> int | None:
        """Return the constant that a node adds."""
        node = self._from[number]
        last = self._from[node.operands[-1]] if node.kind == "add" else None
        return last.number if last and last.kind == "constant" else None

    def _ways(self, number: int, before: int | None) -> Iterator[tuple[int | None, bool] | None]:
        """Yield for each conversion of coefficients what is added before it and whether something is added after it.

        None: its transform is no operand of a product.
        """
        for user in self._uses[number]:
            if self._from[user].kind == "convert" and len(self._from[user].operands) == 1:
                ends = [(one, self._added(one) is not None) for one in self._uses[user]]
                for end, is_added in ends:
                    transforms = self._uses[end] if is_added else [end]
                    yield (before, is_added) if all(map(self._is_multiplied, transforms)) else None

    def _is_multiplied(self, number: int) -> bool:
        """Whether a node is a transform that products take."""
        products = [one for one in self._uses[number] if self._from[one].kind == "mul"]
        return self._from[number].kind == "ntt" and bool(products)

    def _own(self, number: int, way: tuple[int | None, bool]) -> int:
        """Return values once more: their coefficients moved to their own lane and transformed."""
        before, is_added = way
        nodes, modulus = self.nodes, self._from[number].modulus
        moved = nodes.add(Node("intt", (self._made[number],), modulus))
        if before is not None:
            moved = nodes.add(Node("add", (moved, nodes.constant(before, modulus)), modulus))
        moved = nodes.add(Node("convert", (moved,), modulus))
        if is_added:
            moved = nodes.add(Node("add", (moved, nodes.constant(-(before or 0), modulus)), modulus))
        return nodes.add(Node("ntt", (moved,), modulus))
