# SPDX-License-Identifier: Apache-2.0
"""`spec/operations.yaml` read into checked, immutable values."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from ringsmith.errors import FormatError

#: What each word of an operation may be.
WORDS: dict[str, tuple[Any, ...]] = {
    "takes": ("any", 2, 3),
    "parts": ("same", 2, 3),
    "level": ("top", "chosen", "same", "lower", "next", "refreshed"),
    "scale": ("set", "chosen", "same", "product", "square", "divided"),
    "key": ("none", "public", "relinearization", "rotation", "row_swap", "transform", "bootstrapping"),
    "runs": (True, False),
}
SCHEMES = ("bfv", "ckks")
#: Most operands of an operation: `Operation::operands` of the engine has a place for each.
MAX_OPERANDS = 2


@dataclass(frozen=True)
class Attribute:
    """What an operation takes besides ciphertexts: its type in Rust, its bytes in words."""

    name: str
    rust: str
    bytes: str


@dataclass(frozen=True)
class Operation:
    """One operation; the words mean what the file says of them."""

    name: str
    code: int
    schemes: tuple[str, ...]
    operands: tuple[str, ...]
    takes: str | int
    attributes: tuple[str, ...]
    parts: str | int
    level: str
    scale: str
    key: str
    runs: bool
    meaning: str

    @property
    def camel(self) -> str:
        """The name as Rust writes it."""
        return "".join(part.capitalize() for part in self.name.split("_"))


@dataclass(frozen=True)
class Operations:
    """The attributes in order of their bytes, the operations in order of their codes."""

    attributes: tuple[Attribute, ...]
    operations: tuple[Operation, ...]

    def attribute(self, name: str) -> Attribute:
        """Return the attribute of that name."""
        return next(own for own in self.attributes if own.name == name)


def load_operations(path: Path) -> Operations:
    """Read and check a file of operations; a mistake in it raises `FormatError` naming the entry."""
    data = yaml.safe_load(path.read_text())
    attributes = tuple(Attribute(name, **own) for name, own in data["attributes"].items())
    operations = tuple(_operation(entry, path) for entry in data["operations"])
    known = [attribute.name for attribute in attributes]
    for number, operation in enumerate(operations):
        where = f"{path}: {operation.name}"
        if operation.code != number:
            raise FormatError(f"{where}: code {operation.code}; codes count from 0, this is number {number}")
        if [name for name in known if name in operation.attributes] != list(operation.attributes):
            raise FormatError(f"{where}: attributes {operation.attributes}; there are, in this order, {known}")
        _check(operation, where)
    names = [operation.name for operation in operations]
    if len(set(names)) < len(names):
        raise FormatError(f"{path}: two operations have one name")
    return Operations(attributes, operations)


def _operation(entry: dict[str, Any], path: Path) -> Operation:
    expected = {field.name for field in fields(Operation)}
    if set(entry) != expected:
        wrong = sorted(set(entry) ^ expected)
        raise FormatError(f"{path}: {entry.get('name')}: missing or unknown: {', '.join(wrong)}")
    lists: dict[str, Any] = {key: tuple(entry[key]) for key in ("schemes", "operands", "attributes")}
    return Operation(**(entry | lists | {"meaning": " ".join(entry["meaning"].split())}))


def _check(operation: Operation, where: str) -> None:
    for name, known in WORDS.items():
        if getattr(operation, name) not in known:
            raise FormatError(f"{where}: {name} is {getattr(operation, name)!r}; there are {known}")
    if not operation.schemes or not set(operation.schemes) <= set(SCHEMES):
        raise FormatError(f"{where}: schemes {operation.schemes}; there are {SCHEMES}")
    if len(operation.operands) > MAX_OPERANDS:
        raise FormatError(f"{where}: {len(operation.operands)} operands; at most {MAX_OPERANDS} are possible")
    free = (operation.level in ("top", "chosen"), operation.scale in ("set", "chosen"), operation.parts != "same")
    if not operation.operands and not all(free):
        raise FormatError(f"{where}: it has no operands that its parts, level and scale could follow from")
