# SPDX-License-Identifier: Apache-2.0
"""Trees of the C++ library cereal, in its portable binary form and as JSON, read and written by a schema.

Both forms have the same numbers, texts and lengths in the same order; JSON names them. A class has its version where it
first occurs. A pointer has a number; what it points to comes with its first occurrence, which the top bit marks. A
pointer to a class with subclasses says the class by a number before, with its name where that first occurs; 2^30 is
the class that was declared, 0 no object.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ringsmith.errors import FormatError, InputError
from ringsmith.interchange.cursor import Cursor, Words
from ringsmith.limits import VARIABLE, max_memory

FIRST, DECLARED = 1 << 31, 1 << 30
#: The most characters of a text.
_TEXT = 1024
#: Bytes of Python's objects for a byte of JSON, at most.
_JSON_BYTES = 32
_INTEGERS = {"B": 1 << 8, "I": 1 << 32, "Q": 1 << 64}


class Source(Protocol):
    """What a tree is read from. `seen`, `names`, `shared`: classes, names of classes and objects met so far."""

    seen: set[str]
    names: dict[int, str]
    shared: dict[int, tuple[Any, Any]]

    def fail(self, text: str) -> FormatError:
        """Return the error of these bytes."""

    def number(self, form: str, name: str) -> Any:
        """Return a number of a `struct` form."""

    def text(self, name: str) -> str:
        """Return a text."""

    def size(self, name: str, most: int) -> int:
        """Return the number of items that follow. Raises FormatError for more than `most`."""

    def words(self, name: str, most: int) -> Words:
        """Return integers of 64 bits."""

    def finish(self) -> None:
        """Raise FormatError unless all was taken."""


class _Read:
    """What both sources have."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.names: dict[int, str] = {}
        self.shared: dict[int, tuple[Any, Any]] = {}


class BinarySource(_Read):
    """The portable binary form: a byte that says the order of bytes, then the values."""

    def __init__(self, data: bytes, library: str) -> None:
        """Start behind the first byte; `library` names the format in errors."""
        super().__init__()
        self._cursor = Cursor(data, library)
        self.fail = self._cursor.fail
        if self._cursor.number("the order of bytes", 1) != 1:
            raise self.fail("the order of bytes is not little-endian")

    def number(self, form: str, name: str) -> Any:
        """Return a number."""
        (value,) = self._cursor.unpack(form, name)
        if not math.isfinite(value):
            raise self.fail(f"{name} is {value}")
        return value

    def text(self, name: str) -> str:
        """Return a text."""
        length = self._cursor.ranged(f"the length of {name}", 0, _TEXT)
        return _ascii(bytes(self._cursor.take(length, name)), name, self)

    def size(self, name: str, most: int) -> int:
        """Return a length."""
        return self._cursor.ranged(f"the length of {name}", 0, most)

    def words(self, name: str, most: int) -> Words:
        """Return integers."""
        return self._cursor.words(self.size(name, most), name)

    def finish(self) -> None:
        """Raise FormatError for bytes that are left."""
        self._cursor.finish()


def _ascii(data: bytes, name: str, source: BinarySource) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise source.fail(f"{name} is no text") from None


class JsonSource(_Read):
    """JSON, its leaves in the order of the file."""

    def __init__(self, data: bytes, library: str) -> None:
        """Parse the text."""
        super().__init__()
        self._library = library
        if len(data) * _JSON_BYTES > (limit := max_memory()):
            raise InputError(
                f"{library} bytes: {len(data)} bytes of JSON; {limit // _JSON_BYTES} are read: raise {VARIABLE}, or "
                "serialise as BINARY"
            )
        try:
            tree = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self.fail(f"damaged JSON: {str(error).splitlines()[0]}") from None
        self._open: list[Iterator[tuple[str | None, Any]]] = [iter([(None, tree)])]

    def fail(self, text: str) -> FormatError:
        """Return the error of this text."""
        return FormatError(f"{self._library} bytes: {text}")

    def _next(self, name: str) -> Any:
        """Return the next value that is no object. Raises FormatError for one of another name."""
        while self._open:
            key, value = next(self._open[-1], (None, self._open))
            if value is self._open:
                self._open.pop()
            elif isinstance(value, dict):
                self._open.append(iter(value.items()))
            elif key not in (None, name):
                raise self.fail(f"{str(key)[:40]!r} stands where {name} is due")
            else:
                return value
        raise self.fail(f"truncated: {name} is missing")

    def number(self, form: str, name: str) -> Any:
        """Return a number."""
        value = self._next(name)
        most = _INTEGERS.get(form)
        right = type(value) is int and 0 <= value < most if most else type(value) in (int, float)
        if not right or (not most and not abs(value) < 1e300):
            raise self.fail(f"{name} is {str(value)[:40]}, no number of its kind")
        return value if most else float(value)

    def text(self, name: str) -> str:
        """Return a text."""
        value = self._next(name)
        if not isinstance(value, str) or len(value) > _TEXT or not value.isascii():
            raise self.fail(f"{name} is no text of at most {_TEXT} characters")
        return value

    def _list(self, name: str, most: int) -> list[Any]:
        value = self._next(name)
        if not isinstance(value, list) or len(value) > most:
            raise self.fail(f"{name} is no array of at most {most} items")
        return value

    def size(self, name: str, most: int) -> int:
        """Return a length; the items come next."""
        value = self._list(name, most)
        self._open.append(iter([(None, item) for item in value]))
        return len(value)

    def words(self, name: str, most: int) -> Words:
        """Return integers."""
        value = self._list(name, most)
        if not all(type(item) is int and 0 <= item < 1 << 64 for item in value):
            raise self.fail(f"{name} holds something else than integers of 64 bits")
        return np.array(value, np.uint64)

    def finish(self) -> None:
        """Raise FormatError for values that are left."""
        for values in self._open:
            if next(values, None) is not None:
                raise self.fail("values are left over after the end of the object")


