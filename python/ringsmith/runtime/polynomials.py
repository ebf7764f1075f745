# SPDX-License-Identifier: Apache-2.0
"""BFV programs on polynomials: for plaintext moduli without slots, where a message is a polynomial modulo (X^n + 1, t).

    circuit = PolynomialCircuit(context, inputs=2)
    x, y = circuit.inputs
    program = circuit.program(circuit.relinearize(x * y) + circuit.plain(coefficients))
    result = PolynomialServer(program, context, relin_key).evaluate([encrypted_x, encrypted_y])

Each operator is one operation of the program; nothing is inserted. The program is data like any other: the same bytes
on every engine, a noise guarantee that holds for the plaintexts it carries.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ringsmith import _native
from ringsmith.errors import InputError, ParameterError
from ringsmith.ir.kinds import Kind

#: Promised while a circuit's own bound is not known yet.
_SOME_BITS = 1e-3


@dataclass(frozen=True)
class PlainPolynomial:
    """A plaintext of a circuit."""

    circuit: PolynomialCircuit
    number: int


@dataclass(frozen=True)
class EncryptedPolynomial:
    """A ciphertext of a circuit, of `size` polynomials: 2, or 3 after a product."""

    circuit: PolynomialCircuit
    number: int
    size: int

    def __add__(self, other: EncryptedPolynomial | PlainPolynomial) -> EncryptedPolynomial:
        """Add a ciphertext or a plaintext."""
        if isinstance(other, PlainPolynomial):
            return self.circuit._step(Kind.ADD_PLAIN, [self], self.size, other)
        return self.circuit._step(Kind.ADD, [self, other], max(self.size, other.size))

    def __mul__(self, other: EncryptedPolynomial | PlainPolynomial) -> EncryptedPolynomial:
        """Multiply modulo (X^n + 1, t) with a plaintext, or with a ciphertext: both of two polynomials."""
        if isinstance(other, PlainPolynomial):
            return self.circuit._step(Kind.MULTIPLY_PLAIN, [self], self.size, other)
        if other is self:
            return self.circuit._step(Kind.SQUARE, [self], 3)
        return self.circuit._step(Kind.MULTIPLY, [self, other], 3)


class PolynomialCircuit:
    """A program under construction, of one context whose plaintext modulus has no slots."""

    def __init__(
        self, context: _native.BfvContext, *, inputs: int, name: str = "polynomials", encryption: str = "public"
    ) -> None:
        """Start with `inputs` ciphertexts (1 or more), encrypted under the `public` or the `secret` key."""
        if context.batching:
            raise ParameterError(
                f"plaintext modulus {context.plain_modulus} has slots at n = {context.n}: use rs.kernel, or a modulus "
                f"that is not 1 mod {2 * context.n}"
            )
        if inputs < 1:
            raise InputError(f"{inputs} inputs: a circuit needs 1 or more")
        self.context = context
        self._level = len(context.moduli) - 1
        self._builder = _native.ProgramBuilder(name, "", context, encryption)
        self._builder.line(name, 1, name)
        n, half = context.n, context.plain_modulus // 2
        packing = np.arange(inputs * n, dtype=np.int64)
        self._builder.argument("x", [inputs, n], -half, half, packing)
        #: The ciphertexts that are sent.
        self.inputs = tuple(self._step(Kind.INPUT, [], 2) for _ in range(inputs))

    def plain(self, coefficients: ArrayLike) -> PlainPolynomial:
        """Return a plaintext from up to n integer coefficients of at most t/2 in magnitude."""
        values: Any = np.asarray(coefficients)
        n, half = self.context.n, self.context.plain_modulus // 2
        if values.ndim != 1 or len(values) > n or values.dtype.kind not in "iu":
            raise InputError(f"coefficients of shape {values.shape}, {values.dtype}: up to {n} integers are needed")
        if np.abs(values).max(initial=0) > half:
            largest = values[np.abs(values).argmax()]
            raise InputError(f"coefficient {largest} of a plaintext: at most {half} in magnitude")
        # Zeros take no bytes: every position names its value, or none.
        at = np.flatnonzero(values)
        held = values[at].astype(np.int64) if len(at) else np.zeros(1, np.int64)
        places = np.full(n, -1, np.int64)
        places[at] = np.arange(len(at))
        same = len(held) > 1 and bool((held == held[0]).all())
        expression = self._builder.expression("constant", [], [len(held)], values=held[:1] if same else held)
        return PlainPolynomial(self, self._builder.plaintext(expression, places, float(np.abs(held).max())))

    def relinearize(self, product: EncryptedPolynomial) -> EncryptedPolynomial:
        """Return a product as two polynomials."""
        return self._step(Kind.RELINEARIZE, [product], 2)

    def program(self, *outputs: EncryptedPolynomial) -> _native.Program:
        """Return the program, checked, with the noise budget that its own bound gives."""
        count, n = len(outputs), self.context.n
        places = np.arange(count * n, dtype=np.int64)

        def finished(bits: float) -> _native.Program:
            return self._builder.finish(
                [output.number for output in outputs], [count, n], places, bits=bits, failure_bits=_native.FAILURE_BITS,
                tolerance=0.0, publish=False,
            )  # fmt: skip

        return finished(float(finished(_SOME_BITS).bound("none")["bits"]))

    def _step(
        self, kind: Kind, operands: Sequence[EncryptedPolynomial], size: int, plain: PlainPolynomial | None = None
    ) -> EncryptedPolynomial:
        strangers = any(operand.circuit is not self for operand in operands)
        if strangers or (plain is not None and plain.circuit is not self):
            raise InputError(f"{kind}: an operand is of another circuit")
        step = _native.Step(
            kind, [operand.number for operand in operands], self._level, 1.0, size,
            plaintext=-1 if plain is None else plain.number,
        )  # fmt: skip
        return EncryptedPolynomial(self, self._builder.step(step), size)


class PolynomialServer:
    """Runs a program of polynomials with a client's key; holds no secret."""

    def __init__(
        self,
        program: _native.Program,
        context: _native.BfvContext,
        relin_key: _native.RelinKey | None,
        *,
        threads: int | None = None,
        device: _native.Backend | None = None,
    ) -> None:
        """Use a key for many runs, on `threads` (all cores) or on a co-processor."""
        self._context = context
        self._session = _native.Session(program, context, relin_key, None, None, threads=threads, device=device)

    def evaluate(self, inputs: Sequence[_native.BfvCiphertext]) -> list[_native.BfvCiphertext]:
        """Return the program's outputs for its inputs."""
        results, _ = self._session.run(list(inputs), [], secrets.token_bytes(32))
        return self._read(results)

    @property
    def batch_size(self) -> int:
        """Most sets of inputs that are worked on at a time: several on a co-processor, more with more cores."""
        return self._session.batch_size

    def evaluate_many(self, many: Iterable[Sequence[_native.BfvCiphertext]]) -> Iterator[list[_native.BfvCiphertext]]:
        """Give the outputs for each of many sets of inputs, in order; a co-processor's cores share them."""
        waiting = iter(many)
        while group := [list(inputs) for inputs in islice(waiting, self.batch_size)]:
            seeds = [secrets.token_bytes(32) for _ in group]
            for results, _ in self._session.run_many(group, [], seeds):
                yield self._read(results)

    def _read(self, results: Sequence[bytes]) -> list[_native.BfvCiphertext]:
        return [_native.BfvCiphertext.from_bytes(self._context, data) for data in results]
