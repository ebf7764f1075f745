# SPDX-License-Identifier: Apache-2.0
"""Figures of a run as lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def show(found: Mapping[str, Any]) -> None:
    """Print a line for each figure: its name, then its value, of real numbers four digits."""
    width = max(map(len, found), default=0)
    for name, value in found.items():
        print(f"{name:{width}}  {value:.4g}" if isinstance(value, float) else f"{name:{width}}  {value}")
