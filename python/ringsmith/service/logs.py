# SPDX-License-Identifier: Apache-2.0
"""Log lines: one JSON object each, on stderr. Names, numbers and sizes: no header, body, key or value is passed in."""

from __future__ import annotations

import json
import logging
import sys
import time
from contextlib import suppress
from typing import Any

_level = logging.INFO


def set_up(quiet: bool) -> None:
    """Say from which level on lines are written; `quiet` leaves out those of requests and jobs."""
    global _level
    _level = logging.WARNING if quiet else logging.INFO


def log(event: str, level: int = logging.INFO, **facts: Any) -> None:
    """Write a line; facts that are None are left out."""
    if level >= _level:
        told = {name: value for name, value in facts.items() if value is not None}
        with suppress(OSError, ValueError):  # stderr is closed: go on serving.
            sys.stderr.write(json.dumps({"time": round(time.time(), 3), "event": event, **told}) + "\n")
