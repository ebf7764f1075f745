# SPDX-License-Identifier: Apache-2.0
"""Which modules of a Rust crate use which: every path in the source, followed to the file that defines its end.

A module is a file. Its tests are left out, and so is what it shows of its children: a `pub use` uses nothing of what it
names, and a path through it ends where the item is defined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Name = tuple[str, ...]
Graph = dict[str, set[str]]

_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|r#".*?"#', re.S)
_TESTS = re.compile(r"#\[cfg\((?:all\()?test\b[^\n]*\n(?:\s*#\[[^\n]*\n)*\s*(?:pub(?:\([^)]*\))? )?mod (\w+)\s*([;{])")
_ITEM = re.compile(r"\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(\w+)")
_USE = re.compile(r"\b(?P<visible>pub(?:\([^)]*\))?\s+)?use\s+(?P<tree>[^;]+);")
_PATH = re.compile(r"(?<![\w:])(?:\$?crate|super|self|[a-z_]\w*)(?:::\w+)+")


@dataclass
class Module:
    """A file: what it defines, what it imports under which name, and the paths that it names."""

    path: Name
    children: set[str]
    items: set[str]
    #: Names that `use` brings, with their whole path; every module below may see them.
    imported: dict[str, Name] = field(default_factory=dict)
    globs: list[Name] = field(default_factory=list)
    used: list[Name] = field(default_factory=list)


def _without_tests(text: str) -> str:
    """Return source without comments, strings and modules of tests."""
    text = _COMMENT.sub(lambda found: '""' if found[0].startswith(('"', "r")) else "", text)
    while found := _TESTS.search(text):
        end = found.end() if found[2] == ";" else _closing(text, found.end())
        text = text[: found.start()] + text[end:]
    return text


def _closing(text: str, start: int) -> int:
    """Return the place behind the brace that closes the one before `start`."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def _leaves(tree: str, before: Name = ()) -> Iterator[tuple[Name, str]]:
    """Yield the paths of a `use` tree, each with the name it gets (`*` for all of a module)."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    prefix = before + tuple(part for part in re.split(r"\s*::\s*", head.strip()) if part)
    if brace:
        depth, start, inner = 0, 0, rest[: _closing(rest, 0) - 1]
        for place, sign in enumerate(inner + ","):
            depth += {"{": 1, "}": -1}.get(sign, 0)
            if sign == "," and depth == 0:
                if inner[start:place].strip():
                    yield from _leaves(inner[start:place], prefix)
                start = place + 1
        return
    whole, _, name = tree.partition(" as ")
    path = before + tuple(part for part in re.split(r"\s*::\s*", whole.strip()) if part)
    if path[-1] == "self":
        path = path[:-1]
    yield path, name.strip() or path[-1]


def _read(path: Name, file: Path) -> Module:
    """Return what a file says."""
    text = _without_tests(file.read_text())
    for inline in re.finditer(r"\bmod \$?\w+\s*\{", text):  # `super` in there is this file
        end = _closing(text, inline.end())
        text = text[: inline.end()] + text[inline.end() : end].replace("super::", " self::") + text[end:]
    children = set(re.findall(r"\bmod (\w+)\s*;", text))
    module = Module(path, children, set(_ITEM.findall(text)))
    rest = re.sub(r"\bmod \w+\s*;", "", _USE.sub("", text))
    for use in _USE.finditer(text):
        for leaf, name in _leaves(use["tree"]):
            shown = use["visible"] and leaf[0] in children
            if name == "*":
                module.globs.append(leaf[:-1])
                module.used += [] if shown else [leaf]
                continue
            module.imported[name] = leaf
            if not shown or re.search(rf"\b{name}\b", rest):
                module.used.append(leaf)
    module.used += [tuple(found[0].lstrip("$").split("::")) for found in _PATH.finditer(rest)]
    return module


def _files(sources: Path) -> Iterator[tuple[Name, Path]]:
    for file in sorted(sources.rglob("*.rs")):
        parts = file.relative_to(sources).with_suffix("").parts
        if not any(re.fullmatch(r"tests?|.*_tests?|test_.*|benches", part) for part in parts):
            yield () if parts == ("lib",) else parts[:-1] if parts[-1] == "mod" else parts, file


class Crate:
    """The modules of a crate, and where a path ends."""

    def __init__(self, sources: Path) -> None:
        self.modules = {path: _read(path, file) for path, file in _files(sources)}

    def graph(self) -> Graph:
        """Return which modules each module uses, by name (`crate` is the root)."""
        found: Graph = {}
        for path, module in self.modules.items():
            ends = {end for used in module.used for end in self._ends(path, used)} - {path}
            found["::".join(path) or "crate"] = {"::".join(end) or "crate" for end in ends}
        return found

    def _ends(self, here: Name, used: Name, seen: frozenset[Name] = frozenset()) -> Iterator[Name]:
        """Yield the modules that a path leads to: with `*` at its end all that the module before it shows."""
        end = self.end(here, used[:-1] if used[-1] == "*" else used)
        if end is None:
            return
        yield end
        if used[-1] == "*" and end not in seen:
            shown = self.modules[end]
            for inner in (*shown.imported.values(), *((*glob, "*") for glob in shown.globs)):
                yield from self._ends(end, inner, seen | {end})

    def end(self, here: Name, used: Name, seen: frozenset[tuple[Name, Name]] = frozenset()) -> Name | None:
        """Return the module that defines what a path names; None for another crate's, and for what is not found."""
        if (here, used) in seen:
            return None
        seen |= {(here, used)}
        module, rest = here, used
        if rest[0] == "crate":
            module, rest = (), rest[1:]
        elif rest[0] in ("self", "super"):
            while rest and rest[0] in ("self", "super"):
                module, rest = (module[:-1] if rest[0] == "super" else module), rest[1:]
        elif rest[0] not in self.modules[here].children | self.modules[here].imported.keys() | self.modules[here].items:
            return None
        while rest and (*module, rest[0]) in self.modules:
            module, rest = (*module, rest[0]), rest[1:]
        if not rest or module not in self.modules:
            return module if module in self.modules else None
        return self._defined(module, rest, seen)

    def _defined(self, module: Name, rest: Name, seen: frozenset[tuple[Name, Name]]) -> Name | None:
        """Return the module that defines the first name of `rest` as it is seen in `module`."""
        own = self.modules[module]
        if rest[0] in own.items:
            return module
        if rest[0] in own.imported:
            return self.end(module, own.imported[rest[0]] + rest[1:], seen)
        for glob in own.globs:
            inner, key = self.end(module, glob, seen), (module, ("*", *glob, *rest))
            if inner is not None and key not in seen:
                found = self._defined(inner, rest, seen | {key})
                if (found is not None and found != inner) or rest[0] in self.modules[inner].items:
                    return found
        return module  # what a macro writes is not seen
