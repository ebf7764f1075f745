# SPDX-License-Identifier: Apache-2.0
"""Messages between client and server: labelled keys, arguments and results, as bytes."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ringsmith import _native
from ringsmith.errors import FormatError, InputError
from ringsmith.files import replacing
from ringsmith.runtime.identity import Label, Role, checksums
from ringsmith.shown import Shown


@dataclass(frozen=True)
class Message(Shown, ABC):
    """A label and the objects of the engine's byte format that it speaks of."""

    label: Label
    _roles: ClassVar[tuple[Role, ...]] = ()

    @abstractmethod
    def parts(self) -> tuple[bytes, ...]:
        """Return the objects, in the order of the format."""

    @classmethod
    @abstractmethod
    def of_parts(cls, label: Label, parts: Sequence[bytes]) -> Self:
        """Return the message of these objects."""

    @property
    def nbytes(self) -> int:
        """Number of bytes of the objects."""
        return sum(map(len, self.parts()))

    def to_bytes(self) -> bytes:
        """Return the message as one object of the byte format (docs/format.md)."""
        label = self.label
        return bytes(_native.message_to_bytes(label.role.name, list(label.program.sections), label.key, self.parts()))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read `to_bytes`; FormatError for damaged bytes, InputError for a message of another role."""
        label, parts = opened(data)
        if label.role not in cls._roles:
            raise InputError(f"this is {label.role}; a {cls.__name__} holds {' or '.join(cls._roles)}")
        return cls.of_parts(label, parts)

    def save(self, path: str | Path) -> None:
        """Write the bytes to a file; it is whole or not there."""
        with replacing(Path(path)) as file:
            file.write(self.to_bytes())

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """Pickle as the bytes."""
        return type(self).from_bytes, (self.to_bytes(),)


#: Bytes of an object's start that tell whether it is secret: magic, version, type tag, fingerprint, length; then a
#: message's role (docs/format.md).
HEAD = 33
#: Bytes of an object's header and checksum.
_ENVELOPE = 32 + 8
_ROLES = tuple(Role)
_MAGIC, _SECRET_KEY, _MESSAGE = b"RSMI", 16, 65


def role_of(head: bytes) -> Role | None:
    """Return the role of a message by its first `HEAD` bytes, None if it is not a message."""
    message = len(head) >= HEAD and head[:4] == _MAGIC and int.from_bytes(head[6:8], "little") == _MESSAGE
    place = head[HEAD - 1] if message else len(_ROLES)
    return _ROLES[place] if place < len(_ROLES) else None


@lru_cache(256)  # Those of one program's messages begin alike.
def is_secret(head: bytes) -> bool:
    """Whether an object that begins so has a secret key, damaged as the rest of it may be."""
    key = len(head) >= 8 and head[:4] == _MAGIC and int.from_bytes(head[6:8], "little") == _SECRET_KEY
    return key or role_of(head) is Role.CLIENT


def secret_within(data: bytes | memoryview) -> bool:
    """Whether a secret key begins anywhere in these bytes: alone, inside a message, or behind anything else.

    Random bytes look like one with a probability of 2^-64 a byte.
    """
    view = bytes(data)
    place = view.find(_MAGIC)
    while place >= 0:
        if is_secret(view[place : place + HEAD]):
            return True
        place = view.find(_MAGIC, place + 1)
    return False


def opened(data: bytes) -> tuple[Label, list[bytes]]:
    """Return the label and the objects of a message's bytes."""
    label, parts = _native.message_from_bytes(data)
    return Label.from_bytes(label), parts


