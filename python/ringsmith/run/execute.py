# SPDX-License-Identifier: Apache-2.0
"""Walking a circuit on an engine: operations in order, ciphertexts freed after their last use, each kind timed."""

from __future__ import annotations

import time
from collections import defaultdict
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
    seconds: dict[str, float] = defaultdict(float)
    last = _last_uses(circuit)
    values: list[Any] = [None] * len(circuit.steps)
    for number, step in enumerate(circuit.steps):
        start = time.perf_counter()
        if step.kind is Kind.INPUT:
            values[number] = inputs[number]
            continue
        plaintext = _encode(scheme, circuit, step, plains) if step.plain >= 0 else None
        if plaintext is not None:
            seconds["encode"] += time.perf_counter() - start
            start = time.perf_counter()
        values[number] = evaluator.apply(step, [values[arg] for arg in step.args], plaintext)
        seconds[step.kind.value] += time.perf_counter() - start
        for arg in step.args:
            if last[arg] == number:
                values[arg] = None
    return [values[number] for number in circuit.outputs], dict(seconds)


def _encode(scheme: Scheme, circuit: Circuit, step: Step, plains: Sequence[Array]) -> Any:
    return scheme.encode(plains[step.plain], step.level, step.plain_scale)
