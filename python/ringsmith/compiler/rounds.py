# SPDX-License-Identifier: Apache-2.0
"""A client-aided kernel as several: cut at each `rs.refresh`, one kernel for each round at the server.

```
arguments ─> round 0 ─> values ── client's functions ──> round 1 ─> values ── ... ──> result
```
What one round makes and a later one needs goes through the client, so every program starts from fresh ciphertexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ringsmith.errors import KernelError
from ringsmith.frontend.declare import Argument, Encrypted
from ringsmith.frontend.definition import KernelDefinition
from ringsmith.frontend.tensor import Tensor
from ringsmith.ir import nodes
from ringsmith.ir.clear_function import ClearFunction
from ringsmith.ir.graph import Graph, Node, Op, Shape, over
from ringsmith.ir.reading import Reading

K = TypeVar("K", bound=KernelDefinition)
#: An argument of the whole kernel by name, or a value that the client has, by number.
Source = str | int


@dataclass(frozen=True)
class Applied:
    """One refresh: the client applies a function to a value; the result is the next value."""

    function: ClearFunction
    of: int


@dataclass(frozen=True)
class Round:
    """Interface of a round: sources by argument of the round's program, shapes of the values that come back,
    end to end, and the functions it then applies, in order."""

    inputs: Mapping[str, Source]
    values: tuple[Shape, ...]
    applied: tuple[Applied, ...]


@dataclass(frozen=True)
class Plan:
    """All rounds; `result` is the value that is the answer. Values are numbered as the client gets them."""

    rounds: tuple[Round, ...]
    result: int


class ClientAidedError(KernelError):
    """A kernel that needs the client between its rounds was compiled as one program."""


def check_one_round(graph: Graph) -> Graph:
    """Return a graph that is one program; ClientAidedError for one with a refresh."""
    for node in graph.nodes():
        if node.op is Op.REFRESH:
            raise ClientAidedError(
                "rs.refresh needs the client in the middle of the kernel: kernel.rounds() compiles it", node.where
            )
    return graph


def cut(kernel: K, graph: Graph) -> tuple[list[K], Plan]:
    """Return a kernel for each round, and how the client leads from one to the next."""
    for node in graph.nodes():
        if kernel.plain_modulus and node.op is Op.REFRESH and node.args[0].bound > kernel.plain_modulus // 2:
            raise KernelError(
                f"rs.refresh: values up to {node.args[0].bound} wrap modulo plain_modulus {kernel.plain_modulus}: the "
                "client would see residues; leave plain_modulus out",
                node.where,
            )
    whole = [name for name, argument in kernel.arguments.items() if argument.complex]
    if whole or graph.reading != Reading():
        raise KernelError(
            f"rs.refresh: {f'argument {whole[0]} is complex' if whole else 'the result is complex or a quotient'}; in "
            "client-aided kernels real and imaginary part, sum and divisor are arguments and results of their own",
            kernel.where,
        )
    if kernel.publish:
        raise KernelError("publish=True: what a client decrypts between rounds is not flooded", kernel.where)
    return _Cut(kernel, graph).done()


class _Cut:
    """One graph on its way into rounds."""

    def __init__(self, kernel: Any, graph: Graph) -> None:
        self.kernel, self.graph, self.nodes = kernel, graph, graph.nodes()
        self.round: dict[int, int] = {}
        for node in self.nodes:
            last = max((self.round[id(arg)] for arg in node.args), default=0)
            # An argument comes back too: who decrypts it need not be who encrypted it.
            asks = node.op is Op.REFRESH and node.args[0].op is not Op.REFRESH
            self.round[id(node)] = last + asks
        #: Arguments that the client applies a function to, by the round before.
        self.asked: set[tuple[int, int]] = {
            (id(node.args[0]), self.round[id(node)] - 1) for node in self.nodes if node.op is Op.REFRESH
        }
        #: The last round that uses a node.
        self.last_use: dict[int, int] = {}
        for node in self.nodes:
            for arg in node.args:
                self.last_use[id(arg)] = max(self.last_use.get(id(arg), 0), self.round[id(node)])
        #: Numbers of the values that the client has, by node.
        self.values: dict[int, int] = {}
        self.functions: dict[str, Any] = {}

    def done(self) -> tuple[list[Any], Plan]:
        output = self.graph.output
        count = self.round[id(output)] + (output.op is not Op.REFRESH)
        kernels, rounds = [], []
        for number in range(count):
            wanted = [node for node in self.nodes if self._comes_back(node, number)]
            made, inputs = self._kernel(wanted)
            kernels.append(made)
            for node in wanted:
                self.values[id(node)] = len(self.values)
            rounds.append(Round(inputs, tuple(node.shape for node in wanted), self._applied(number)))
        return kernels, Plan(tuple(rounds), self.values[id(output)])

    def _comes_back(self, node: Node, number: int) -> bool:
        """Return whether a value is computed in a round and needed outside of it."""
        if not node.encrypted or self.round[id(node)] != number or node.op is Op.REFRESH:
            return False
        if node.op is Op.INPUT and node is not self.graph.output:
            return (id(node), number) in self.asked
        return node is self.graph.output or self.last_use[id(node)] > number

    def _applied(self, number: int) -> tuple[Applied, ...]:
        """Return the client's part after a round."""
        found = []
        for node in self.nodes:
            if node.op is Op.REFRESH and self.round[id(node)] == number + 1:
                found.append(Applied(self._named(node.attributes["function"]), self.values[id(node.args[0])]))
                self.values[id(node)] = len(self.values)
        return tuple(found)

    def _named(self, function: ClearFunction) -> ClearFunction:
        """Return a function under a name that no other one has."""
        name, count = function.name, 1
        while self.functions.setdefault(name, function.function) is not function.function:
            count += 1
            name = f"{function.name}{count}"
        return replace(function, name=name)

    def _kernel(self, wanted: Sequence[Node]) -> tuple[Any, dict[str, Source]]:
        """Return the kernel of a round and where its encrypted arguments come from."""
        members, taken = self._behind(wanted)
        names, arguments = {}, {}
        inputs: dict[str, Source] = {}
        for node in taken:
            name = node.attributes["name"] if node.op is Op.INPUT else self._name(len(inputs))
            names[id(node)] = name
            arguments[name] = self._argument(node)
            if node.encrypted:
                inputs[name] = name if node.op is Op.INPUT else self.values[id(node)]
        function = Part(self.kernel.function, members, names, wanted)
        return replace(self.kernel, function=function, arguments=arguments, sample=None, reference=None), inputs

    def _name(self, place: int) -> str:
        """Return a name by place in the round: rounds that do the same are the same program."""
        name = f"value{place}"
        return name if name not in self.kernel.arguments else f"{name}_"

    def _argument(self, node: Node) -> Argument:
        if node.op is Op.INPUT:
            declared: Argument = self.kernel.arguments[node.attributes["name"]]
            return type(declared)(*node.shape, low=declared.low, high=declared.high, packing=declared.packing)
        low, high = (np.asarray(end).item() for end in (node.low.min(), node.high.max()))
        packing = node.attributes["packing"] if node.op is Op.REFRESH else "auto"
        return Encrypted(*node.shape, low=low, high=high, packing=packing)

    def _behind(self, wanted: Iterable[Node]) -> tuple[list[Node], list[Node]]:
        """Return what a round computes and what it takes, each with arguments before users."""
        members: set[int] = set()
        taken: set[int] = set()
        stack = [(node, True) for node in wanted]
        while stack:
            node, own = stack.pop()
            if node.op is Op.INPUT or (not own and id(node) in self.values):
                taken.add(id(node))
            elif id(node) not in members:
                members.add(id(node))
                stack.extend((arg, False) for arg in node.args)
        return ([n for n in self.nodes if id(n) in members], [n for n in self.nodes if id(n) in taken])


class Part:
    """The function of one round: the user's operations on the round's own arguments."""

    def __init__(self, whole: Any, members: list[Node], names: Mapping[int, str], wanted: Sequence[Node]) -> None:
        """Take over what a round computes, the names of its arguments and its results."""
        self._members, self._names, self._wanted = members, names, wanted
        # Places are told, and modules named, as the user's function has them.
        self.__code__, self.__doc__, self.__module__ = whole.__code__, whole.__doc__, whole.__module__

    def __call__(self, **handles: Tensor) -> Tensor:
        """Return the results end to end."""
        made = {number: handles[name].node for number, name in self._names.items()}
        for node in self._members:
            made[id(node)] = over(node, made)
        results = [made[id(node)] for node in self._wanted]
        if len(results) == 1:
            return Tensor(results[0])
        total = sum(low.low.size for low in results)
        return Tensor(nodes.join(results, np.arange(total), results[0].where))
