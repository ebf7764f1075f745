# SPDX-License-Identifier: Apache-2.0
"""What a trace computes, instruction by instruction, on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ringsmith.errors import InputError
from ringsmith.fhetch import arithmetic
from ringsmith.fhetch.arithmetic import Words
from ringsmith.fhetch.trace import Instruction, Trace

#: Words that live at one time at most: 2 GiB of them.
MOST_WORDS = 1 << 28


def root_of(trace: Trace, one: Instruction, n: int) -> int:
    """Return the 2n-th root of a transform: the one given, or the smallest.

    Raises:
        InputError: what is given is no primitive 2n-th root, or the modulus has none.
    """
    q = trace.moduli[one.modulus]
    root = one.number % q or arithmetic.smallest_root(q, n)
    if pow(root, n, q) != q - 1:
        known = (
            f"omega={one.number:#x} is no primitive root of order {2 * n}" if one.number else "no root given, and none"
        )
        raise trace.refusal(one.line, f"{one.mnemonic}: {known} modulo {q}")
    return root


class Memory:
    """The polynomials of a run by address; each is forgotten after its last use."""

    def __init__(self, trace: Trace, n: int, inputs: Mapping[int, Words], outputs: Sequence[int]) -> None:
        """Begin with the inputs."""
        self._trace, self._n = trace, n
        self._held = dict(inputs)
        self._last: dict[int, int] = {}
        for at, one in enumerate(trace.instructions):
            self._last.update(dict.fromkeys((*one.operands, one.result), at))
        self._kept = frozenset(outputs)

    def read(self, one: Instruction, address: int, below: int | None) -> Words:
        """Return a polynomial whose words are below a modulus (None: any)."""
        words = self._held.get(address)
        if words is None:
            raise self._trace.refusal(one.line, f"%{address} is read before anything gives it a value")
        if below is not None and int(words.max()) >= below:
            raise self._trace.refusal(
                one.line, f"%{address} has words that are not below the modulus {below}; only sr_mulps takes such words"
            )
        return words

    def write(self, at: int, one: Instruction, words: Words) -> None:
        """Write a result, and forget what instruction `at` used last."""
        self._held[one.result] = words
        if len(self._held) * self._n > MOST_WORDS:
            raise self._trace.refusal(one.line, f"more than {MOST_WORDS // self._n} polynomials are needed at once")
        for address in (*one.operands, one.result):
            if self._last[address] == at and address not in self._kept:
                self._held.pop(address, None)

    def take(self, address: int) -> Words:
        """Return an output."""
        if address not in self._held:
            raise InputError(f"{self._trace.path}: output %{address} is never written")
        return self._held[address]


def evaluate(trace: Trace, n: int, inputs: Mapping[int, Words], outputs: Sequence[int]) -> list[Words]:
    """Return the polynomials at the addresses of the outputs after the last instruction.

    Raises:
        InputError: an address without a value, words beyond a modulus, a wrong root, with file and line.
    """
    memory = Memory(trace, n, inputs, outputs)
    for at, one in enumerate(trace.instructions):
        memory.write(at, one, result_of(trace, n, memory, one))
    return [memory.take(address) for address in outputs]


def result_of(trace: Trace, n: int, memory: Memory, one: Instruction) -> Words:
    """Return the polynomial that an instruction makes."""
    if not one.reads:
        return np.zeros(n, dtype=np.uint64)
    if one.mnemonic == "rs_quotient":
        moduli = [trace.moduli[m] for m in one.sources]
        rows = [memory.read(one, address, q) for address, q in zip(one.operands, moduli, strict=True)]
        return arithmetic.quotient(rows, moduli)
    q = trace.moduli[one.modulus]
    any_words = one.mnemonic == "sr_mulps" or one.modulus == 0 or _copies(one)
    a, *others = [memory.read(one, address, None if any_words else q) for address in one.operands]
    if one.mnemonic in ("sr_ntt", "sr_intt"):
        change = arithmetic.transform if one.mnemonic == "sr_ntt" else arithmetic.inverse
        return change(a, root_of(trace, one, n), q)
    return _moved(one, a, q) if one.mnemonic in MOVES else _computed(one, a, others, q)


def _copies(one: Instruction) -> bool:
    """Whether an instruction leaves words as they are, whatever its modulus: a sum with 0."""
    return one.mnemonic in ("sr_addps", "sr_subps") and one.number == 0


MOVES = ("sr_permute", "sr_automorph_eval", "sr_automorph_coeff", "sr_rot_automorph_coeff")


def _moved(one: Instruction, a: Words, q: int) -> Words:
    if one.mnemonic == "sr_rot_automorph_coeff":
        return arithmetic.shifted(a, one.number, q)
    if one.mnemonic == "sr_automorph_eval" or one.form == "values":
        return arithmetic.permuted_values(a, one.number)
    return arithmetic.permuted_coefficients(a, one.number, q)


def _computed(one: Instruction, a: Words, others: list[Words], q: int) -> Words:
    if _copies(one):
        return a
    ring = arithmetic.modulus(q)
    if one.mnemonic == "sr_mulps":
        return ring.scale(a, one.number)
    if one.mnemonic == "sr_negp":
        return ring.neg(a)
    b = others[0] if others else np.array([one.number % q], dtype=np.uint64)
    take = {"sr_add": ring.add, "sr_sub": ring.sub, "sr_mul": ring.mul}[one.mnemonic[:6]]
    return take(a, b)
