# SPDX-License-Identifier: Apache-2.0
"""What an object that travels says of itself, and how a receiver compares all of it.

Ciphertexts and keys go from client to server and back as bytes. Beside them travels a label: the role (a key,
arguments, a result), the hash of the program in sections, so that a refusal can say what differs, and the public
identity of the key. A ciphertext's own level, scale, size and key are compared with what the circuit has at that place.
Labels find mistakes, not forgery: whoever may change the bytes may change the label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from math import isclose
from typing import Any

import numpy as np

from ringsmith.errors import FormatError, InputError, KeyMismatchError
from ringsmith.kernel.circuit import Circuit, OutputPacking, Step
from ringsmith.kernel.graph import Node
from ringsmith.kernel.manual import SCALE_TOLERANCE
from ringsmith.kernel.slots import InputPacking
from ringsmith.run.canonical import digest

#: Version of what is pickled and of what the hashes are made from.
VERSION = 1
#: Bytes of the checksum that ends every object of the engine's byte format.
_CHECKSUM_BYTES = 8


class Role(StrEnum):
    """What an object is for, in the words of messages."""

    PUBLIC_KEY = "the public key"
    EVALUATION_KEYS = "the evaluation keys"
    ARGUMENTS = "the encrypted arguments"
    RESULT = "the result"


#: Where an object of each role comes from: the remedy of most mistakes.
_SOURCES = {
    Role.PUBLIC_KEY: "client.public_key",
    Role.EVALUATION_KEYS: "client.evaluation_keys",
    Role.ARGUMENTS: "what client.encrypt(...) or encryptor.encrypt(...) returned",
    Role.RESULT: "what server.evaluate(...) returned",
}


class Versioned:
    """Pickles with the version of its form; another version is refused when it is read."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields and the version."""
        return {**{field.name: getattr(self, field.name) for field in fields(self)}, "version": VERSION}  # type: ignore[arg-type]

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the fields."""
        found = state.get("version")
        if found != VERSION:
            raise FormatError(
                f"a pickled {type(self).__name__} of version {found}; this ringsmith reads version {VERSION}: "
                "make it again with the same version at both sides"
            )
        self.__dict__.update({name: value for name, value in state.items() if name != "version"})


@dataclass(frozen=True)
class Identity:
    """The hash of a program, by section: what has to be the same at client and server."""

    sections: tuple[tuple[str, bytes], ...]

    @property
    def digest(self) -> bytes:
        """One hash of all sections."""
        return digest((VERSION, self.sections))

    def differing(self, other: Identity) -> list[str]:
        """Return the names of the sections that are not the same."""
        theirs = dict(other.sections)
        return [name for name, own in self.sections if theirs.get(name) != own]


@dataclass(frozen=True)
class Label(Versioned):
    """What travels with ciphertexts and keys: their role, their program, and which secret key they belong to."""

    role: Role
    program: Identity
    key: str

    def check(self, given: Any, receiver: str) -> None:
        """Fail unless an object with the label `given` is what a receiver with this one takes."""
        if not (isinstance(given, Label) and isinstance(given.program, Identity)):
            raise InputError(f"{receiver} got {self.role} without a label; pass {_SOURCES[self.role]}")
        if given.role is not self.role:
            raise InputError(f"{receiver} takes {self.role}, not {given.role}: {_SOURCES[self.role]}")
        if given.program != self.program:
            parts = ", ".join(self.program.differing(given.program)) or "version"
            raise KeyMismatchError(
                f"{self.role}: made for another program than {receiver}'s, which differs in {parts}; compile the same "
                "kernel with the same shapes and options at both sides"
            )
        if given.key != self.key:
            raise KeyMismatchError(
                f"{self.role}: of key {given.key}, {receiver} has key {self.key}; one client's keys, arguments and "
                "results go together"
            )


def received(given: Any, kind: type, role: Role, receiver: str) -> None:
    """Fail unless an object is of the class that carries a role."""
    if not isinstance(given, kind):
        raise InputError(f"{receiver} takes {role} ({kind.__name__}): {_SOURCES[role]}, not a {type(given).__name__}")


@dataclass(frozen=True)
class Expected:
    """A ciphertext's place in a message, and the facts the circuit promises about it."""

    place: str
    facts: Mapping[str, Any]

    def check(self, facts: Mapping[str, Any]) -> None:
        """Fail unless the facts of the ciphertext that came are these; facts of no interest may be more."""
        for name, wanted in self.facts.items():
            got = facts.get(name, wanted)
            same = isclose(got, wanted, rel_tol=SCALE_TOLERANCE) if name == "scale" else got == wanted
            if same:
                continue
            if name == "key":
                raise KeyMismatchError(f"{self.place} belongs to key {got}, its message to key {wanted}")
            raise InputError(
                f"{self.place} has {name} {got}, the program has {name} {wanted} there; send what this program's own "
                "client or server made, in its order"
            )


def expected_arguments(circuit: Circuit, encryption: str, key: str) -> list[Expected]:
    """Return what the circuit takes, in order."""
    places = [
        f"ciphertext {number} of argument {name}"
        for name, packing in circuit.inputs.items()
        for number in range(len(packing.gather))
    ]
    facts = {"key": key, "slots": circuit.slots, "seeded": encryption == "secret"}
    return [Expected(place, facts | _facts(step)) for place, step in zip(places, circuit.steps, strict=False)]


