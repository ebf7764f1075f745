# SPDX-License-Identifier: Apache-2.0
"""Walking a circuit on an engine: ciphertexts freed after their last use, each kind of operation timed.

On the CPU independent operations run side by side, one thread for each core this process may use; operations start
in program order, so no more ciphertexts are alive than in a walk one by one, and results do not depend on the threads.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
    from ringsmith.run.scheme import Evaluator, LoadedKeys, Scheme

Array = NDArray[Any]


@dataclass(frozen=True)
class Execution:
    """An evaluated result and the seconds each kind of operation took, summed over threads."""

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
            inputs[name] = packed_rows(name, node.attributes["pack"], arrays[name], circuit.slots, node.bound)
    values = evaluate(order, inputs)
    return [
        np.where(plain.gather >= 0, values[id(plain.node)].reshape(-1)[plain.gather], 0) for plain in circuit.plains
    ]


def execute(
    circuit: Circuit,
    scheme: Scheme,
    keys: LoadedKeys,
    inputs: Sequence[Any],
    plains: Sequence[Array],
    seed: bytes,
    threads: int = 1,
) -> tuple[list[Any], dict[str, float]]:
    """Run the circuit; return the output ciphertexts and seconds by kind of operation."""
    walk = _Walk(circuit, scheme.evaluator(keys, seed), _Plaintexts(circuit, scheme, plains), inputs)
    # A chain of steps has nothing to do side by side; starting threads would take longer than a small step.
    threads = min(threads, walk.width())
    if threads == 1:
        for number in walk.order:
            walk.compute(number)
    else:
        _side_by_side(walk, threads)
    return [walk.values[number] for number in circuit.outputs], dict(walk.seconds)


def _side_by_side(walk: _Walk, threads: int) -> None:
    """Compute every step in a pool; a task waits for its operands, which were submitted before it."""
    futures: dict[int, Future[None]] = {}

    def task(number: int) -> None:
        for arg in walk.circuit.steps[number].args:
            source = walk.made_by.get(arg, arg)
            if source in futures:
                futures[source].result()
        walk.compute(number)

    with ThreadPoolExecutor(threads) as pool:
        try:
            for number in walk.order:
                if walk.circuit.steps[number].kind is Kind.ENCRYPT_ZERO:
                    walk.compute(number)  # In program order: their randomness is counted.
                else:
                    futures[number] = pool.submit(task, number)
            for future in futures.values():
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)


class _Walk:
    """The values of a circuit's steps while it runs. `order` leaves out inputs and rotations made with others."""

    def __init__(self, circuit: Circuit, evaluator: Evaluator, plaintexts: _Plaintexts, inputs: Sequence[Any]) -> None:
        self.circuit = circuit
        self.evaluator = evaluator
        self.plaintexts = plaintexts
        self.values: list[Any] = [*inputs, *([None] * (len(circuit.steps) - len(inputs)))]
        self.seconds: dict[str, float] = defaultdict(float)
        self.hoisted = _hoisted(circuit)
        self.made_by = {member: first for first, group in self.hoisted.items() for member in group[1:]}
        self.order = [n for n in range(len(inputs), len(circuit.steps)) if n not in self.made_by]
        self.uses = Counter(arg for n in self.order for arg in circuit.steps[n].args)
        self.uses.update(circuit.outputs)
        self.lock = threading.Lock()

    def width(self) -> int:
        """Return the most steps that have the same number of steps before them on their longest way; 1 for a chain."""
        before: dict[int, int] = {}
        for number in self.order:
            sources = (self.made_by.get(arg, arg) for arg in self.circuit.steps[number].args)
            before[number] = 1 + max((before.get(source, 0) for source in sources), default=0)
        return max(Counter(before.values()).values(), default=1)

    def compute(self, number: int) -> None:
        """Compute a step, and the rotations hoisted with it."""
        step = self.circuit.steps[number]
        start = time.perf_counter()
        plaintext = self.plaintexts.take(step)
        encoded = time.perf_counter()
        if number in self.hoisted:
            group = self.hoisted[number]
            steps = [self.circuit.steps[member].steps for member in group]
            turned = self.evaluator.rotate_many(self.values[step.args[0]], steps)
            for member, value in zip(group, turned, strict=True):
                self.values[member] = value
        else:
            self.values[number] = self.evaluator.apply(step, [self.values[arg] for arg in step.args], plaintext)
        done = time.perf_counter()
        with self.lock:
            self.seconds[step.kind.value] += done - encoded
            if plaintext is not None:
                self.seconds["encode"] += encoded - start
            for arg in step.args:
                self.uses[arg] -= 1
                if self.uses[arg] == 0:
                    self.values[arg] = None


def _hoisted(circuit: Circuit) -> dict[int, list[int]]:
    """Return, by the first of them, rotations of one ciphertext: they share the decomposition (hoisting)."""
    groups: dict[int, list[int]] = defaultdict(list)
    for number, step in enumerate(circuit.steps):
        if step.kind is Kind.ROTATE:
            groups[step.args[0]].append(number)
    return {group[0]: group for group in groups.values() if len(group) > 1}


class _Plaintexts:
    """Encodes each plaintext once for a level and scale, and forgets it after its last use."""

    def __init__(self, circuit: Circuit, scheme: Scheme, plains: Sequence[Array]) -> None:
        self.scheme = scheme
        self.plains = plains
        self.uses = Counter(self._key(step) for step in circuit.steps if step.plain >= 0)
        self.encoded: dict[tuple[int, int, float], Any] = {}
        self.lock = threading.Lock()

    @staticmethod
    def _key(step: Step) -> tuple[int, int, float]:
        return step.plain, step.level, step.plain_scale

    def take(self, step: Step) -> Any:
        """Return the encoded plaintext of a step, or None if it has none."""
        if step.plain < 0:
            return None
        key = self._key(step)
        with self.lock:
            if key not in self.encoded:
                self.encoded[key] = self.scheme.encode(self.plains[step.plain], step.level, step.plain_scale)
            self.uses[key] -= 1
            return self.encoded[key] if self.uses[key] else self.encoded.pop(key)
