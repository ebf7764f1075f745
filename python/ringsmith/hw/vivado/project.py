# SPDX-License-Identifier: Apache-2.0
"""A package's folder `vivado/`: the IP and its description, and for each platform what makes a project of it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from ringsmith.errors import InputError
from ringsmith.hw import registers
from ringsmith.hw.documents import template
from ringsmith.hw.tops.axi4 import Axi4
from ringsmith.hw.tops.top import TEMPLATES, Top
from ringsmith.hw.vivado.component import component
from ringsmith.hw.vivado.platform import Platform
from ringsmith.hw.vivado.ports import ports, register_bytes, wrapper

FOLDER = "vivado"
#: Bytes of memory that a device tree sets aside for host buffers at least, and how many buffers it has room for.
BUFFERS, LEAST_MEMORY = 256, 1 << 24
#: Label of the interrupt controller in the kernel's device trees, and cells of an address there.
_CONTROLLERS = {"zynq7000": ("intc", 1), "zynqmp": ("gic", 2)}


def check_platforms(top: Top, platforms: Sequence[Platform]) -> None:
    """Whether the design can stand on the platforms. Raises InputError: it has no AXI4 host."""
    if platforms and not isinstance(top, Axi4):
        raise InputError(f"{top.name} has no AXI4 buses for a platform to reach: ask for a preset with host = axi4")


def write_projects(top: Axi4, work: Path, platforms: Sequence[Platform], *, rtl: Sequence[str], version: str) -> None:
    """Write `vivado/` of a package at `work`; `rtl` are its sources, in the order to read them."""
    folder = work / FOLDER
    folder.mkdir()
    module = module_of(top)
    of = ports(top.preset, top.port_bits())
    (folder / f"{module}.v").write_text(wrapper(module, top.preset, of))
    files = [*rtl, f"{FOLDER}/{module}.v"]
    beside = [f"../{name}" for name in rtl] + [f"{module}.v"]
    described = component(module, top.preset, of, registers.load(registers.HOST), beside, version)
    (folder / "component.xml").write_text(described)
    for platform in platforms:
        _write_platform(top, folder / platform.name, platform, files)
    rows = "\n".join(f"| `{platform.name}/` | {platform.part}, {platform.clock_mhz:g} MHz |" for platform in platforms)
    (folder / "README.md").write_text(template("vivado/README.md", name=top.name, module=module, rows=rows))


def module_of(top: Top) -> str:
    """Name of the IP's module: a preset's name with what Verilog takes."""
    return f"{top.name.replace('-', '_')}_ip"


def _write_platform(top: Axi4, folder: Path, platform: Platform, files: Sequence[str]) -> None:
    folder.mkdir()
    (folder / "settings.tcl").write_text(_settings(top, platform, files))
    for name in ("project.tcl", "constraints.xdc"):
        shutil.copyfile(TEMPLATES / "vivado" / name, folder / name)
    parts = [platform.kind, *(["processor"] if platform.is_linux else [])]
    design = "".join((TEMPLATES / "vivado" / f"{part}.tcl").read_text() for part in parts)
    (folder / "design.tcl").write_text(design)
    if platform.is_linux:
        (folder / "overlay.dts").write_text(_overlay(top, platform))


def _settings(top: Axi4, platform: Platform, files: Sequence[str]) -> str:
    """What the scripts are told, as Tcl."""
    ultrascale = platform.kind != "zynq7000"
    values = {
        "name": f"{top.name}-{platform.name}",
        "module": module_of(top),
        "part": platform.part,
        "board": platform.board,
        "clock_mhz": f"{platform.clock_mhz:g}",
        "registers": f"{platform.registers:#010x}",
        "registers_bytes": str(register_bytes(top.preset)),
        "memory_bytes": str(1 << min(top.preset.address_bits, platform.memory_bits)),
        "defines": " ".join(["SYNTHESIS", *(["RINGSMITH_DSP48E2"] if ultrascale else [])]),
    }
    lines = [f"set {key} {{{value}}}" for key, value in values.items()]
    listed = "".join(f"  {name}\n" for name in files)
    head = f"# SPDX-License-Identifier: Apache-2.0\n# {top.name} on {platform.name}.\n"
    return head + "\n".join(lines) + f"\nset files {{\n{listed}}}\n"


def _overlay(top: Axi4, platform: Platform) -> str:
    """The device tree's part for the core."""
    controller, cells = _CONTROLLERS[platform.kind]
    memory = max(LEAST_MEMORY, 1 << (BUFFERS * top.preset.buffer_bytes - 1).bit_length())
    numbers = [platform.registers, register_bytes(top.preset)]
    reg = " ".join(f"0x0 {value:#x}" if cells == 2 else f"{value:#x}" for value in numbers)
    return template(
        "vivado/overlay.dts",
        name=f"{top.name}-{platform.name}",
        address=f"{platform.registers:x}",
        cells=str(cells),
        reg=reg,
        controller=controller,
        interrupt=str(platform.interrupt),
        size=f"{min(memory, 1 << 30):#x}",
        mask=str(min(top.preset.address_bits, platform.memory_bits)),
    )
