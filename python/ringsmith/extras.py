# SPDX-License-Identifier: Apache-2.0
"""How a user installs what a part of ringsmith needs beyond its core: the extras of the package."""

from __future__ import annotations

#: Extras of `pyproject.toml` that a message may name.
EXTRAS = ("serve", "remote", "models", "ray", "search", "hw", "seal")


def to_install(extra: str) -> str:
    """Return the command that installs an extra's packages, from a wheel and in a checkout alike."""
    if extra not in EXTRAS:
        raise ValueError(f"no extra {extra!r}: {', '.join(EXTRAS)}")
    return f"pip install 'ringsmith[{extra}]'"
