# SPDX-License-Identifier: Apache-2.0
"""The stub of the bindings: classes, methods and functions as `bindings` reads them, their types as Python has them.

A Rust type without a row here is an error that names its place.  `mypy.stubtest` compares the stub with the module.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ringsmith.errors import FormatError
from ringsmith.gen.bindings import Class, Function, Module, Other, read
from ringsmith.gen.comments import WIDTH
from ringsmith.gen.rust_source import Group, Tree, Trees, separated, text

HEADER = '''\
# SPDX-License-Identifier: Apache-2.0
# Generated from crates/python/src by `python -m ringsmith.gen`; do not edit.
"""The Rust engine as Python sees it; a test checks this stub against the built module."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

'''
_NUMBERS = "npt.NDArray[np.float64] | npt.NDArray[np.int64]"
_INTEGERS = "npt.NDArray[np.int64] | npt.NDArray[np.uint64]"
_REALS = "npt.NDArray[np.float64] | npt.NDArray[np.complex128]"
#: Rust types that are a type of Python whatever they hold.
TYPES = {
    **dict.fromkeys(("u8", "u16", "u32", "u64", "u128", "usize", "i32", "i64"), "int"),
    **dict.fromkeys(("String", "str"), "str"),
    **dict.fromkeys(("PyBytes", "PyBackedBytes"), "bytes"),
    "f64": "float",
    "bool": "bool",
    "Complex64": "complex",
    "PathBuf": "str | PathLike[str]",
    "PyBuffer": "bytes | memoryview",
    "PyDict": "dict[str, Any]",
    "GiantFacts": "tuple[bool, Sequence[tuple[bool, float | None]]]",
    "Sent": "Sequence[bytes] | Sequence[BfvCiphertext] | Sequence[CkksCiphertext]",
}
#: Arrays: what they hold stands first in angle brackets.
ARRAYS = ("PyArray1", "PyArray2", "PyArrayDyn", "PyReadonlyArrayDyn")
ELEMENTS = {"i64": "np.int64", "u64": "np.uint64", "f64": "np.float64", "Complex64": "np.complex128"}
#: Kinds of functions: what stands before one, its first parameter, and its name where that is another.
KINDS = {
    "": ("", (), ""),
    "method": ("", ("self",), ""),
    "getter": ("@property\n", ("self",), ""),
    "static": ("@staticmethod\n", (), ""),
    "new": ("", ("cls",), "__new__"),
}
#: Where Rust takes or gives any object: what it is, by function and argument ("return" for the result).
OBJECTS = {
    "BfvEncoder.encode.values": _INTEGERS,
    "BfvEncoder.encode_batch.values": _INTEGERS,
    "CkksEncoder.encode.values": _REALS,
    "CkksEncoder.encode_batch.values": _REALS,
    "ProgramBuilder.expression.values": f"{_NUMBERS} | None",
    "ProgramBuilder.argument.low": "float",
    "ProgramBuilder.argument.high": "float",
    "Program.arguments.return": "list[tuple[str, list[int], bool, float, float]]",
    "Program.cost.return": "dict[str, int]",
    "Program.counts.return": "dict[str, int]",
    "Device.last_round.return": "dict[str, int] | None",
    **dict.fromkeys((f"{name}.__eq__.other" for name in ("BfvContext", "CkksContext", "Program")), "object"),
    "Program.clear.inputs": f"Sequence[{_NUMBERS}]",
    "Program.clear.plain": f"Sequence[{_NUMBERS}]",
    "Program.clear.return": "list[npt.NDArray[Any]]",
    "Device.rtl.firmware": "bytes",
    "Session.run_kept.keep": "Callable[[bytes], object]",
    **{
        f"Session.{name}.plain": f"Sequence[{_NUMBERS}]" for name in ("run", "run_kept", "answer", "run_many", "record")
    },
    **{
        f"Session.{name}.progress": "Callable[[int, int], object] | None"
        for name in ("run", "run_kept", "answer", "run_many", "record")
    },
}


def render(root: Path) -> str:
    """Return the text of `_native.pyi` from the crate's folder; FormatError for what cannot be told."""
    module = read(root)
    names = sorted(module.classes.keys() | module.functions.keys() | module.constants.keys(), key=_rank)
    listed = "".join(f'    "{name}",\n' for name in names)
    lines = [HEADER, f"__all__ = [\n{listed}]\n\n"]
    lines += [f"{name}: {kind}\n" for name, kind in sorted(module.constants.items())]
    types = Types(module)
    lines += [types.function(module.functions[name]) for name in sorted(module.functions)]
    for name in sorted(module.classes):
        lines += types.of_class(module.classes[name])
    return _formatted("".join(lines))


def _rank(name: str) -> tuple[bool, bool, str]:
    """Sort names as `ruff` does: constants, classes, the rest."""
    return not name.isupper(), not name[0].isupper(), name


def _formatted(source: str) -> str:
    """Return Python as the project formats it."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--isolated",
        f"--line-length={WIDTH}",
        "--stdin-filename",
        "_native.pyi",
        "-",
    ]
    made = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise FormatError(f"ruff format of the stub: {made.stderr.strip()}")
    return made.stdout


@dataclass(frozen=True, slots=True)
class Use:
    """Where a type stands: for messages, the class it is in, what its file calls otherwise, and how lists look."""

    place: str
    owner: str
    scope: dict[str, Other]
    many: str


class Types:
    """Python's types of a module's Rust types."""

    def __init__(self, module: Module) -> None:
        """Take the classes by their Rust names, and what stands for other types."""
        self._others = module.others
        self._classes = {one.rust: one.name for one in module.classes.values()}

    def of_class(self, one: Class) -> Iterator[str]:
        """Yield the lines of a class with its members in the source's order."""
        yield "@disjoint_base\n" if one.is_base else "@final\n"
        yield f"class {one.name}({self._classes[one.base]}):\n" if one.base else f"class {one.name}:\n"
        for member in one.members:
            yield "".join(f"    {line}\n" for line in self.function(member, one.name).splitlines())
        if not one.members:
            yield "    ...\n"

    def function(self, one: Function, owner: str = "") -> str:
        """Return a function of the module, or a member of a class."""
        place = f"{owner}.{one.name}" if owner else one.name
        head, first, name = KINDS[one.kind]
        given = [self._parameter(own, one, place, owner) for own, _ in one.parameters()]
        result = owner if one.kind == "new" else self._of(one.result, Use(f"{place}.return", owner, one.scope, "list"))
        return f"{head}def {name or one.name}({', '.join([*first, *given])}) -> {result}: ...\n"

    def _parameter(self, name: str, one: Function, place: str, owner: str) -> str:
        if name == "*":
            return name
        kind = self._of(one.arguments[name], Use(f"{place}.{name}", owner, one.scope, "Sequence"))
        return f"{name}: {kind}{' = ...' if one.has_default(name) else ''}"

    def _of(self, kind: Trees, use: Use) -> str:
        """Return a type: references and paths do not count, what stands in angle brackets may."""
        if use.place in OBJECTS:
            return OBJECTS[use.place]
        kind = tuple(one for one in kind if one != "&" and not _is_lifetime(one))
        if not kind:
            return "None"
        if isinstance(kind[0], Group):
            return self._group(kind[0], use)
        name, inner = _named(kind)
        if name in ARRAYS:
            return f"npt.NDArray[{ELEMENTS[text(inner[0])]}]"
        if name in TYPES:
            return TYPES[name]
        parts = [self._of(one, use) for one in inner]
        match name:
            case "Py" | "PyRef" | "Bound" | "PyResult":
                return parts[0]
            case "Option":
                return f"{parts[0]} | None"
            case "Vec":
                return f"{use.many}[{parts[0]}]"
            case "HashMap" | "BTreeMap":
                return f"dict[{parts[0]}, {parts[1]}]"
        return self._single(name, use)

    def _single(self, name: str, use: Use) -> str:
        if name == "Self":
            return use.owner
        if name in self._classes:
            return self._classes[name]
        stands_for = use.scope.get(name) or self._others.get(name)
        if stands_for is None:
            raise FormatError(f"crates/python: {use.place}: no type of Python for {name}")
        return " | ".join(self._of(one, use) for one in stands_for)

    def _group(self, one: Group, use: Use) -> str:
        if one.opened == "[":
            if one.trees[0] != "u8":
                raise FormatError(f"crates/python: {use.place}: no type of Python for {text((one,))}")
            return "bytes"
        parts = [self._of(part, use) for part in separated(one.trees)]
        return f"tuple[{', '.join(parts)}]" if parts else "None"


def _is_lifetime(one: Tree) -> bool:
    return isinstance(one, str) and one.startswith("'")


def _named(kind: Trees) -> tuple[str, list[Trees]]:
    """Return the last name of a path and the types that it holds, without lifetimes."""
    end = kind.index("<") if "<" in kind else len(kind)
    inner = separated(kind[end + 1 : -1]) if end < len(kind) else []
    return str(kind[end - 1]), [one for one in inner if not _is_lifetime(one[0]) or len(one) > 1]
