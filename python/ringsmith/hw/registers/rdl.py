# SPDX-License-Identifier: Apache-2.0
"""Reads a register description with PeakRDL, as `python -m ringsmith.hw.registers.rdl SOURCE DIRECTORY PRODUCT...`.

Writes the map as JSON and the products asked for into the directory: `block`, the register block in SystemVerilog, and
`html`, browsable pages. A process of its own, because PeakRDL's native parser can take the interpreter down with it
when Python frees it.
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
from systemrdl.rdltypes.builtin_enums import PrecedenceType

ADDRESS_BITS = 12


def compiled(source: Path) -> RootNode:
    """The elaborated register description; ends the process with a message if it does not compile or loses events."""
    compiler = RDLCompiler()
    for udp in ALL_UDPS:
        compiler.register_udp(udp)
    try:
        compiler.compile_file(str(source))
        root = compiler.elaborate()
    except RDLCompileError as error:
        sys.exit(f"{source} does not compile: {error}")
    losing = [field.get_path() for field in _fields(root) if _loses_events(field)]
    if losing:
        sys.exit(f"{source}: a write that clears would hide an event of its cycle: precedence = hw in {losing}")
    return root


def _fields(root: RootNode) -> list[FieldNode]:
    return [node for node in root.top.descendants(unroll=False) if isinstance(node, FieldNode)]


def _loses_events(field: FieldNode) -> bool:
    """Whether the hardware sets the field, software clears it, and software wins in the cycle of both."""
    set_and_cleared = field.get_property("hwset") and field.is_sw_writable
    return bool(set_and_cleared) and field.get_property("precedence") is not PrecedenceType.hw


def register_map(root: RootNode) -> dict[str, Any]:
    """Title and description; name, address, count, fields and description of every register, in address order."""
    registers = [_register(node) for node in root.top.children(unroll=False) if isinstance(node, RegNode)]
    registers.sort(key=lambda register: int(register["address"]))
    title, description = root.top.get_property("name"), root.top.get_property("desc")
    return {"title": title, "description": description, "registers": registers}


def _register(node: RegNode) -> dict[str, Any]:
    return {
        "name": node.inst_name,
        "address": node.raw_address_offset,
        "count": node.array_dimensions[0] if node.array_dimensions else 1,
        "description": _text(node),
        "fields": [
            {
                "name": f.inst_name,
                "low": f.low,
                "width": f.width,
                "access": _access(f),
                "description": _text(f),
                "reset": f.get_property("reset"),
                "choices": _choices(f),
            }
            for f in node.children()
            if isinstance(f, FieldNode)
        ],
    }


def _choices(field: FieldNode) -> list[dict[str, Any]]:
    named = field.get_property("encode")
    return [
        {"name": name, "number": choice.value, "description": " ".join((choice.rdl_desc or "").split())}
        for name, choice in (named.members.items() if named else ())
    ]


def _text(node: RegNode | FieldNode) -> str:
    return " ".join((node.get_property("desc") or "").split())


def _access(field: FieldNode) -> str:
    if field.get_property("singlepulse"):
        return "w, acts once"
    if field.get_property("onwrite") is not None:
        return "r, write 1 to clear"
    return str(field.get_property("sw").name)


def main(source: Path, directory: Path, products: list[str]) -> None:
    """Write the map and the products."""
    root = compiled(source)
    if "block" in products:
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
    if "html" in products:
        title = f"ringsmith: {root.top.get_property('name')}"
        HTMLExporter().export(root.top, str(directory / "html"), title=title, home_url=None)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
