# SPDX-License-Identifier: Apache-2.0
"""Which cases of a test that simulates are in the short run: its first, and one of each kind; the others are slow.

A case costs a build and an interpreter, some seconds, whatever it simulates. What differs in size alone (widths,
depths, numbers of lanes, seeds) repeats; what differs in a kind (KINDS), or has a parameter that those before have not,
is other RTL.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

import pytest

#: Names of arguments and parameters (without regard to case) that choose another implementation, check or mode.
KINDS = {
    "bench", "check", "controller", "fault", "host", "kind", "mulkind", "mulstyle", "plant", "pointwise",
    "pointwiseunit", "present", "primitive", "rnsrate", "single", "stream", "style", "variant", "wide", "wideport",
}  # fmt: skip


def kinds(params: Mapping[str, Any]) -> Iterator[tuple[str, Hashable]]:
    """Each argument of KINDS with its value, those in a mapping of parameters too, and each parameter that is there."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from kinds(value)
            yield from ((f"with {parameter}", True) for parameter, given in value.items() if given)
        elif name.lower() in KINDS:
            yield name.lower(), getattr(value, "top", None) or repr(value)


def repeats(cases: list[Mapping[str, Any]]) -> list[bool]:
    """Of each case of one test: whether cases before it have all its kinds."""
    seen: set[tuple[str, Hashable]] = set()
    told = []
    for at, params in enumerate(cases):
        own = set(kinds(params))
        told.append(at > 0 and own <= seen)
        seen |= own
    return told


def simulates(function: Callable[..., object]) -> bool:
    """Whether a test runs a simulator, itself or by a function of its file."""
    names = set(function.__code__.co_names)
    helpers = [function.__globals__.get(name) for name in names]
    own = [one for one in helpers if inspect.isfunction(one) and one.__module__ == function.__module__]
    return "run_checks" in names or any("run_checks" in one.__code__.co_names for one in own)


def mark_repeats(items: list[pytest.Item]) -> None:
    """Mark as slow each case that repeats others of its test."""
    tests: dict[str, list[pytest.Function]] = {}
    for item in items:
        if not isinstance(item, pytest.Function) or not hasattr(item, "callspec") or item.get_closest_marker("slow"):
            continue
        if simulates(item.function):
            tests.setdefault(f"{item.path}::{item.originalname}", []).append(item)
    for cases in tests.values():
        for item, repeated in zip(cases, repeats([item.callspec.params for item in cases]), strict=True):
            if repeated:
                item.add_marker(pytest.mark.slow)
