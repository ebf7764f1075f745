# SPDX-License-Identifier: Apache-2.0
"""Parameters of modules that take those of a core as one, the packed struct `Cfg` of type core_cfg_t."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ringsmith.knobs import CORE_CFG

_TAKES_CFG = re.compile(r"^ *parameter core_cfg_t Cfg\b", re.MULTILINE)


def takes_cfg(source: Path) -> bool:
    """Return whether the module in this file has the parameter `Cfg`."""
    return _TAKES_CFG.search(source.read_text("utf-8")) is not None


def completed(parameters: Mapping[str, int | str]) -> dict[str, int | str]:
    """Parameters with those of a core that are left out as in SmallCore (rs_build_pkg)."""
    return {**{name: small for name, (_, small) in CORE_CFG.items()}, **parameters}


def packed(source: Path, parameters: Mapping[str, int | str]) -> dict[str, int | str]:
    """Parameters as tools set them: where the module in `source` takes `Cfg`, the core's become one Verilog literal.

    The field that core_cfg_t has first is the highest; a parameter that is left out is as in SmallCore.
    """
    if not takes_cfg(source):
        return dict(parameters)
    values, word, bits = completed(parameters), 0, 0
    for name, (width, _) in CORE_CFG.items():
        word = word << width | int(values[name]) & (1 << width) - 1
        bits += width
    others = {name: value for name, value in parameters.items() if name not in CORE_CFG}
    return {"Cfg": f"{bits}'h{word:x}", **others}
