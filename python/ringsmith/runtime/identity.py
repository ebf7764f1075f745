# SPDX-License-Identifier: Apache-2.0
"""Labels of objects that travel, and their comparison by a receiver.

Ciphertexts and keys go from client to server and back as bytes. Beside them travels a label: the role (a key,
arguments, a result), the hash of the program in sections, so that a refusal can say what differs, and the public
identity of the key. A ciphertext's own level, scale, size and key are compared with what the program has at that place.
Labels find mistakes, not forgery: a program that can change the bytes can change the label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from math import isclose
from typing import Any

from ringsmith import _native
from ringsmith.errors import InputError, KeyMismatchError
from ringsmith.frontend.manual import SCALE_TOLERANCE
from ringsmith.runtime.canonical import digest

#: Version of the hashes' input.
VERSION = 2
#: Bytes of the checksum that ends every object of the engine's byte format.
_CHECKSUM_BYTES = 8


class Role(StrEnum):
    """Purpose of an object, in the words of messages."""

    PUBLIC_KEY = "the public key"
    EVALUATION_KEYS = "the evaluation keys"
    ARGUMENTS = "the encrypted arguments"
    RESULT = "the result"
    CLIENT = "the client"
    ROUNDS = "the client-aided program"


#: Source of an object of each role: the remedy of most mistakes.
_SOURCES = {
    Role.PUBLIC_KEY: "client.public_key",
    Role.EVALUATION_KEYS: "client.evaluation_keys",
    Role.ARGUMENTS: "what client.encrypt(...) or encryptor.encrypt(...) returned",
    Role.RESULT: "what server.evaluate(...) returned",
    Role.CLIENT: "what client.save(...) wrote",
    Role.ROUNDS: "what rounds.save(...) wrote",
}


@dataclass(frozen=True)
class Identity:
    """The hash of a program, by section: what has to be the same at client and server."""

    sections: tuple[tuple[str, bytes], ...]

    @cached_property
    def digest(self) -> bytes:
        """One hash of all sections."""
        return digest((VERSION, self.sections))

    def differing(self, other: Identity) -> list[str]:
        """Return the names of the sections that are not the same."""
        theirs = dict(other.sections)
        return [name for name, own in self.sections if theirs.get(name) != own]


@dataclass(frozen=True)
class Label:
    """Label of ciphertexts and keys: their role, their program, and which secret key they belong to."""

    role: Role
    program: Identity
    key: str

    @cached_property
    def _bytes(self) -> bytes:
        return _native.message_label(self.role.name, list(self.program.sections), self.key)

    def to_bytes(self) -> bytes:
        """Return the label as it begins a message (docs/format.md)."""
        return self._bytes

    @staticmethod
    @lru_cache(256)  # Messages of one program and key share one.
    def from_bytes(data: bytes) -> Label:
        """Read `to_bytes`; FormatError if the bytes are not a label."""
        role, sections, key = _native.label_from_bytes(data)
        return Label(Role[role], Identity(tuple(sections)), key)

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
    """A ciphertext's place in a message, and the facts the program promises about it."""

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


def expected_arguments(program: _native.Program, key: str) -> list[Expected]:
    """Return the program's inputs, in order."""
    places = [
        f"ciphertext {number} of argument {name}"
        for name, _, encrypted, _, _ in program.arguments
        if encrypted
        for number in range(len(program.packing(name)) // program.slots)
    ]
    facts = {"key": key, "slots": program.slots}
    # Of a result that nothing was done to, both halves may still be a seed.
    fresh = [{"seeded": program.encryption == "secret"} if own else {} for own in sent_fresh(program)]
    found = zip(places, program.inputs(), fresh, strict=True)
    return [Expected(place, facts | own | _shape(step)) for place, step, own in found]


def sent_fresh(program: _native.Program) -> list[bool]:
    """Return of each ciphertext that is sent whether the client encrypts it; others are results of other programs."""
    return [
        program.producer(name) is None
        for name, _, encrypted, _, _ in program.arguments
        if encrypted
        for _ in range(len(program.packing(name)) // program.slots)
    ]


def expected_results(program: _native.Program, key: str) -> list[Expected]:
    """Return the program's outputs, in order."""
    facts = {"key": key, "slots": program.slots}
    return [Expected(f"ciphertext {n} of the result", facts | _shape(own)) for n, own in enumerate(program.outputs())]


def _shape(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a ciphertext's facts, what explains the others first."""
    return {name: own[name] for name in ("level", "size", "scale")}


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
