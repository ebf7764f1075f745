# SPDX-License-Identifier: Apache-2.0
"""HEIR's text: names of types, functions, operations one a line, and what types say of level, scale and size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError
from ringsmith.files import read_text

#: Largest file that is read, in bytes; the most operations of a function, and the largest degree of a ring.
MAX_HEIR = 64 << 20
MOST_OPERATIONS = 1 << 16
MAX_DEGREE = 1 << 17

_ALIAS = re.compile(r"([!#][\w.$-]+) = (.+)")
_FUNCTION = re.compile(r"(?:func\.)?func (?:private |public )?@([\w.$-]+)\((.*?)\)(?: (?:->|attributes) .*?)? ?\{")
_OPERATION = re.compile(r"(?:(%[\w.$-]+) = )?([a-z_]\w*(?:\.\w+)*)\b ?(.*)")
#: Facts of types that are looked for in their text.
_FACTS = {
    "scale": re.compile(r"\bscaling_factor = (\d{1,9})"),
    "level": re.compile(r"\bcurrent = (\d{1,9})"),
    "size": re.compile(r"\bsize = (\d{1,9})"),
    "degree": re.compile(r"\bpolynomialModulus = <1 \+ x\*\*(\d{1,9})>"),
}


@dataclass(frozen=True)
class Type:
    """A type: `kind` is cipher, plain, or a tensor's or scalar's text; of the others what their text says.

    `scale` is in bits and 0 where none is said, `level` None where none is said; `modulus` that of plaintexts.
    """

    kind: str
    text: str = field(repr=False, default="")
    degree: int = 0
    scale: int = 0
    level: int | None = None
    size: int = 2
    modulus: int = 0
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Operation:
    """An operation: `attributes` is the text between its braces, `rest` what stands before it and its types."""

    line: int
    result: str
    name: str
    operands: tuple[str, ...]
    attributes: str
    rest: str
    type: Type | None


@dataclass(frozen=True)
class Function:
    """A function with the types of its arguments, its operations and what it returns."""

    line: int
    name: str
    arguments: Mapping[str, Type]
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Module:
    """A file: its functions, and log2 of the scale that rescaling divides by (0: not said)."""

    path: Path
    functions: tuple[Function, ...]
    log2_scale: int

    def refusal(self, line: int, what: str) -> InputError:
        """Return the error of a line."""
        return InputError(f"{self.path}:{line}: {what}")


def read_heir(path: Path) -> Module:
    """Return the functions of a file.

    Raises:
        InputError: a line that cannot be read, with file and line; more than the bounds above.
    """
    text = read_text(path, MAX_HEIR)
    scale = re.search(r"\blogDefaultScale = (\d{1,4})", text)
    reader = _Reader(path)
    functions = tuple(reader.functions(text))
    if not functions:
        raise InputError(f"{path}: no function; HEIR's text has func.func @NAME(...)")
    return Module(path, functions, int(scale[1]) if scale else 0)


class _Reader:
    """Reads line after line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._aliases: dict[str, str] = {}
        self._known: dict[str, dict[str, int]] = {}

    def functions(self, text: str) -> Iterator[Function]:
        """Yield the functions; names of types stand before them."""
        head: tuple[int, str, dict[str, Type]] | None = None
        operations: list[Operation] = []
        for number, raw in enumerate(text.splitlines(), 1):
            line = raw.partition("//")[0].strip()
            if not line or line.startswith("module"):
                continue
            if alias := _ALIAS.fullmatch(line):
                self._aliases[alias[1]] = alias[2]
            elif begins := _FUNCTION.fullmatch(line):
                head, operations = (number, begins[1], dict(self._arguments(number, begins[2]))), []
            elif head is None and line != "}":
                raise self._refusal(number, f"{line[:60]!r} outside a function")
            elif line == "}" and head is not None:
                yield Function(*head, tuple(operations))
                head = None
            elif line != "}":
                operations.append(self._operation(number, line))
                if len(operations) > MOST_OPERATIONS:
                    raise self._refusal(number, f"more than {MOST_OPERATIONS} operations")
        if head is not None:
            raise InputError(f"{self._path}: function @{head[1]} has no end; the file is cut off")

    def _arguments(self, line: int, text: str) -> Iterator[tuple[str, Type]]:
        for one in split(text):
            name, colon, kind = one.partition(":")
            if not colon or not re.fullmatch(r"%[\w.$-]+", name.strip()):
                raise self._refusal(line, f"argument {one[:40]!r} is no %NAME: TYPE")
            yield name.strip(), self.type_of(line, _without_braces(kind).strip())

    def _operation(self, line: int, text: str) -> Operation:
        found = _OPERATION.fullmatch(text)
        if found is None or ("{" in text and "}" not in text):
            raise self._refusal(line, f"{text[:60]!r} is no operation on one line")
        before, attributes, after = _parts(found[3])
        operands, _, inline = before.partition(" : ")
        types = after.partition(":")[2] if attributes else inline
        result = types.rpartition("->")[2] if "->" in types else types.rpartition(" : ")[2]
        known = self.type_of(line, result.strip()) if found[1] and result.strip() else None
        names = tuple(re.findall(r"%[\w.$-]+", operands))
        return Operation(line, found[1] or "", found[2], names, attributes, operands, known)

    def type_of(self, line: int, text: str) -> Type:
        """Return what a type's text says."""
        whole = self._aliases.get(text, text)
        if whole.startswith("!lwe.lwe_ciphertext<") or whole.startswith("!lwe.lwe_plaintext<"):
            facts = self._facts(line, text, ())
            if not 8 <= facts.get("degree", 0) <= MAX_DEGREE:
                raise self._refusal(line, f"{text[:60]}: no ring degree from 8 to {MAX_DEGREE}")
            kind = "cipher" if "ciphertext" in whole[:20] else "plain"
            given: dict[str, Any] = {
                name: facts[name] for name in ("degree", "scale", "level", "size") if name in facts
            }
            return Type(kind, text, **given, modulus=facts.get("modulus", 0))
        if shape := re.fullmatch(r"tensor<((?:\d{1,9}x)+)(f64|f32|i64|i32|i16|index)>", whole):
            return Type("tensor", text, shape=tuple(int(extent) for extent in shape[1].split("x")[:-1]))
        return Type(whole, text)

    def _facts(self, line: int, text: str, above: tuple[str, ...]) -> dict[str, int]:
        """Return the facts of a type, those of the names in it included; each name is looked at once."""
        if text in self._known:
            return self._known[text]
        if text in above or len(above) > 32:
            raise self._refusal(line, f"{text[:60]}: names of types in a circle, or too deep")
        whole = self._aliases.get(text, text)
        facts: dict[str, int] = {}
        for name in dict.fromkeys(re.findall(r"[!#][\w.$-]+", whole)):
            if name in self._aliases and name != text:
                facts |= self._facts(line, name, (*above, text))
        facts |= {name: int(found[1]) for name, pattern in _FACTS.items() if (found := pattern.search(whole))}
        plain = re.match(r"!mod_arith\.int<(\d{1,20}) :", whole)
        if plain:
            facts["modulus"] = int(plain[1])
        elif "ciphertext_space" in whole and (
            space := re.search(r"plaintext_space = <?(?:ring = )?(#[\w.$-]+)", whole)
        ):
            facts["modulus"] = self._facts(line, space[1], (*above, text)).get("modulus", 0)
        self._known[text] = facts
        return facts

    def _refusal(self, line: int, what: str) -> InputError:
        return InputError(f"{self._path}:{line}: {what}")


def split(text: str) -> list[str]:
    """Return the parts of a list at its commas, those in brackets left alone."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "<({[") - (char in ">)}]" and text[at - 1 : at + 1] != "->")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part for part in (*parts, text[start:]) if part.strip()]


def _parts(text: str) -> tuple[str, str, str]:
    """Return what stands before the braces of an operation, in them, and behind them."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return text, "", ""
    return text[:start], text[start + 1 : end], text[end + 1 :]


def _without_braces(text: str) -> str:
    return text.partition("{")[0]
