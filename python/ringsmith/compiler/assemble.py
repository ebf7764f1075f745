# SPDX-License-Identifier: Apache-2.0
"""From a circuit to a program as data: the engine's own object, with bytes and a hash, that needs no Python to run."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.compiler.encoding import open_encoding
from ringsmith.compiler.params import bootstrapping
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.compiler.params.steps import Steps
from ringsmith.compiler.signature import Signature
from ringsmith.ir.circuit import Circuit, Step
from ringsmith.ir.graph import Node, Op, Shape, ordered
from ringsmith.ir.numbers import residues
from ringsmith.ir.reading import Reading
from ringsmith.location import Location

Array = NDArray[Any]

#: Limits of the format for a source line and a column.
_MAX_TEXT = 1000
_MAX_COLUMN = 65535
_INT64 = 2**63 - 1
# Operations whose name and operands are all there is to say.
_PLAIN_OPERATIONS = {
    Op.ADD: "add",
    Op.SUB: "subtract",
    Op.NEGATE: "negate",
    Op.MULTIPLY: "multiply",
    Op.MATMUL: "matmul",
}


def assemble(
    signature: Signature,
    params: ParameterSet,
    circuit: Circuit,
    noise_bits: float,
    encryption: str,
    reading: Reading,
) -> _native.Program:
    """Return the program of a circuit.

    An argument or a result that a user's own function computes (rather than places) enters as the rows of slots it
    makes: the function stays at the client.
    """
    context = open_encoding(params).context
    builder = _native.ProgramBuilder(signature.name, signature.variant, context, encryption)
    return _Assembly(builder, signature, params, circuit).program(noise_bits, reading)


@dataclass
class _Assembly:
    """A program under construction."""

    builder: _native.ProgramBuilder
    signature: Signature
    params: ParameterSet
    circuit: Circuit
    numbers: dict[int, int] = field(default_factory=dict)
    lines: dict[tuple[str, int], int] = field(default_factory=dict)
    steps: Steps = field(init=False)

    def __post_init__(self) -> None:
        self.steps = Steps(self.builder)

    def program(self, noise_bits: float, reading: Reading) -> _native.Program:
        if self.circuit.refreshes():
            self.builder.bootstrapping(bootstrapping.native(self.params))
        self._arguments()
        self._plaintexts()
        for step in self.circuit.steps:
            self._step(step)
        shape, result = self._result()
        return self.builder.finish(
            list(self.circuit.outputs), shape, result, bits=float(noise_bits),
            failure_bits=self.signature.failure_bits,
            tolerance=self.signature.tolerance if self._reals else 0.0, publish=self.signature.publish,
            complex=reading.complex, divisor=reading.divisor, guarantee=self.signature.guarantee,
        )  # fmt: skip

    @property
    def _reals(self) -> bool:
        return self.circuit.scheme == "ckks"

    def _arguments(self) -> None:
        # The ciphertexts of the encrypted ones are the first steps, in this order.
        if self.signature.parts(encrypted=True) != list(self.circuit.inputs):
            raise AssertionError("a circuit takes its inputs in the order of the signature")
        for name in self.signature.arguments:
            shape, gather = self._layout(name)
            self.builder.argument(name, list(shape), *self._range(name), gather, self._producer(name))

    def _producer(self, name: str) -> Any:
        """Return the program whose result an argument is, and what is known of its ciphertexts; None for others."""
        packing = self.circuit.inputs.get(name)
        if packing is None or packing.handed is None or packing.handed.source is None:
            return None
        handed, source = packing.handed, packing.handed.source
        before = itertools.takewhile(lambda own: own != name, self.circuit.inputs)
        first = sum(len(self.circuit.inputs[own].gather) for own in before)
        steps = self.circuit.steps[first : first + len(packing.gather)]
        known = zip(handed.outputs, steps, handed.noise, strict=True)
        return source.name, source.identity, [(out, step.level, step.scale, noise) for out, step, noise in known]

    def _layout(self, name: str) -> tuple[Shape, Array | None]:
        """Return the shape of an argument as it enters, and its layout if it is encrypted."""
        shape = self.signature.arguments[name][0]
        packing = self.circuit.inputs.get(name)
        if packing is None:
            packed = self._packed_inputs.get(name)
            return (shape if packed is None else packed.shape), None
        if packing.pack is not None:
            return packing.gather.shape, np.arange(packing.gather.size, dtype=np.int64)
        return shape, np.ascontiguousarray(packing.gather.reshape(-1), np.int64)

    @cached_property
    def _packed_inputs(self) -> dict[str, Node]:
        """Return the plain arguments that a user's own function packs."""
        nodes = ordered(plain.node for plain in self.circuit.plains)
        inputs = (node for node in nodes if node.op is Op.INPUT and node.attributes.get("pack") is not None)
        return {node.attributes["name"]: node for node in inputs}

    def _range(self, name: str) -> tuple[Any, Any]:
        """Return the range of an argument: of what is packed, if a function of the user's packs it."""
        low, high = self.signature.part(name).range(name, exact=not self._reals).tolist()
        packing = self.circuit.inputs.get(name)
        if packing is not None and packing.pack is not None:
            low, high = -self.circuit.bounds[name], self.circuit.bounds[name]
        elif name in self._packed_inputs:
            high = self._packed_inputs[name].bound
            low = -high
        return (low, high) if self._reals else (max(int(low), -_INT64), min(int(high), _INT64))

    def _plaintexts(self) -> None:
        for node in ordered(plain.node for plain in self.circuit.plains):
            self.numbers[id(node)] = self._expression(node)
        for plain in self.circuit.plains:
            bound = float(plain.bound) if self._reals else float(min(plain.bound, self.params.plain_modulus // 2))
            slots = np.ascontiguousarray(plain.gather, dtype=np.int64)
            self.builder.plaintext(self.numbers[id(plain.node)], slots, bound)

    def _expression(self, node: Node) -> int:
        operands = [self.numbers[id(arg)] for arg in node.args]
        kind, more = self._operation(node)
        return self.builder.expression(kind, operands, list(node.shape), **more)

    def _operation(self, node: Node) -> tuple[str, Mapping[str, Any]]:
        attributes = node.attributes
        match node.op:
            case Op.INPUT:
                return "argument", {"argument": self.signature.parts(encrypted=False).index(attributes["name"])}
            case Op.CONSTANT:
                return "constant", {"values": self._values(attributes["value"])}
            case Op.POWER:
                return "power", {"exponent": attributes["exponent"]}
            case Op.POLYNOMIAL:
                return "polynomial", {"values": self._values(attributes["coefficients"])}
            case Op.SUM:
                return "sum", {"axis": attributes["axis"]}
            case Op.INDEX | Op.JOIN:
                return "gather", {"map": np.ascontiguousarray(attributes["gather"].reshape(-1), dtype=np.int64)}
            case Op.WITHIN:
                return "within", {"bound": float(attributes["bound"])}
        return _PLAIN_OPERATIONS[node.op], {}

    def _values(self, values: Any) -> Array:
        """Return constants row by row: doubles, or residues modulo t."""
        if self._reals:
            flat = np.asarray(values, dtype=np.float64).reshape(-1)
        else:
            flat = residues(np.asarray(values), self.params.plain_modulus).reshape(-1).astype(np.int64)
        # The format writes a value that fills its tensor once.
        same = len(flat) > 1 and flat.tobytes() == flat[:1].tobytes() * len(flat)
        return np.ascontiguousarray(flat[:1] if same else flat)

    def _step(self, step: Step) -> None:
        where = step.where
        self.steps.write(
            step, line=self._line(where), column=min(max(where.column, 0), _MAX_COLUMN),
            end_column=min(max(where.end_column, 0), _MAX_COLUMN),
        )  # fmt: skip

    def _line(self, where: Location) -> int:
        key = (_printable(PurePath(where.file).name), where.line)
        if key not in self.lines:
            self.lines[key] = self.builder.line(*key, _printable(where.text()))
        return self.lines[key]

    def _result(self) -> tuple[Sequence[int], Array]:
        output = self.circuit.output
        if output.ct is None or output.slot is None:
            shape = [len(self.circuit.outputs), self.circuit.slots.count]
            return shape, np.arange(shape[0] * shape[1], dtype=np.int64)
        places = np.asarray(output.ct) * self.circuit.slots.count + np.asarray(output.slot)
        return list(output.shape), np.ascontiguousarray(np.broadcast_to(places, output.shape).reshape(-1), np.int64)


def _printable(text: str) -> str:
    """Return a text as the format takes it: bounded, without characters that would move a terminal's cursor."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return shown.encode()[:_MAX_TEXT].decode(errors="ignore")
