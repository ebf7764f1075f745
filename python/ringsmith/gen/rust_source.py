# SPDX-License-Identifier: Apache-2.0
"""Rust source as trees of tokens, and macros by example expanded: as much as the bindings' classes need.

A tree is a token's text, or a group: what stands between two brackets.  Comments are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ringsmith.errors import FormatError

TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/"""
    r"""|(?P<token>b?r\#*"(?:.*?)"\#*|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'|'\w+|\w+|->|=>|::|.)""",
    re.DOTALL | re.VERBOSE,
)
PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Group:
    """What stands between brackets, `opened` by one of ( [ {."""

    opened: str
    trees: tuple[Tree, ...]


Tree: TypeAlias = str | Group
Bound: TypeAlias = "dict[str, Trees | list[Bound]]"
Trees: TypeAlias = tuple[Tree, ...]


def parsed(text: str) -> Trees:
    """Return the trees of a file; FormatError where brackets do not agree."""
    tokens = (match["token"] for match in TOKEN.finditer(text) if match["token"])
    return _until(tokens, "")


def _until(tokens: Iterator[str], closing: str) -> Trees:
    found: list[Tree] = []
    for token in tokens:
        if token == closing:
            return tuple(found)
        if token in PAIRS:
            found.append(Group(token, _until(tokens, PAIRS[token])))
        elif token in PAIRS.values():
            raise FormatError(f"{token} where {closing or 'the end'} is needed")
        else:
            found.append(token)
    if closing:
        raise FormatError(f"the end where {closing} is needed")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro by example with one rule: what it takes, and what it becomes."""

    takes: Trees
    becomes: Trees

    def expanded(self, given: Trees) -> Trees:
        """Return what a call with these arguments becomes; FormatError where they do not fit."""
        bound: Bound = {}
        end = _fit(self.takes, given, 0, bound)
        if end != len(given):
            raise FormatError(f"a macro's arguments do not fit from {given[end if end is not None else 0]} on")
        return _filled(self.becomes, bound)


def macro(rules: Group) -> Macro:
    """Return a macro from the body of `macro_rules!`, its first rule."""
    takes, _, becomes = rules.trees[:3]
    assert isinstance(takes, Group)
    assert isinstance(becomes, Group)
    return Macro(takes.trees, becomes.trees)


def _fit(pattern: Trees, given: Trees, start: int, bound: Bound) -> int | None:
    """Bind what a pattern names, from a place on; return the place after it, None where it does not fit."""
    at, here = 0, start
    while at < len(pattern):
        one = pattern[at]
        if one == "$" and isinstance(pattern[at + 1], Group):
            separator = _separator(pattern, at)
            here = _repeated(pattern[at + 1], separator, given, here, bound)
            at += 4 if separator else 3
        elif one == "$":
            name, kind = pattern[at + 1], pattern[at + 3]
            after = pattern[at + 4] if at + 4 < len(pattern) else None
            end = _end(str(kind), given, here, after)
            if end == here:
                return None
            bound[str(name)], here, at = given[here:end], end, at + 4
        elif here >= len(given):
            return None
        elif isinstance(one, Group):
            inner = given[here]
            if not isinstance(inner, Group) or inner.opened != one.opened:
                return None
            if _fit(one.trees, inner.trees, 0, bound) != len(inner.trees):
                return None
            at, here = at + 1, here + 1
        elif one != given[here]:
            return None
        else:
            at, here = at + 1, here + 1
    return here


def _end(kind: str, given: Trees, start: int, after: Tree | None) -> int:
    """Return where a fragment ends: one tree, or all before what follows it in the pattern."""
    if kind in ("ident", "tt", "meta", "literal") and not (kind == "meta" and after is None):
        return min(start + 1, len(given))
    end = start
    while end < len(given) and (after is None or given[end] != after):
        end += 1
    return end


def _separator(trees: Trees, at: int) -> Tree:
    """Return what stands between the rounds of the repetition at a place, "" for nothing."""
    return "" if trees[at + 2] in ("*", "+", "?") else trees[at + 2]


def _repeated(pattern: Tree, separator: Tree, given: Trees, start: int, bound: Bound) -> int:
    assert isinstance(pattern, Group)
    rounds: list[Bound] = []
    here = start
    while here < len(given):
        one: Bound = {}
        end = _fit(pattern.trees, given, here, one)
        if end is None or end == here:
            break
        rounds.append(one)
        here = end
        if separator and given[here : here + 1] != (separator,):
            break
        here += bool(separator)
    for name in _names(pattern.trees):
        bound[name] = rounds
    return here


def _names(pattern: Sequence[Tree]) -> Iterator[str]:
    for at, one in enumerate(pattern):
        if isinstance(one, Group):
            yield from _names(one.trees)
        elif one == "$" and isinstance(pattern[at + 1], str):
            yield str(pattern[at + 1])


def _filled(body: Trees, bound: Bound) -> Trees:
    """Return a macro's body with what its names are bound to."""
    found: list[Tree] = []
    at = 0
    while at < len(body):
        one = body[at]
        if isinstance(one, Group):
            found.append(Group(one.opened, _filled(one.trees, bound)))
        elif one != "$":
            found.append(one)
        elif isinstance(repeated := body[at + 1], Group):
            separator = _separator(body, at)
            found += _each(repeated.trees, separator, bound)
            at += 3 if separator else 2
        else:
            value = bound.get(str(repeated), (str(repeated),))
            assert isinstance(value, tuple), f"${repeated} is repeated"
            found += value
            at += 1
        at += 1
    return tuple(found)


def _each(body: Trees, separator: Tree, bound: Bound) -> Iterator[Tree]:
    """Yield a repetition, once for each round of its first name that is repeated."""
    rounds = next((value for name in _names(body) if isinstance(value := bound.get(name), list)), [])
    for number, one in enumerate(rounds):
        if separator and number:
            yield separator
        yield from _filled(body, {**bound, **one})


def text(trees: Trees) -> str:
    """Return trees as text without spaces, for names, literals and messages."""
    return "".join(one if isinstance(one, str) else one.opened + text(one.trees) + PAIRS[one.opened] for one in trees)


def separated(trees: Trees) -> list[Trees]:
    """Return what commas separate; those in angle brackets belong to a type."""
    parts: list[list[Tree]] = [[]]
    depth = 0
    for one in trees:
        depth += (one == "<") - (one == ">")
        if one == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(one)
    return [tuple(part) for part in parts if part]
