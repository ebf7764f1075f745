# SPDX-License-Identifier: Apache-2.0
"""Walking a circuit on an engine: operations in order, ciphertexts freed after their last use, each kind timed."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.kernel.circuit import Circuit, Step
from ringsmith.kernel.evaluate import evaluate
from ringsmith.kernel.graph import Node, Op
from ringsmith.kernel.slots import Kind
from ringsmith.kernel.trace import packed_rows

if TYPE_CHECKING:
    from ringsmith.run.program import Encryptions
    from ringsmith.run.scheme import LoadedKeys, Scheme

Array = NDArray[Any]


@dataclass(frozen=True)
class Execution:
    """An evaluated result and the seconds each kind of operation took."""

    result: Encryptions
    seconds: Mapping[str, float]


def plain_values(circuit: Circuit, arrays: Mapping[str, Array]) -> list[Array]:
    """Return the slots of every plaintext of the circuit, computed from the plain arguments."""
    order: list[Node] = []
    seen: set[int] = set()

    def visit(node: Node) -> None:
        if id(node) in seen:
            return
        seen.add(id(node))
        for arg in node.args:
            visit(arg)
        order.append(node)

    for plain in circuit.plains:
        visit(plain.node)
    inputs = dict(arrays)
    for node in order:
        if node.op is Op.INPUT and node.attributes.get("pack") is not None:
            name = node.attributes["name"]
            inputs[name] = packed_rows(name, node.attributes["pack"], arrays[name], circuit.slots)
    values = evaluate(order, inputs)
    return [
        np.where(plain.gather >= 0, values[id(plain.node)].reshape(-1)[plain.gather], 0) for plain in circuit.plains
    ]


def _last_uses(circuit: Circuit) -> list[int]:
    """Return, for each step, the last step that uses it (the end for outputs)."""
    last = [-1] * len(circuit.steps)
    for number, step in enumerate(circuit.steps):
        for arg in step.args:
            last[arg] = number
    for number in circuit.outputs:
        last[number] = len(circuit.steps)
    return last


def _hoisted(circuit: Circuit) -> dict[int, list[int]]:
    """Return, by the first of them, rotations of one ciphertext: they share the decomposition (hoisting)."""
    groups: dict[int, list[int]] = defaultdict(list)
    for number, step in enumerate(circuit.steps):
        if step.kind is Kind.ROTATE:
            groups[step.args[0]].append(number)
    return {group[0]: group for group in groups.values() if len(group) > 1}


def execute(
    circuit: Circuit,
    scheme: Scheme,
    keys: LoadedKeys,
    inputs: Sequence[Any],
    plains: Sequence[Array],
    seed: bytes,
) -> tuple[list[Any], dict[str, float]]:
    """Run the circuit; return the output ciphertexts and seconds by kind of operation."""
    evaluator = scheme.evaluator(keys, seed)
    encoder = _Plaintexts(circuit, scheme, plains)
    seconds: dict[str, float] = defaultdict(float)
    last, hoisted = _last_uses(circuit), _hoisted(circuit)
    values: list[Any] = [None] * len(circuit.steps)
    for number, step in enumerate(circuit.steps):
        if step.kind is Kind.INPUT:
            values[number] = inputs[number]
            continue
        start = time.perf_counter()
        plaintext = encoder.take(step)
        encoded = time.perf_counter()
        if number in hoisted:
            group = hoisted[number]
            turned = evaluator.rotate_many(values[step.args[0]], [circuit.steps[member].steps for member in group])
            for member, value in zip(group, turned, strict=True):
                values[member] = value
        elif values[number] is None:
            values[number] = evaluator.apply(step, [values[arg] for arg in step.args], plaintext)
        seconds[step.kind.value] += time.perf_counter() - encoded
        if plaintext is not None:
            seconds["encode"] += encoded - start
        for arg in step.args:
            if last[arg] == number:
                values[arg] = None
    return [values[number] for number in circuit.outputs], dict(seconds)


class _Plaintexts:
    """Encodes each plaintext once for a level and scale, and forgets it after its last use."""

    def __init__(self, circuit: Circuit, scheme: Scheme, plains: Sequence[Array]) -> None:
        self.scheme = scheme
        self.plains = plains
        self.uses = Counter(self._key(step) for step in circuit.steps if step.plain >= 0)
        self.encoded: dict[tuple[int, int, float], Any] = {}

    @staticmethod
    def _key(step: Step) -> tuple[int, int, float]:
        return step.plain, step.level, step.plain_scale

    def take(self, step: Step) -> Any:
        """Return the encoded plaintext of a step, or None if it has none."""
        if step.plain < 0:
            return None
        key = self._key(step)
        if key not in self.encoded:
            self.encoded[key] = self.scheme.encode(self.plains[step.plain], step.level, step.plain_scale)
        self.uses[key] -= 1
        return self.encoded[key] if self.uses[key] else self.encoded.pop(key)
