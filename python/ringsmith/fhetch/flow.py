# SPDX-License-Identifier: Apache-2.0
"""From a trace to values: addresses are gone, transforms have one root for each modulus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ringsmith.errors import InputError
from ringsmith.fhetch import arithmetic
from ringsmith.fhetch.arithmetic import Words
from ringsmith.fhetch.conversions import combined
from ringsmith.fhetch.evaluate import MOVES, root_of
from ringsmith.fhetch.nodes import Node, Nodes
from ringsmith.fhetch.trace import Instruction, Trace


class Flow:
    """Reads instructions one after another.

    A polynomial is a node, or the address of an input whose words have no modulus before one is known.
    """

    def __init__(self, trace: Trace, n: int, inputs: Mapping[int, Words]) -> None:
        """Begin before the first instruction."""
        self.nodes = Nodes(trace.moduli)
        #: The root of each modulus that is transformed.
        self.roots: dict[int, int] = {}
        self._trace, self._n = trace, n
        self._most = {address: int(words.max()) for address, words in inputs.items()}
        self._held: dict[int, int] = {}
        self._own = _own_moduli(trace, self._most)

    def read(self, outputs: Sequence[int]) -> list[int | None]:
        """Return the node of each output; None: an input as it is.

        Raises:
            InputError: what only the CPU computes, with file and line.
        """
        for one in self._trace.instructions:
            if _is_copy(one):
                self._copy(one)
            else:
                self._held[one.result] = self._result(one)
        found: list[int | None] = []
        for address in outputs:
            if address not in self._held and address not in self._most:
                raise InputError(f"{self._trace.path}: output %{address} is never written")
            found.append(self._held.get(address))
        return found

    def _copy(self, one: Instruction) -> None:
        source = one.operands[0]
        if source in self._held:
            self._held[one.result] = self._held[source]
        else:
            # A copy of an input is the input modulo its own modulus.
            self._held[one.result] = self._input(one, source, self._own.get(source, 0))

    def _input(self, one: Instruction, address: int, modulus: int) -> int:
        if address not in self._most:
            raise self._trace.refusal(one.line, f"%{address} is read before anything gives it a value")
        if modulus == 0:
            # Copied, or its values permuted: any modulus that its words are below serves.
            below = (at for at, q in enumerate(self._trace.moduli) if at and self._most[address] < q)
            modulus = next(below, 0)
        if modulus == 0:
            raise self._trace.refusal(one.line, f"nothing says modulo which prime %{address} is; --on cpu computes it")
        return self.nodes.add(Node("input", (), modulus, address))

    def _operand(self, one: Instruction, address: int) -> int:
        """Return an operand modulo the instruction's modulus."""
        q, nodes = self._trace.moduli[one.modulus], self.nodes
        if address not in self._held:
            if self._most.get(address, 0) >= q:
                raise self._large(one, address, q)
            return self._input(one, address, one.modulus)
        held = self._held[address]
        if nodes[held].modulus == one.modulus:
            return held
        if nodes.is_zero(held):
            return nodes.constant(0, one.modulus)
        if nodes[held].kind == "quotient" or nodes.q(held) > q:
            raise self._large(one, address, q)
        return nodes.add(Node("foreign", (held,), one.modulus, 1))

    def _large(self, one: Instruction, address: int, q: int) -> InputError:
        what = f"%{address} has words that are not below the modulus {q}; only sr_mulps takes such words"
        return self._trace.refusal(one.line, what)

    def _scaled(self, one: Instruction) -> int:
        """Return a product with a constant, which takes words of any modulus."""
        nodes, address = self.nodes, one.operands[0]
        if not one.reads:
            return nodes.constant(0, one.modulus)
        factor = one.number % self._trace.moduli[one.modulus]
        if address not in self._held:
            own = self._own.get(address, 0) or one.modulus
            held = self._input(one, address, own)
        else:
            held = self._held[address]
        if nodes[held].modulus == one.modulus:
            return nodes.scaled(held, factor)
        if nodes.is_zero(held):
            return nodes.constant(0, one.modulus)
        return nodes.add(Node("foreign", (held,), one.modulus, factor))

    def _result(self, one: Instruction) -> int:
        nodes = self.nodes
        if one.mnemonic == "sr_mulps":
            return self._scaled(one)
        if one.mnemonic == "rs_quotient":
            return self._quotient(one)
        if one.mnemonic == "sr_automorph_eval" and one.modulus == 0:
            return self._moved(one, self._held_input(one))
        a, *others = [self._operand(one, address) for address in one.operands]
        if one.mnemonic in ("sr_ntt", "sr_intt"):
            return self._transform(one, a)
        if one.mnemonic in MOVES:
            return self._moved(one, a)
        if one.mnemonic == "sr_negp":
            return nodes.unary("neg", a)
        b = others[0] if others else nodes.constant(one.number, one.modulus)
        if one.mnemonic.startswith("sr_add"):
            return combined(nodes, nodes.sum(a, b))
        return nodes.difference(a, b) if one.mnemonic.startswith("sr_sub") else nodes.product(a, b)

    def _held_input(self, one: Instruction) -> int:
        address = one.operands[0]
        return self._held[address] if address in self._held else self._input(one, address, self._own.get(address, 0))

    def _quotient(self, one: Instruction) -> int:
        rows = []
        for address, modulus in zip(one.operands, one.sources, strict=True):
            rows.append(self._operand(_at(one, modulus), address))
        return self.nodes.add(Node("quotient", tuple(rows), 0))

    def _transform(self, one: Instruction, a: int) -> int:
        """Return a transform with the modulus's root, its values in the order of the one given."""
        nodes, q, root = self.nodes, self._trace.moduli[one.modulus], root_of(self._trace, one, self._n)
        own = self.roots.setdefault(one.modulus, root)
        k = _power(own, root, q, self._n)
        if k is None:
            raise self._trace.refusal(
                one.line, f"omega={root:#x} is no power of the root of the transform before; --on cpu computes it"
            )
        if one.mnemonic == "sr_ntt":
            values = nodes.unary("ntt", a)
            return values if k == 1 else nodes.unary("permute", values, k, "values")
        if k != 1:
            a = nodes.unary("permute", a, pow(k, -1, 2 * self._n), "values")
        return nodes.unary("intt", a)

    def _moved(self, one: Instruction, a: int) -> int:
        nodes = self.nodes
        if one.mnemonic == "sr_rot_automorph_coeff":
            return self._turned(one, a)
        by_values = one.mnemonic == "sr_automorph_eval" or one.form == "values"
        element = one.number % (2 * self._n)
        return a if element == 1 else nodes.unary("permute", a, element, "values" if by_values else "coefficients")

    def _turned(self, one: Instruction, a: int) -> int:
        """Return a x^(-offset): devices turn no coefficients, so by values."""
        self.roots.setdefault(one.modulus, arithmetic.smallest_root(self._trace.moduli[one.modulus], self._n))
        monomial = self.nodes.add(Node("monomial", (), one.modulus, -one.number % (2 * self._n)))
        return self.nodes.unary("intt", self.nodes.product(self.nodes.unary("ntt", a), monomial))


