# SPDX-License-Identifier: Apache-2.0
"""What a crate of bindings gives Python, read from the attributes in its source that PyO3 reads.

PyO3 writes no stubs for a module that adds its classes by calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ringsmith.gen.rust_source import Group, Macro, Tree, Trees, macro, parsed, separated, text

#: Types that Python does not give: the interpreter's token and the object itself.
_UNSEEN = ("Python", "self")
#: What a type of Rust stands for: an alias for one type, an enum that is read from one of several.
Other: TypeAlias = list[Trees]
#: Methods with underlines that a stub has.
_SPECIAL = ("__eq__", "__hash__")


@dataclass(slots=True)
class Function:
    """A function, or a member of a class: `kind` is "", method, getter, static or new."""

    name: str
    kind: str
    arguments: dict[str, Trees]
    result: Trees
    #: Python's parameters with what they are without being given; None: those of Rust, all needed.
    signature: list[tuple[str, str]] | None
    #: Types that stand for others in its file.
    scope: dict[str, Other] = field(default_factory=dict)

    def parameters(self) -> list[tuple[str, str]]:
        """Return the parameters in order, "*" before those that need their name."""
        return [(name, "") for name in self.arguments] if self.signature is None else self.signature

    def has_default(self, name: str) -> bool:
        """Return whether a parameter may be left out."""
        return any(known == name and default for known, default in self.parameters())


@dataclass(slots=True)
class Class:
    """A class by its names in Python and Rust; others may derive from a base."""

    name: str
    rust: str
    base: str = ""
    is_base: bool = False
    members: list[Function] = field(default_factory=list)


@dataclass(slots=True)
class Module:
    """Constants with their types, functions and classes by their names, and the types that stand for others."""

    constants: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    others: dict[str, Other] = field(default_factory=dict)


def read(folder: Path) -> Module:
    """Return what the Rust files of a folder give Python; macros of the crate are expanded."""
    files = [parsed(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.rs"))]
    macros = {name: rules for trees in files for name, rules in _macros(trees)}
    all_items = [list(_items(tuple(_expanded(trees, macros)))) for trees in files]
    module = Module()
    for items in all_items:
        _declare(items, module)
    for items in all_items:
        scope = dict(_aliases(items))
        for item in items:
            if item.has("pymethods"):
                owner = next(one for one in module.classes.values() if one.rust == str(item.trees[1]))
                owner.members += _members(item.body, scope)
    return module


def _macros(trees: Trees) -> Iterator[tuple[str, Macro]]:
    """Yield the macros of a file that make classes."""
    for at, one in enumerate(trees):
        if one == "macro_rules" and "pymethods" in text((trees[at + 3],)):
            rules = trees[at + 3]
            assert isinstance(rules, Group)
            yield str(trees[at + 2]), macro(rules)


def _expanded(trees: Trees, macros: dict[str, Macro]) -> Iterator[Tree]:
    at = 0
    while at < len(trees):
        call = trees[at + 2] if at + 2 < len(trees) and trees[at + 1] == "!" else None
        if isinstance(call, Group) and str(trees[at]) in macros:
            yield from _expanded(macros[str(trees[at])].expanded(call.trees), macros)
            at += 3
        else:
            yield trees[at]
            at += 1


@dataclass(slots=True)
class Item:
    """An item of a file, or a member of a class: its attributes, and its trees up to its body or its end."""

    attributes: list[Trees]
    trees: Trees

    @property
    def body(self) -> Trees:
        """What stands in the braces at its end."""
        last = self.trees[-1]
        return last.trees if isinstance(last, Group) and last.opened == "{" else ()

    def has(self, name: str) -> bool:
        """Return whether it has an attribute of that name."""
        return any(one[0] == name for one in self.attributes)

    def options(self, name: str) -> dict[str, Trees]:
        """Return what an attribute says in brackets, by name."""
        found: dict[str, Trees] = {}
        for one in self.attributes:
            if one[0] == name and len(one) > 1 and isinstance(one[1], Group):
                for part in separated(one[1].trees):
                    found[str(part[0])] = part[2:]
        return found


def _items(trees: Trees) -> Iterator[Item]:
    """Yield items without what makes them visible."""
    attributes: list[Trees] = []
    start = at = 0
    while at < len(trees):
        one = trees[at]
        if one == "#" and at == start and isinstance(attribute := trees[at + 1], Group):
            attributes.append(attribute.trees)
            start = at = at + 2
        elif one == "pub" and at == start:
            start = at = at + (2 if isinstance(trees[at + 1], Group) else 1)
        elif one == ";" or (isinstance(one, Group) and one.opened == "{"):
            yield Item(attributes, trees[start : at + (one != ";")])
            attributes, start, at = [], at + 1, at + 1
        else:
            at += 1


def _declare(items: list[Item], module: Module) -> None:
    """Add a file's classes, functions, constants, and enums that are read from one of several types."""
    scope = dict(_aliases(items))
    module.others |= scope
    for item in items:
        if item.has("pyclass"):
            one = _class(item)
            module.classes[one.name] = one
        elif item.has("pyfunction"):
            function = _function(item, "", scope)
            module.functions[function.name] = function
        elif item.has("pymodule"):
            module.constants |= dict(_constants(item.body))
        elif "FromPyObject" in item.options("derive") and item.trees[0] == "enum":
            held = [one.trees for one in item.body if isinstance(one, Group) and one.opened == "("]
            module.others[str(item.trees[1])] = held


