# SPDX-License-Identifier: Apache-2.0
"""Work on all cores of this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def workers() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def side_by_side(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Apply a function that releases the interpreter's lock to every item, on all cores; one alone takes no thread."""
    if len(items) <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(workers()) as pool:
        return list(pool.map(function, items))
