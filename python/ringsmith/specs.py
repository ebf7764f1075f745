# SPDX-License-Identifier: Apache-2.0
"""Files that describe things by name (presets, boards): names that are safe anywhere, TOML read with a reason."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from ringsmith import shipped
from ringsmith.errors import InputError, ParameterError

T = TypeVar("T")

# A name becomes a file's name and part of a makefile, a Tcl script, YAML, C, SystemVerilog comments and web pages: only
# what is plain in all of them.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
NAME_RULE = "a letter, then up to 63 letters, digits, - and _"
LARGEST_FILE = 1 << 16


def checked_name(what: str, name: str) -> str:
    """Return a name that is safe wherever it may go; any other raises `ParameterError`. `what` is as in "a preset"."""
    if not _NAME.fullmatch(name):
        raise ParameterError(f"{what}'s name must be {NAME_RULE}; got {shown(name)}")
    return name


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Read a file of at most 64 KiB; whatever is wrong with it is a `ParameterError` naming the file and the reason."""
    try:
        if not path.is_file():
            raise ParameterError(f"{path}: no such {what} file" if not path.exists() else f"{path}: not a file")
        if path.stat().st_size > LARGEST_FILE:
            raise ParameterError(f"{path}: not a {what} file: larger than {LARGEST_FILE} bytes")
        return parsed_toml(path.read_bytes().decode())
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ParameterError(f"{path}: not a {what} file: {error}") from None


def parsed_toml(text: str) -> dict[str, Any]:
    """Parse TOML; `ValueError` says what is wrong, nesting beyond what the parser can follow included."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None


def build(kind: type[T], what: str, values: Mapping[str, Any]) -> T:
    """Make a dataclass of a file's values: each field present, no other, each of the type its annotation says."""
    fields = {field.name: str(field.type) for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    missing, unknown = fields.keys() - values.keys(), values.keys() - fields.keys()
    if missing or unknown:
        complaint = [f"lacks {', '.join(sorted(missing))}"] * bool(missing)
        complaint += [f"has unknown keys {shown(sorted(unknown))}"] * bool(unknown)
        raise ParameterError(f"{what} {' and '.join(complaint)}")
    return kind(**{key: _typed(key, type_, values[key]) for key, type_ in fields.items()})


def _typed(key: str, kind: str, value: Any) -> Any:
    """Check one value against the annotation of its field; a scalar stands for a list of one."""
    if kind.startswith("tuple["):
        element = kind[len("tuple[") :].split(",")[0]
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(_typed(key, element, item) for item in items)
    wanted: Any = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}[kind]
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind != "bool"):
        raise ParameterError(f"{key} must be of type {kind}, got {shown(value)}")
    if isinstance(value, int) and value.bit_length() > 63:
        raise ParameterError(f"{key} must fit in 64 bits, got {shown(value)}")
    return float(value) if kind == "float" else value


@dataclass(frozen=True)
class Catalogue(Generic[T]):
    """The things of one kind that ship with the package, each a file `spec/FOLDER/NAME.toml` of the fields of `kind`.

    `what` names one in messages, as in "board"; `wrong` says what is wrong with the values of one, in its own words.
    """

    folder: str
    kind: type[T]
    what: str
    wrong: Callable[[T], Iterable[str]]

    def names(self) -> list[str]:
        """Names of all, sorted."""
        return sorted(path.stem for path in (shipped.root() / "spec" / self.folder).glob("*.toml"))

    def load(self, name: str) -> T:
        """Load one by its name.

        Raises:
            InputError: there is none of this name.
            ParameterError: its file describes none.
        """
        if name not in self.names():
            raise InputError(f"no {self.what} {shown(name)}; {self.what}s: {', '.join(self.names())}")
        path = shipped.root() / "spec" / self.folder / f"{name}.toml"
        values = read_toml(path, self.what)
        made = build(self.kind, f"{self.what} {name}", values)
        checked_name(f"a {self.what}", values["name"])
        for wrong in self.wrong(made):
            raise ParameterError(f"{self.what} {name}: {wrong}")
        return made


def shown(value: object) -> str:
    """The value as Python writes it, cut to what fits on a line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
