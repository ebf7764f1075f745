# SPDX-License-Identifier: Apache-2.0
"""Engines by name: `cpu`, `model:PRESET`, `rtl:PRESET`, `board:PORT`, `record:FILE`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ringsmith.errors import InputError
from ringsmith.runtime import board, coprocessor, record
from ringsmith.runtime.devices import KINDS
from ringsmith.runtime.engine import Cpu, Engine, EngineOptions

#: Engine kinds by name; a kind is called with what follows the colon (empty without one) and the options.
ENGINES: dict[str, Callable[[str, EngineOptions], Engine]] = {
    "model": partial(coprocessor.open_coprocessor, "model"),
    "rtl": partial(coprocessor.open_coprocessor, "rtl"),
    board.KIND: board.open_board,
    "record": record.open_recorder,
}


def open_engine(name: str, options: EngineOptions | None = None) -> Engine:
    """Return the engine of a name such as `cpu` or `model:cofhee`."""
    kind, _, preset = name.partition(":")
    if options and options.device_only and kind not in (*KINDS, board.KIND):
        raise InputError(f"--device-only is for a co-processor, --on {name} is none; there is --on model:PRESET")
    if name == "cpu":
        if options and options.extra.get("polynomial"):
            raise InputError("the engine cpu takes no --polynomial; the recorder does: --on record:FILE")
        if options and options.overrides:
            raise InputError("the engine cpu takes no --set; a co-processor does: --on model:PRESET")
        return Cpu(options.trace if options else None)
    if kind not in ENGINES:
        known = ", ".join(["cpu", *(f"{kind}:PRESET" for kind in KINDS), f"{board.KIND}:PORT", "record:FILE"])
        raise InputError(f"no engine {name!r}; there is {known}")
    return ENGINES[kind](preset, options or EngineOptions())
