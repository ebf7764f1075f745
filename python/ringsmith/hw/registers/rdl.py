# SPDX-License-Identifier: Apache-2.0
"""Reads spec/registers.rdl with PeakRDL, as `python -m ringsmith.hw.registers.rdl SOURCE DIRECTORY [html]` in a child.

Writes the register block (SystemVerilog), the map as JSON and, if asked, browsable HTML pages into the directory. A
process of its own, because PeakRDL's native parser can take the interpreter down with it when Python frees it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from peakrdl_html import HTMLExporter  # type: ignore[import-untyped]
from peakrdl_regblock import RegblockExporter  # type: ignore[import-untyped]
from peakrdl_regblock.cpuif.axi4lite import AXI4Lite_Cpuif_flattened  # type: ignore[import-untyped]
from peakrdl_regblock.udps import ALL_UDPS  # type: ignore[import-untyped]
from systemrdl.compiler import RDLCompiler
from systemrdl.messages import RDLCompileError
from systemrdl.node import FieldNode, RegNode, RootNode

ADDRESS_BITS = 12


def compiled(source: Path) -> RootNode:
    """The elaborated register description; ends the process with a message if it does not compile."""
    compiler = RDLCompiler()
    for udp in ALL_UDPS:
        compiler.register_udp(udp)
    try:
        compiler.compile_file(str(source))
        return compiler.elaborate()
    except RDLCompileError as error:
        sys.exit(f"{source} does not compile: {error}")


def register_map(root: RootNode) -> dict[str, Any]:
    """Name, address, count, fields and description of every register, in address order."""
    registers = [_register(node) for node in root.top.children(unroll=False) if isinstance(node, RegNode)]
    registers.sort(key=lambda register: int(register["address"]))
    return {"description": root.top.get_property("desc"), "registers": registers}


def _register(node: RegNode) -> dict[str, Any]:
    return {
        "name": node.inst_name,
        "address": node.raw_address_offset,
        "count": node.array_dimensions[0] if node.array_dimensions else 1,
        "description": _text(node),
        "fields": [
            {"name": f.inst_name, "low": f.low, "width": f.width, "access": _access(f), "description": _text(f)}
            for f in node.children()
            if isinstance(f, FieldNode)
        ],
    }


def _text(node: RegNode | FieldNode) -> str:
    return " ".join((node.get_property("desc") or "").split())


def _access(field: FieldNode) -> str:
    if field.get_property("singlepulse"):
        return "w, acts once"
    if field.get_property("onwrite") is not None:
        return "r, write 1 to clear"
    return str(field.get_property("sw").name)


def main(source: Path, directory: Path, extras: list[str]) -> None:
    """Write all products."""
    root = compiled(source)
    RegblockExporter().export(
        root.top,
        str(directory),
        cpuif_cls=AXI4Lite_Cpuif_flattened,
        address_width=ADDRESS_BITS,
        default_reset_activelow=True,
        default_reset_async=True,
        err_if_bad_addr=True,
    )
    (directory / "registers.json").write_text(json.dumps(register_map(root), indent=1))
    if "html" in extras:
        HTMLExporter().export(root.top, str(directory / "html"), title="ringsmith registers", home_url=None)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