@dataclass(frozen=True)
class Encryptions(Message):
    """Ciphertexts on their way, as bytes; `checksums` holds what each ended with when it was sent."""

    ciphertexts: tuple[bytes, ...]
    checksums: tuple[bytes, ...]
    _roles = (Role.ARGUMENTS, Role.RESULT)

    @classmethod
    def of_parts(cls, label: Label, parts: Sequence[bytes]) -> Encryptions:
        """Return a message to send."""
        ciphertexts = _objects(parts)
        return cls(label, ciphertexts, checksums(ciphertexts))

    def parts(self) -> tuple[bytes, ...]:
        """Return the ciphertexts."""
        if self.checksums != checksums(self.ciphertexts):
            raise FormatError("a ciphertext of this message was exchanged since it was sent; send it as it was made")
        return self.ciphertexts

    def __repr__(self) -> str:
        """Return what it is and its size, no bytes."""
        return f"<Encryptions: {len(self.ciphertexts)} ciphertexts, {self.nbytes} bytes>"

    def _facts(self) -> list[tuple[str, str]]:
        return [("sha256", self.digest())]

    @property
    def nbytes(self) -> int:
        """Number of bytes of the ciphertexts."""
        return sum(map(len, self.ciphertexts))

    @cached_property
    def length(self) -> int:
        """Number of bytes that `to_bytes` returns."""
        return _ENVELOPE + len(self.label.to_bytes()) + 4 + sum(8 + len(part) for part in self.ciphertexts)

    def pieces(self) -> list[bytes]:
        """Return the bytes of `to_bytes` in pieces, without a copy of the ciphertexts."""
        parts = self.parts()
        around = _native.message_around(self.label.to_bytes(), parts)
        return [around[0], *chain.from_iterable(zip(parts, around[1:], strict=True))]

    def digest(self) -> str:
        """SHA-256 of all ciphertext bytes, in hexadecimal."""
        return hashlib.sha256(b"".join(self.ciphertexts)).hexdigest()


@dataclass(frozen=True)
class PublicKey(Message):
    """A public encryption key as bytes."""

    data: bytes
    _roles = (Role.PUBLIC_KEY,)

    @classmethod
    def of_parts(cls, label: Label, parts: Sequence[bytes]) -> PublicKey:
        """Return the message of one key."""
        return cls(label, *_counted(parts, 1, "public key"))

    def parts(self) -> tuple[bytes, ...]:
        """Return the key."""
        return (self.data,)

    def __repr__(self) -> str:
        """Return what it is and its size, no bytes."""
        return f"<PublicKey: {self.nbytes} bytes>"


@dataclass(frozen=True)
class Keys(Message):
    """Evaluation keys as bytes: what a server needs and nothing more. `public` only if the program encrypts zeros,
    `bootstrapping` only if it refreshes."""

    relinearization: bytes
    galois: bytes
    rotations: tuple[int, ...]
    public: bytes
    bootstrapping: bytes = b""
    _roles = (Role.EVALUATION_KEYS,)

    @classmethod
    def of_parts(cls, label: Label, parts: Sequence[bytes]) -> Keys:
        """Return the message of the keys."""
        count = 5 if isinstance(parts, list | tuple) and len(parts) == 5 else 4
        relinearization, galois, rotations, public, *more = _counted(parts, count, "set of evaluation keys")
        if len(rotations) % 4:
            raise FormatError(f"{len(rotations)} bytes of rotations; a multiple of 4 is needed")
        return cls(label, relinearization, galois, tuple(np.frombuffer(rotations, "<i4").tolist()), public, *more)

    def parts(self) -> tuple[bytes, ...]:
        """Return relinearisation key, rotation keys, rotations (4 bytes each, little-endian), public key and, if there
        are any, bootstrapping keys."""
        more = (self.bootstrapping,) if self.bootstrapping else ()
        return self.relinearization, self.galois, np.array(self.rotations, "<i4").tobytes(), self.public, *more

    def __repr__(self) -> str:
        """Return how many keys there are and their size, no bytes."""
        return f"<Keys: {len(self.rotations)} rotations, {self.nbytes} bytes>"

    @property
    def nbytes(self) -> int:
        """Number of bytes of the keys."""
        return len(self.relinearization) + len(self.galois) + len(self.public) + len(self.bootstrapping)


def _counted(parts: Sequence[bytes], count: int, what: str) -> tuple[bytes, ...]:
    objects = _objects(parts)
    if len(objects) != count:
        raise FormatError(f"{len(objects)} objects; a {what} has {count}")
    return objects


def _objects(parts: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the objects of a message; FormatError for anything but a list or tuple of bytes."""
    if not isinstance(parts, list | tuple):
        raise FormatError(f"the objects of a message come as a list of bytes, not as {type(parts).__name__}")
    odd = [type(part).__name__ for part in parts if not isinstance(part, bytes)]
    if odd:
        raise FormatError(f"{odd[0]} among the objects of a message; each has to be bytes")
    return tuple(parts)