class Target:
    """What a tree is written to, here the binary form: objects in it leave no trace."""

    def __init__(self) -> None:
        """Start with the order of bytes."""
        self.seen: set[str] = set()
        self.names: dict[str, int] = {}
        #: Numbers of the objects met so far, by identity; the objects are kept, so that none has another's.
        self.shared: dict[int, tuple[int, Any]] = {}
        self._parts = [b"\x01"]

    def number(self, form: str, name: str, value: Any) -> None:
        """Write a number."""
        del name
        self._parts.append(struct.pack(f"<{form}", value))

    def text(self, name: str, value: str) -> None:
        """Write a text."""
        del name
        self._parts += [len(value).to_bytes(8, "little"), value.encode("ascii")]

    def words(self, name: str, value: Words) -> None:
        """Write integers."""
        del name
        self._parts += [len(value).to_bytes(8, "little"), value.astype("<u8", copy=False).tobytes()]

    def begin(self, name: str | None) -> None:
        """Begin an object."""

    def begin_list(self, name: str, count: int) -> None:
        """Begin an array."""
        self.number("Q", name, count)

    def end(self) -> None:
        """End what was begun last."""

    def finish(self) -> bytes:
        """Return the bytes."""
        return b"".join(self._parts)


class JsonTarget(Target):
    """JSON, indented as the library does."""

    def __init__(self) -> None:
        """Start with an object."""
        super().__init__()
        self._open: list[Any] = [{}]

    def _put(self, name: str | None, value: Any) -> None:
        top = self._open[-1]
        if isinstance(top, list):
            top.append(value)
        else:
            top[name] = value

    def number(self, form: str, name: str, value: Any) -> None:
        """Write a number."""
        self._put(name, int(value) if form in _INTEGERS else float(value))

    def text(self, name: str, value: str) -> None:
        """Write a text."""
        self._put(name, value)

    def words(self, name: str, value: Words) -> None:
        """Write integers."""
        self._put(name, value.tolist())

    def begin(self, name: str | None) -> None:
        """Begin an object."""
        made: dict[str, Any] = {}
        self._put(name, made)
        self._open.append(made)

    def begin_list(self, name: str, count: int) -> None:
        """Begin an array."""
        del count
        made: list[Any] = []
        self._put(name, made)
        self._open.append(made)

    def end(self) -> None:
        """End what was begun last."""
        self._open.pop()

    def finish(self) -> bytes:
        """Return the text."""
        return json.dumps(self._open[0], indent=4).encode()


class Schema(Protocol):
    """What stands in a place."""

    def read(self, source: Source, name: str) -> Any:
        """Return it."""

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""


@dataclass(frozen=True)
class Number:
    """A number of a `struct` form: B, I, Q, f or d."""

    form: str

    def read(self, source: Source, name: str) -> Any:
        """Return it."""
        return source.number(self.form, name)

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""
        target.number(self.form, name, value)


@dataclass(frozen=True)
class Text:
    """A text of ASCII characters."""

    def read(self, source: Source, name: str) -> str:
        """Return it."""
        return source.text(name)

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""
        target.text(name, value)