def expected_results(circuit: Circuit, key: str) -> list[Expected]:
    """Return what the circuit gives, in order."""
    facts = {"key": key, "slots": circuit.slots}
    return [
        Expected(f"ciphertext {number} of the result", facts | _facts(circuit.steps[output]))
        for number, output in enumerate(circuit.outputs)
    ]


def _facts(step: Step) -> dict[str, Any]:
    return {"level": step.level, "size": step.size, "scale": step.scale}


def checksums(ciphertexts: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the checksum that ends each ciphertext's bytes; reading a ciphertext proves it right."""
    return tuple(bytes(data[-_CHECKSUM_BYTES:]) for data in ciphertexts)


def check_count(ciphertexts: Sequence[bytes], expected: Sequence[Expected]) -> None:
    """Fail unless as many ciphertexts came, as bytes, as the program has there."""
    odd = [part for part in ciphertexts if not isinstance(part, bytes)]
    if odd:
        raise InputError(f"ciphertexts travel as bytes, not as {type(odd[0]).__name__}")
    if len(ciphertexts) != len(expected):
        raise InputError(f"{len(ciphertexts)} ciphertexts came, the program takes {len(expected)}")


def check_order(ciphertexts: Sequence[bytes], sent: Sequence[bytes], expected: Sequence[Expected]) -> None:
    """Fail unless each ciphertext stands where its sender put it, and no two fresh ones are the same."""
    if len(sent) != len(ciphertexts):
        raise InputError(f"{len(ciphertexts)} ciphertexts came, {len(sent)} were sent")
    for found, own, place in zip(checksums(ciphertexts), sent, expected, strict=True):
        if found != own:
            what = f"stands where {expected[sent.index(found)].place} belongs" if found in sent else "was exchanged"
            raise InputError(f"{place.place} is not what was sent there: it {what}; send the message as it was made")


def check_distinct(sent: Sequence[bytes], expected: Sequence[Expected]) -> None:
    """Fail if a fresh ciphertext came twice: encryption never gives the same one again."""
    for number, own in enumerate(sent):
        if own in sent[:number]:
            first = expected[sent.index(own)].place
            raise InputError(f"{expected[number].place} is {first} once more; encrypt each argument anew")


def identity(signature: Any, params: Any, circuit: Circuit, encryption: str) -> Identity:
    """Return the hash of a program: all that decides what it computes, with which parameters, and how data is packed.

    Names of sections are what refusals say. Places in source files, notes about the choice of parameters and the noise
    guarantee, which follows from the rest, are left out.
    """
    sections: dict[str, Any] = {
        "kernel": _plain_fields(signature),
        "parameters": _plain_fields(params, without=("security", "name", "source")),
        "encryption": encryption,
        "circuit": _circuit(circuit),
        "packing": [_packing(packing) for packing in circuit.inputs.values()],
        "plaintexts": _plaintexts(circuit),
        "output": _output(circuit.output),
    }
    return Identity(tuple((name, digest(content)) for name, content in sections.items()))


def _plain_fields(value: Any, without: Sequence[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass that count in comparisons."""
    names = [field.name for field in fields(value) if field.compare and field.name not in without]
    return {name: getattr(value, name) for name in names}


def _circuit(circuit: Circuit) -> tuple[Any, ...]:
    names = [field.name for field in fields(Step) if field.compare]
    columns = {name: _column([getattr(step, name) for step in circuit.steps]) for name in names}
    return circuit.scheme, circuit.slots, dict(circuit.bounds), columns, circuit.outputs


def _column(values: list[Any]) -> Any:
    """Return numbers as an array: circuits have thousands of steps."""
    return np.asarray(values) if values and isinstance(values[0], int | float) else values


def _packing(packing: InputPacking) -> tuple[Any, ...]:
    return packing.name, packing.gather, packing.trace


def _output(output: OutputPacking) -> tuple[Any, ...]:
    return output.shape, output.ct, output.slot, output.trace


def _plaintexts(circuit: Circuit) -> tuple[Any, ...]:
    """Return the plain expressions, arguments before users, and what each plaintext gathers of which."""
    nodes = _ordered([plain.node for plain in circuit.plains])
    number = {id(node): index for index, node in enumerate(nodes)}
    expressions = [(node.op, [number[id(arg)] for arg in node.args], node.shape, _attributes(node)) for node in nodes]
    return expressions, [(number[id(plain.node)], plain.gather) for plain in circuit.plains]


def _attributes(node: Node) -> dict[str, Any]:
    """Return the attributes of a plain node; its packing function is told by the answers to probes beside it."""
    return {name: value for name, value in node.attributes.items() if name != "pack"}


def _ordered(roots: Sequence[Node]) -> list[Node]:
    """Return every node behind the roots, arguments before users."""
    order: dict[int, Node] = {}
    stack = [(node, False) for node in reversed(roots)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.setdefault(id(node), node)
        elif id(node) not in order:
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))
    return list(order.values())
