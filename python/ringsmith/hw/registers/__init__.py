# SPDX-License-Identifier: Apache-2.0
"""Everything made from spec/registers.rdl: the register block, C header, Rust constants and the documentation page.

`python -m ringsmith.hw.registers` writes the committed files, `--check` compares them. The register block itself is
a build product: it is generated into the cache, keyed by the hash of its source and of the generator's version.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith import shipped
from ringsmith.errors import ToolError
from ringsmith.hw import paths
from ringsmith.hw.process import checked, run

NOTICE = "Generated from spec/registers.rdl by `python -m ringsmith.hw.registers`; do not edit."

# Habits of the generator's output that our lint would refuse.
_PREAMBLE = f"// {NOTICE}\n" + "".join(
    f"/* verilator lint_off {rule} */\n" for rule in ("WIDTH", "UNUSED", "GENUNNAMED", "MULTIDRIVEN")
)


@dataclass(frozen=True)
class Field:
    """A field: name, lowest bit, width, software access (`r`, `rw`, …), description."""

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
    return shipped.root() / "spec" / "registers.rdl"


def block() -> Path:
    """Directory with the generated register block (`rs_host_regs.sv`, its package) and the map, built on first use."""
    try:
        version = importlib.metadata.version("peakrdl-regblock")
    except importlib.metadata.PackageNotFoundError:
        raise ToolError("PeakRDL is not installed: pip install -r requirements/hw.txt") from None
    reader = Path(__file__).with_name("rdl.py").read_bytes()
    key = hashlib.sha256(source().read_bytes() + reader + f"{version}{_PREAMBLE}".encode()).hexdigest()[:16]
    target = paths.cache("registers") / key
    if target.exists():
        return target
    work = Path(tempfile.mkdtemp(prefix=".registers-", dir=target.parent))
    try:
        _read(work)
        for path in work.glob("*.sv"):
            path.write_text(_PREAMBLE + path.read_text())
        work.chmod(0o755)
        work.replace(target)
    except OSError:
        if not target.exists():
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def registers() -> list[Register]:
    """The register map in address order."""
    return [
        Register(r["name"], r["address"], r["count"], tuple(Field(**f) for f in r["fields"]), r["description"])
        for r in _map()["registers"]
    ]


def rust_constants() -> str:
    """Rust module with the address of every register and the position of every field."""
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// {NOTICE}"]
    lines += ["//! Register addresses and fields of the host shell."]
    for register in registers():
        name = register.name.upper()
        lines += ["", f"/// {register.description}", f"pub const {name}: u32 = {register.address:#05x};"]
        if register.count > 1:
            lines += [f"/// Registers of {register.name}.", f"pub const {name}_COUNT: u32 = {register.count};"]
        for field, label in _named_fields(register):
            lines += [f"/// {field.description}", f"pub const {label}: (u32, u32) = ({field.low}, {field.width});"]
    return "\n".join(lines) + "\n"


def c_header() -> str:
    """C header with the address of every register and shift and mask of every field."""
    lines = ["/* SPDX-License-Identifier: Apache-2.0", f" * {NOTICE} */"]
    lines += ["#ifndef RINGSMITH_REGISTERS_H", "#define RINGSMITH_REGISTERS_H"]
    for register in registers():
        name = f"RS_{register.name.upper()}"
        lines += ["", f"/* {register.description} */", f"#define {name} {register.address:#05x}u"]
        if register.count > 1:
            lines.append(f"#define {name}_COUNT {register.count}u")
        for field, label in _named_fields(register):
            lines.append(f"#define RS_{label}_SHIFT {field.low}")
            lines.append(f"#define RS_{label}_MASK {(1 << field.width) - 1:#x}u /* {field.description} */")
    return "\n".join([*lines, "", "#endif", ""])


def page() -> str:
    """The register map as a Markdown page."""
    lines = [f"<!-- {NOTICE} -->", "# Registers", "", _map()["description"], ""]
    lines += ["32-bit registers behind AXI4-Lite or the serial link; addresses in bytes.", ""]
    lines += ["| address | register | bits | access | meaning |", "|---|---|---|---|---|"]
    for register in registers():
        last = register.address + 4 * (register.count - 1)
        where = f"{register.address:#05x}" + (f"–{last:#05x}" if register.count > 1 else "")
        lines.append(f"| {where} | **{register.name}** | | | {register.description} |")
        for field, _ in _named_fields(register):
            high = field.low + field.width - 1
            bits = f"{high}:{field.low}" if field.width > 1 else str(field.low)
            lines.append(f"| | {field.name} | {bits} | {field.access} | {field.description} |")
    return "\n".join(lines) + "\n"


def html(directory: Path) -> None:
    """Write the browsable HTML documentation of the register map into a directory."""
    with tempfile.TemporaryDirectory() as scratch:
        _read(Path(scratch), "html")
        shutil.copytree(Path(scratch) / "html", directory, dirs_exist_ok=True)


def committed() -> dict[Path, str]:
    """Files kept in the repository and their right contents."""
    root = shipped.root()
    return {
        root / "crates" / "device" / "src" / "registers.rs": rust_constants(),
        root / "docs" / "registers.md": page(),
    }


def main(arguments: list[str]) -> int:
    """Write the committed files, or with `--check` report those that differ; returns the exit status."""
    stale = [path for path, text in committed().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if "--check" in arguments:
            print(f"error: {path.relative_to(shipped.root())} differs from spec/registers.rdl", file=sys.stderr)
        else:
            path.write_text(committed()[path])
    return 1 if stale and "--check" in arguments else 0


def _read(directory: Path, *extras: str) -> None:
    """Let the child process write its products; they count even if it crashes after it has written the last one."""
    last = directory / ("html/index.html" if extras else "registers.json")
    command: list[str | Path] = [sys.executable, "-m", "ringsmith.hw.registers.rdl", source(), directory, *extras]
    checked("reading spec/registers.rdl", run(command, timeout_s=300), ok=lambda f: f.status <= 0 and last.exists())


def _map() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((block() / "registers.json").read_text())
    return loaded


def _named_fields(register: Register) -> Iterator[tuple[Field, str]]:
    """Fields worth a name of their own: not the single full-width `value` of a plain word."""
    for field in register.fields:
        if field.width < 32:
            yield field, f"{register.name}_{field.name}".upper()
