# SPDX-License-Identifier: Apache-2.0
"""Engines by name: `cpu`, `model:PRESET`, `rtl:PRESET`, `board:PORT`, `record:FILE`.

A kind's module is loaded when it is asked for: a program on the CPU needs none of the hardware's packages.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from ringsmith.errors import InputError
from ringsmith.runtime.engine import Cpu, Engine, EngineOptions


@dataclass(frozen=True)
class _Kind:
    """A kind of engine: what follows the colon, the module beside this one and its function, which takes that text."""

    what: str
    module: str
    function: str
    device: bool = True

    def open(self, text: str, options: EngineOptions) -> Engine:
        engine: Engine = getattr(import_module(f"ringsmith.runtime.{self.module}"), self.function)(text, options)
        return engine


#: Engine kinds by name.
ENGINES = {
    "model": _Kind("PRESET", "coprocessor", "open_model"),
    "rtl": _Kind("PRESET", "coprocessor", "open_rtl"),
    "board": _Kind("PORT", "board", "open_board"),
    "record": _Kind("FILE", "record", "open_recorder", device=False),
}


def open_engine(name: str, options: EngineOptions | None = None) -> Engine:
    """Return the engine of a name such as `cpu` or `model:cofhee`."""
    kind, _, text = name.partition(":")
    if options and options.device_only and not (kind in ENGINES and ENGINES[kind].device):
        raise InputError(f"--device-only is for a co-processor, --on {name} is none; there is --on model:PRESET")
    if name == "cpu":
        if options and options.extra.get("polynomial"):
            raise InputError("the engine cpu takes no --polynomial; the recorder does: --on record:FILE")
        if options and options.overrides:
            raise InputError("the engine cpu takes no --set; a co-processor does: --on model:PRESET")
        return Cpu(options.trace if options else None)
    if kind not in ENGINES:
        known = ", ".join(["cpu", *(f"{kind}:{engine.what}" for kind, engine in ENGINES.items())])
        raise InputError(f"no engine {name!r}; there is {known}")
    return ENGINES[kind].open(text, options or EngineOptions())