@dataclass(frozen=True)
class WordList:
    """Integers of 64 bits, `most` of them at most: an array of uint64."""

    most: int

    def read(self, source: Source, name: str) -> Words:
        """Return them."""
        return source.words(name, self.most)

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write them."""
        target.words(name, value)


@dataclass(frozen=True)
class Record:
    """A class: its version, then its fields: a dictionary."""

    kind: str
    version: int
    fields: Mapping[str, Schema] = field(hash=False)

    def read(self, source: Source, name: str) -> dict[str, Any]:
        """Return it. Raises FormatError for another version."""
        del name
        if self.kind not in source.seen:
            source.seen.add(self.kind)
            if (found := source.number("I", "cereal_class_version")) != self.version:
                raise source.fail(f"a {self.kind} of version {found}; version {self.version} is read")
        return {one: schema.read(source, one) for one, schema in self.fields.items()}

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""
        target.begin(name)
        if self.kind not in target.seen:
            target.seen.add(self.kind)
            target.number("I", "cereal_class_version", self.version)
        for one, schema in self.fields.items():
            schema.write(target, one, value[one])
        target.end()


@dataclass(frozen=True)
class Sequence:
    """A vector: a list, of `most` items at most."""

    of: Schema
    most: int

    def read(self, source: Source, name: str) -> list[Any]:
        """Return it."""
        return [self.of.read(source, name) for _ in range(source.size(name, self.most))]

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""
        target.begin_list(name, len(value))
        for item in value:
            self.of.write(target, name, item)
        target.end()


@dataclass(frozen=True)
class Table:
    """A map: a dictionary, of `most` entries at most."""

    key: Schema
    of: Schema
    most: int

    def read(self, source: Source, name: str) -> dict[Any, Any]:
        """Return it. Raises FormatError for a key that comes twice."""
        count, found = source.size(name, self.most), {}
        for _ in range(count):
            key = self.key.read(source, "key")
            found[key] = self.of.read(source, "value")
        if len(found) != count:
            raise source.fail(f"{name} has an entry twice")
        return found

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""
        target.begin_list(name, len(value))
        for key, item in value.items():
            target.begin(None)
            self.key.write(target, "key", key)
            self.of.write(target, "value", item)
            target.end()
        target.end()


@dataclass(frozen=True)
class Shared:
    """A pointer to an object of one class, shared where it comes again: that object."""

    of: Schema

    def read(self, source: Source, name: str) -> Any:
        """Return it. Raises FormatError for a number of no object of this class."""
        number = source.number("I", "id")
        if number & FIRST:
            value = self.of.read(source, "data")
            source.shared[number ^ FIRST] = (self.of, value)
            return value
        kind, value = source.shared.get(number, (None, None))
        if kind is not self.of:
            raise source.fail(f"{name} points to object {number}, which is none of its kind")
        return value

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""
        target.begin(name)
        self.write_pointer(target, value)
        target.end()

    def write_pointer(self, target: Target, value: Any) -> None:
        """Write the number, and the object where it comes first."""
        target.begin("ptr_wrapper")
        number, _ = target.shared.get(id(value), (0, None))
        if number:
            target.number("I", "id", number)
        else:
            number = len(target.shared) + 1
            target.shared[id(value)] = (number, value)
            target.number("I", "id", number | FIRST)
            self.of.write(target, "data", value)
        target.end()


#: Where the name of a subclass stands in a tree.
NAME = "polymorphic_name"


@dataclass(frozen=True)
class Pointer:
    """A pointer to an object of a class with subclasses: of the declared one, or of those of `named`."""

    declared: Schema | None = None
    named: Mapping[str, Schema] = field(default_factory=dict, hash=False)

    def read(self, source: Source, name: str) -> Any:
        """Return it, with the name of a subclass as its entry NAME. Raises FormatError for other classes."""
        number = source.number("I", "polymorphic_id")
        if number == DECLARED and self.declared is not None:
            return Shared(self.declared).read(source, name)
        if number & FIRST:
            source.names[number ^ FIRST] = source.text(NAME)
        kind = source.names.get(number & ~FIRST, f"number {number}")
        if kind not in self.named:
            raise source.fail(f"{name} is of class {kind[:60]!r}; {', '.join(self.named) or 'none'} is read")
        value = Shared(self.named[kind]).read(source, name)
        value[NAME] = kind
        return value

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""
        target.begin(name)
        if (kind := value.get(NAME)) is None:
            target.number("I", "polymorphic_id", DECLARED)
            assert self.declared is not None
            Shared(self.declared).write_pointer(target, value)
        else:
            known = kind in target.names
            number = target.names.setdefault(kind, len(target.names) + 1)
            target.number("I", "polymorphic_id", number | (0 if known else FIRST))
            if not known:
                target.text(NAME, kind)
            Shared(self.named[kind]).write_pointer(target, value)
        target.end()


@dataclass(frozen=True)
class Nothing:
    """A pointer to no object; `what` is refused in its place."""

    what: str

    def read(self, source: Source, name: str) -> None:
        """Return None. Raises InputError for an object."""
        del name
        if source.number("I", "polymorphic_id"):
            raise InputError(f"{self.what} is not read")

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""
        del value
        target.begin(name)
        target.number("I", "polymorphic_id", 0)
        target.end()


@dataclass(frozen=True)
class Owned:
    """A pointer to an object that belongs to it alone."""

    of: Schema

    def read(self, source: Source, name: str) -> Any:
        """Return the object. Raises FormatError where there is none."""
        if source.number("I", "polymorphic_id") != DECLARED or source.number("B", "valid") != 1:
            raise source.fail(f"{name} is empty")
        return self.of.read(source, "data")

    def write(self, target: Target, name: str, value: Any) -> None:
        """Write it."""
        target.begin(name)
        target.number("I", "polymorphic_id", DECLARED)
        target.begin("ptr_wrapper")
        target.number("B", "valid", 1)
        self.of.write(target, "data", value)
        target.end()
        target.end()
