# SPDX-License-Identifier: Apache-2.0
"""A parameter reaches every module below that has one of its name: one left out would be silently the default."""

from __future__ import annotations

import re
from pathlib import Path

RTL = Path(__file__).parent
COMMENT = re.compile(r"//[^\n]*")
MODULE = re.compile(r"^module (\w+)(.*?)^endmodule", re.MULTILINE | re.DOTALL)
PARAMETER = re.compile(r"^ +parameter [^=;(]*?(\w+) *=", re.MULTILINE)
INSTANCE = re.compile(r"^ +(rs_\w+) #\((.*?)^ +\) \w+ *[(;]", re.MULTILINE | re.DOTALL)
CONNECTED = re.compile(r"\.(\w+) *\(")


def modules(folder: Path) -> dict[str, str]:
    """Name to text of each module, without comments."""
    found: dict[str, str] = {}
    for path in folder.rglob("*.sv"):
        found |= {m[1]: m[2] for m in MODULE.finditer(COMMENT.sub("", path.read_text("utf-8")))}
    return found


def left_out(texts: dict[str, str]) -> tuple[list[str], int]:
    """Parameters that an instance does not pass on although module and instance both have them; instances looked at."""
    own = {name: set(PARAMETER.findall(text.partition(");")[0])) for name, text in texts.items()}
    wrong, seen = [], 0
    for parent, text in texts.items():
        for child, connections in INSTANCE.findall(text):
            if child in own:
                seen += 1
                missing = own[parent] & own[child] - set(CONNECTED.findall(connections))
                wrong += [f"{parent}: {child} without {name}" for name in sorted(missing)]
    return wrong, seen


def test_parameters_are_passed_on() -> None:
    wrong, seen = left_out(modules(RTL))
    assert not wrong, "\n".join(wrong)
    assert seen > 60


def test_a_parameter_left_out_is_found(tmp_path: Path) -> None:
    top = (RTL / "top" / "rs_system.sv").read_text("utf-8").replace("    .Serial(Serial),\n", "", 1)
    (tmp_path / "rs_system.sv").write_text(top)
    (tmp_path / "rs_host_ctrl.sv").write_text((RTL / "host" / "rs_host_ctrl.sv").read_text("utf-8"))
    assert left_out(modules(tmp_path)) == (["rs_system: rs_host_ctrl without Serial"], 1)
