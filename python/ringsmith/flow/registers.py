# SPDX-License-Identifier: Apache-2.0
"""Everything made from spec/registers.rdl: the register block, C header, Rust constants and the documentation page.

`python -m ringsmith.flow.registers` writes the committed files, `--check` compares them. The register block itself is
a build product: it is generated into the cache, keyed by the hash of its source and of the generator's version.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from peakrdl_html import HTMLExporter  # type: ignore[import-untyped]
from peakrdl_regblock import RegblockExporter  # type: ignore[import-untyped]
from peakrdl_regblock.cpuif.axi4lite import AXI4Lite_Cpuif_flattened  # type: ignore[import-untyped]
from peakrdl_regblock.udps import ALL_UDPS  # type: ignore[import-untyped]
from systemrdl.compiler import RDLCompiler
from systemrdl.messages import RDLCompileError
from systemrdl.node import FieldNode, RegNode, RootNode

from ringsmith.errors import ToolError
from ringsmith.flow import paths

BLOCK = "rs_host_regs"
ADDRESS_BITS = 12
NOTICE = "Generated from spec/registers.rdl by `python -m ringsmith.flow.registers`; do not edit."

# Habits of the generator's output that our lint would refuse.
_PREAMBLE = f"// {NOTICE}\n" + "".join(
    f"/* verilator lint_off {rule} */\n" for rule in ("WIDTH", "UNUSED", "GENUNNAMED", "MULTIDRIVEN")
)


@dataclass(frozen=True)
class Field:
    """A field: name, lowest bit, width, software access (`r`, `rw`), whether a write acts once, description."""

    name: str
    low: int
    width: int
    access: str
    description: str


@dataclass(frozen=True)
class Register:
    """A register, or `count` consecutive ones: name, byte address of the first, fields, description."""

    name: str
    address: int
    count: int
    fields: tuple[Field, ...]
    description: str


def source() -> Path:
    """The register description."""
    return paths.root() / "spec" / "registers.rdl"


def registers() -> list[Register]:
    """The register map in address order."""
    found = []
    for node in _compile().top.children(unroll=False):
        assert isinstance(node, RegNode)
        fields = tuple(
            Field(f.inst_name, f.low, f.width, _access(f), f.get_property("desc") or "")
            for f in node.children()
            if isinstance(f, FieldNode)
        )
        count = node.array_dimensions[0] if node.array_dimensions else 1
        found.append(Register(node.inst_name, node.raw_address_offset, count, fields, node.get_property("desc") or ""))
    return sorted(found, key=lambda register: register.address)


def block() -> Path:
    """Directory with the generated register block (`rs_host_regs.sv` and its package), built on first use."""
    version = importlib.metadata.version("peakrdl-regblock")
    key = hashlib.sha256(source().read_bytes() + f"{version}{_PREAMBLE}".encode()).hexdigest()[:16]
    target = paths.cache("registers") / key
    if target.exists():
        return target
    work = Path(tempfile.mkdtemp(prefix=".registers-", dir=target.parent))
    try:
        _export_block(work)
        work.chmod(0o755)
        work.replace(target)
    except OSError:
        if not target.exists():
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def rust_constants() -> str:
    """Rust module with the address of every register and the position of every field."""
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"// {NOTICE}",
        "//! Register addresses and fields of the host shell.",
    ]
    for register in registers():
        lines += [
            "",
            f"/// {_sentence(register.description)}",
            f"pub const {register.name.upper()}: u32 = {register.address:#05x};",
        ]
        if register.count > 1:
            lines += [
                f"/// Registers of {register.name}.",
                f"pub const {register.name.upper()}_COUNT: u32 = {register.count};",
            ]
        for field, name in _named_fields(register):
            lines += [
                f"/// {_sentence(field.description)}",
                f"pub const {name}: (u32, u32) = ({field.low}, {field.width});",
            ]
    return "\n".join(lines) + "\n"


def c_header() -> str:
    """C header with the address of every register and shift and mask of every field."""
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0",
        f" * {NOTICE} */",
        "#ifndef RINGSMITH_REGISTERS_H",
        "#define RINGSMITH_REGISTERS_H",
    ]
    for register in registers():
        name = f"RS_{register.name.upper()}"
        lines += ["", f"/* {_sentence(register.description)} */", f"#define {name} {register.address:#05x}u"]
        if register.count > 1:
            lines.append(f"#define {name}_COUNT {register.count}u")
        for field, label in _named_fields(register):
            mask = (1 << field.width) - 1
            lines += [
                f"#define RS_{label}_SHIFT {field.low}",
                f"#define RS_{label}_MASK {mask:#x}u /* {_sentence(field.description)} */",
            ]
    return "\n".join([*lines, "", "#endif", ""])


def page() -> str:
    """The register map as a Markdown page."""
    lines = [f"<!-- {NOTICE} -->", "# Registers", "", str(_compile().top.get_property("desc")), ""]
    lines += ["32-bit registers behind AXI4-Lite or the serial link; addresses in bytes.", ""]
    lines += ["| address | register | bits | access | meaning |", "|---|---|---|---|---|"]
    for register in registers():
        last = register.address + 4 * (register.count - 1)
        where = f"{register.address:#05x}" + (f"–{last:#05x}" if register.count > 1 else "")
        lines.append(f"| {where} | **{register.name}** | | | {_sentence(register.description)} |")
        for field, _ in _named_fields(register):
            high = field.low + field.width - 1
            bits = f"{high}:{field.low}" if field.width > 1 else str(field.low)
            lines.append(f"| | {field.name} | {bits} | {field.access} | {_sentence(field.description)} |")
    return "\n".join(lines) + "\n"


def html(directory: Path) -> None:
    """Write the browsable HTML documentation of the register map into a directory."""
    HTMLExporter().export(_compile().top, str(directory), title="ringsmith registers", home_url=None)


def committed() -> dict[Path, str]:
    """Files kept in the repository and their right contents."""
    root = paths.root()
    return {
        root / "crates" / "device" / "src" / "registers.rs": rust_constants(),
        root / "docs" / "registers.md": page(),
    }


def main(arguments: list[str]) -> int:
    """Write the committed files, or with `--check` report those that differ; returns the exit status."""
    stale = [path for path, text in committed().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if "--check" in arguments:
            print(f"error: {path.relative_to(paths.root())} differs from spec/registers.rdl", file=sys.stderr)
        else:
            path.write_text(committed()[path])
    return 1 if stale and "--check" in arguments else 0


def _compile() -> RootNode:
    compiler = RDLCompiler()
    for udp in ALL_UDPS:
        compiler.register_udp(udp)
    try:
        compiler.compile_file(str(source()))
        return compiler.elaborate()
    except RDLCompileError as error:
        raise ToolError(f"{source()} does not compile: {error}") from None


def _export_block(work: Path) -> None:
    RegblockExporter().export(
        _compile().top,
        str(work),
        cpuif_cls=AXI4Lite_Cpuif_flattened,
        address_width=ADDRESS_BITS,
        default_reset_activelow=True,
        default_reset_async=True,
        err_if_bad_addr=True,
    )
    for path in work.glob("*.sv"):
        text = path.read_text()
        path.write_text(f"{_PREAMBLE}{text}")


def _access(field: FieldNode) -> str:
    if field.get_property("singlepulse"):
        return "w, acts once"
    if field.get_property("onwrite") is not None:
        return "r, write 1 to clear"
    return str(field.get_property("sw").name)


def _named_fields(register: Register) -> Iterator[tuple[Field, str]]:
    """Fields worth a name of their own: not the single full-width `value` of a plain word."""
    for field in register.fields:
        if field.width < 32:
            yield field, f"{register.name}_{field.name}".upper()


def _sentence(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
