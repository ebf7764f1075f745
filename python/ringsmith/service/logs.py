# SPDX-License-Identifier: Apache-2.0
"""Log lines: one JSON object each, on stderr. Names, numbers and sizes: no header, body, key or value is passed in."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

_LOGGER = logging.getLogger("ringsmith.service")


def set_up(quiet: bool) -> None:
    """Write lines to stderr; `quiet` leaves out those of requests and jobs."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    _LOGGER.handlers[:] = [handler]
    _LOGGER.propagate = False
    _LOGGER.setLevel(logging.WARNING if quiet else logging.INFO)


def log(event: str, level: int = logging.INFO, **facts: Any) -> None:
    """Write a line; facts that are None are left out."""
    if _LOGGER.isEnabledFor(level):
        told = {name: value for name, value in facts.items() if value is not None}
        _LOGGER.log(level, json.dumps({"time": round(time.time(), 3), "event": event, **told}))
