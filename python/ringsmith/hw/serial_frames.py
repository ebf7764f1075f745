# SPDX-License-Identifier: Apache-2.0
"""The frames of the serial host as data: markers, kinds and codes from `rs_serial_pkg`, whose text is their home."""

from __future__ import annotations

import re
from functools import cache

from ringsmith.hw import sources

_CONSTANT = re.compile(r"localparam (?:logic \[7:0\]|int unsigned) (\w+) = (?:8'([hd]))?(\w+);")


@cache
def constants() -> dict[str, int]:
    """Numbers of the package by their names there: `Command`, `WriteReg`, `Ok`, ..."""
    text = sources.library()["rs_serial_pkg"].read_text("utf-8")
    return {name: int(digits, 16 if base == "h" else 10) for name, base, digits in _CONSTANT.findall(text)}


def c_header() -> str:
    """These numbers as C++ constants with the prefix `kFrame`."""
    lines = [f"constexpr unsigned kFrame{name} = {value:#x};" for name, value in constants().items()]
    guard = "RINGSMITH_SERIAL_FRAMES_H"
    head = ["// SPDX-License-Identifier: Apache-2.0", "// Written from rtl/host/rs_serial_pkg.sv."]
    return "\n".join([*head, f"#ifndef {guard}", f"#define {guard}", *lines, "#endif", ""])
