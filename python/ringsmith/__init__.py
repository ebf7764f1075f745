# SPDX-License-Identifier: Apache-2.0
"""ringsmith: computations on encrypted data, on a CPU or on a co-processor it generates itself.

import ringsmith as rs

@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4)
def square(x):
    return x * x
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

#: The module that defines each public name. It is loaded when a program first asks for the name: a command that prints
#: its help need not wait for all of them.
_HOMES = {
    alias.name: str(node.module)
    for node in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """Return a public name, from then on an ordinary attribute."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ringsmith' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