def _aliases(items: list[Item]) -> Iterator[tuple[str, Other]]:
    for item in items:
        if item.trees[:1] == ("type",):
            yield str(item.trees[1]), [item.trees[item.trees.index("=") + 1 :]]


def _class(item: Item) -> Class:
    options = item.options("pyclass")
    rust = str(item.trees[1])
    name = text(options["name"]).strip('"') if "name" in options else rust
    base = str(options["extends"][-1]) if "extends" in options else ""
    made = Class(name, rust, base, "subclass" in options)
    if "get_all" in options:
        fields = [part[part.index(":") - 1 :] for part in separated(item.body)]
        made.members += [Function(str(one[0]), "getter", {}, one[2:], None) for one in fields]
    return made


def _constants(body: Trees) -> Iterator[tuple[str, str]]:
    """Yield the constants that a module adds; all are whole numbers but the version."""
    for at, one in enumerate(body):
        given = body[at + 1] if at + 1 < len(body) else None
        if one == "add" and isinstance(given, Group):
            name = str(given.trees[0]).strip('"')
            yield name, "str" if name == "__version__" else "int"


def _members(body: Trees, scope: dict[str, Other]) -> Iterator[Function]:
    for item in _items(body):
        if "fn" not in item.trees:
            continue
        kinds = {"new": "new", "staticmethod": "static", "getter": "getter"}
        kind = next((kinds[str(one[0])] for one in item.attributes if str(one[0]) in kinds), "method")
        made = _function(item, kind, scope)
        if not made.name.startswith("__") or made.name in _SPECIAL:
            yield made


def _function(item: Item, kind: str, scope: dict[str, Other]) -> Function:
    name = str(item.trees[item.trees.index("fn") + 1])
    at, given = next((at, one) for at, one in enumerate(item.trees) if isinstance(one, Group) and one.opened == "(")
    result = item.trees[at + 2 : -1] if item.trees[at + 1] == "->" else ()
    options = item.options("pyo3")
    signature = None
    if "signature" in options:
        (listed,) = options["signature"]
        assert isinstance(listed, Group)
        signature = [_parameter(part) for part in separated(listed.trees)]
    own = text(options["name"]).strip('"') if "name" in options else name
    return Function(own, kind, dict(_arguments(given.trees)), result, signature, scope)


def _parameter(part: Trees) -> tuple[str, str]:
    return str(part[0]), text(part[2:])


def _arguments(given: Trees) -> Iterator[tuple[str, Trees]]:
    """Yield the arguments that Python gives, with their types."""
    for part in separated(given):
        while part[0] == "#":
            part = part[2:]
        if ":" not in part:
            continue
        at = part.index(":")
        kind = part[at + 1 :]
        if kind[0] not in _UNSEEN and part[at - 1] not in ("slf",):
            yield str(part[at - 1]), kind
