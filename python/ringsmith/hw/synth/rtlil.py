# SPDX-License-Identifier: Apache-2.0
"""Merging equal modules of an elaborated design, in Yosys's RTLIL text.

The elaborator makes a module for each instance, so sixteen butterflies would be synthesised sixteen times. Here modules
whose text is the same up to internal names and source positions become one, children first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringsmith.errors import ToolError

_DROPPED = re.compile(r"^\s*attribute \\(src|hdlname) ")
_MODULE = re.compile(r"^module (\S+)$")
_CELL = re.compile(r"^(\s+cell )(\S+) (\S+)$")


def merge_equal_modules(text: str, top: str) -> str:
    """RTLIL with one module for each distinct body reachable from `top`; merged modules keep their base name.

    Raises:
        ToolError: the text has no module `top`.
    """
    modules = dict(_modules(text))
    if f"\\{top}" not in modules:
        raise ToolError(f"the elaborated design has no module {top}")
    chosen: dict[str, str] = {}  # module of the input -> module of the output
    bodies: dict[str, str] = {}  # body -> module of the output
    taken: dict[str, int] = {}
    output: list[str] = []

    def visit(name: str) -> str:
        if name in chosen:
            return chosen[name]
        attributes, lines = modules[name]
        body = "\n".join(_canonical(line, modules, visit) for line in _renamed(lines))
        key = "\n".join(attributes) + body
        if key not in bodies:
            bodies[key] = _fresh(name, top, taken)
            output.append("\n".join([*attributes, f"module {bodies[key]}", body, "end"]))
        chosen[name] = bodies[key]
        return chosen[name]

    visit(f"\\{top}")
    return "\n".join([*output, ""])


def _modules(text: str) -> Iterator[tuple[str, tuple[list[str], list[str]]]]:
    """Each module's name with its attribute lines and its body lines."""
    attributes: list[str] = []
    name = ""
    body: list[str] = []
    for line in text.splitlines():
        if name:
            if line == "end":
                yield name, (attributes, body)
                name, attributes, body = "", [], []
            elif not _DROPPED.match(line):
                body.append(line)
        elif match := _MODULE.match(line):
            name = match[1]
        elif line.startswith("attribute") and not _DROPPED.match(line):
            attributes.append(line)


def _canonical(line: str, modules: dict[str, tuple[list[str], list[str]]], visit: object) -> str:
    match = _CELL.match(line)
    if match is None or match[2] not in modules or not callable(visit):
        return line
    return f"{match[1]}{visit(match[2])} {match[3]}"


def _renamed(lines: list[str]) -> Iterator[str]:
    """The body with internal names ($…) numbered in order of appearance, so that equal bodies read equal."""
    names: dict[str, str] = {}
    for line in lines:
        words = line.split(" ")
        kind = line.split(None, 1)[0] if line.strip() else ""
        if kind == "memory" or '"' in line:
            yield line
            continue
        first = words.index("cell") + 2 if kind == "cell" else 0
        for index, word in enumerate(words):
            if index >= first and word.startswith("$"):
                words[index] = names.setdefault(word, f"$n{len(names)}")
        yield " ".join(words)


def _fresh(name: str, top: str, taken: dict[str, int]) -> str:
    """A short unused name: the module's own without the path of its instance, numbered from the second variant on."""
    base = name if name == f"\\{top}" else name.split("$", 1)[0]
    taken[base] = taken.get(base, 0) + 1
    return base if taken[base] == 1 else f"{base}_{taken[base]}"