def _at(one: Instruction, modulus: int) -> Instruction:
    """Return an instruction's reading modulo one of its sources."""
    return Instruction(one.line, one.mnemonic, one.result, one.operands, modulus)


def _is_copy(one: Instruction) -> bool:
    return one.mnemonic in ("sr_addps", "sr_subps") and one.number == 0


def _keeps(one: Instruction) -> bool:
    """Whether an instruction leaves words what they are, maybe in other places."""
    return _is_copy(one) or (one.mnemonic == "sr_automorph_eval" and one.modulus == 0)


def _own_moduli(trace: Trace, most: Mapping[int, int]) -> dict[int, int]:
    """Return for each input the modulus of its words: the first that it is read with, products with constants last."""
    firm: dict[int, int] = {}
    loose: dict[int, int] = {}
    copies: dict[int, int] = {}
    written: set[int] = set()
    for one in trace.instructions:
        for place, operand in enumerate(one.reads):
            modulus = one.sources[place] if one.sources else one.modulus
            address, is_given = copies.get(operand, operand), operand not in written or operand in copies
            fits = modulus and not _keeps(one) and most.get(address, 0) < trace.moduli[modulus]
            if is_given and fits:
                (loose if one.mnemonic == "sr_mulps" else firm).setdefault(address, modulus)
        copies.pop(one.result, None)
        if _keeps(one) and (one.operands[0] not in written or one.operands[0] in copies):
            copies[one.result] = copies.get(one.operands[0], one.operands[0])
        written.add(one.result)
    return loose | firm


@lru_cache(maxsize=256)
def _power(own: int, root: int, q: int, n: int) -> int | None:
    """Return the odd k below 2n with root = own^k; None if there is none, as modulo a product of primes."""
    square, power = own * own % q, own
    for k in range(1, 2 * n, 2):
        if power == root:
            return k
        power = power * square % q
    return None
