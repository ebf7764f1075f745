# SPDX-License-Identifier: Apache-2.0
"""What a file of HEIR's holds, function by function, without compiling it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from ringsmith.heir.program import kernel_of
from ringsmith.heir.text import read_heir


def describe_heir(path: Path) -> dict[str, Any]:
    """Return the facts: each function's arguments and how often it has which operation.

    Raises:
        InputError: as from `rs.from_heir`.
    """
    module = read_heir(path)
    facts: dict[str, Any] = {"kind": "HEIR program"}
    for function in module.functions:
        kernel = kernel_of(module, function, 1.0, {})
        facts[f"{function.name} takes"] = [f"{name}: {argument!r}" for name, argument in kernel.arguments.items()]
        facts[f"{function.name} computes"] = dict(Counter(one.name for one in function.operations).most_common())
    return facts
