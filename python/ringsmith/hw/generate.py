# SPDX-License-Identifier: Apache-2.0
"""Write a preset as a hardware package: RTL, file list, FuseSoC core, register documents, driver notes, testbench."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ringsmith.errors import ParameterError, ToolError
from ringsmith.hw import sources
from ringsmith.hw.device import SHARED
from ringsmith.hw.documents import version_of_package, write_documents
from ringsmith.hw.process import run, say
from ringsmith.hw.toolchain import verilator
from ringsmith.hw.tops import describe
from ringsmith.hw.tops.axi4 import Axi4
from ringsmith.hw.tops.top import TEMPLATES, Top
from ringsmith.hw.verilator import HARNESS, WAIVERS, WAIVERS_OF_DESIGNS, own_check
from ringsmith.hw.verilog import write_verilog
from ringsmith.hw.vivado import Platform, check_platforms, write_projects
from ringsmith.hw.written import files_of, new_folder, write_manifest
from ringsmith.presets import AnyPreset

LICENCE = "SPDX-License-Identifier: Apache-2.0"
# Instantiated by who integrates the design, outside its top.
_BESIDE = "rs_reset_sync"
_FUSESOC_MODEL = """// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "V{top}.h"
using Vtop = V{top};
"""


@dataclass(frozen=True)
class Package:
    """A written package: directory, its files in order, top module with its parameters, hash of the build."""

    directory: Path
    files: tuple[str, ...]
    top: str
    parameters: dict[str, int | str]
    build_hash: str


def generate(
    preset: AnyPreset,
    directory: Path,
    *,
    force: bool = False,
    verilog: bool = False,
    platforms: Sequence[Platform] = (),
) -> Package:
    """Write the package of a preset; what fails its own `make lint` is not written.

    `directory` is new or empty, or with `force` a package as it was written, which is replaced; files of the user's
    own beside it stay. Folders above it are made. With `verilog` the design is there as plain Verilog too, with
    `platforms` as projects for Vivado.

    Raises:
        InputError: it cannot be written there, or stand on a platform.
        ParameterError: the design cannot be elaborated.
    """
    top = describe(preset)
    check_platforms(top, platforms)
    with new_folder(directory, force=force) as work:
        package = _fill(top, work, directory, verilog=verilog, platforms=platforms)
        _lint(preset, work)
    return package


def _lint(preset: AnyPreset, work: Path) -> None:
    """Run the package's own lint. Raises ParameterError with the words of the elaboration check that refuses it."""
    say("[4/4] lint")
    finished = run(["make", "--no-print-directory", "lint"], cwd=work, env=verilator().environment(), timeout_s=600)
    if finished.status == 0:
        return
    refusal = own_check(finished.output)
    if refusal is None:
        raise ToolError(f"the package of {preset.name} fails its own lint:\n{finished.tail()}")
    raise ParameterError(f"preset {preset.name} cannot be built: {refusal}")


def _fill(top: Top, work: Path, directory: Path, *, verilog: bool, platforms: Sequence[Platform]) -> Package:
    """Write a package at `work` that will stand at `directory`."""
    parameters = top.parameters()
    digest = top.build_hash(parameters)
    parameters = top.identified(parameters)
    for folder in ("rtl", "tb", "include", "docs", "constraints"):
        (work / folder).mkdir()
    say(f"[1/4] RTL of {top.name}")
    units = [*sources.design(top.module, parameters), *sources.closure(_BESIDE)]
    rtl = [_copy_rtl(path, work, top, parameters) for path in units]
    plain = _plain_verilog(top, parameters, work) if verilog else []
    say("[2/4] testbench and its known answers")
    _testbench(top, work)
    say("[3/4] documents")
    write_documents(top, digest, work, rtl=rtl, verilog=plain, has_projects=bool(platforms))
    if platforms and isinstance(top, Axi4):
        write_projects(top, work, platforms, rtl=rtl, version=version_of_package())
    write_manifest(work)
    return Package(directory, files_of(work), top.module, parameters, digest)


def _copy_rtl(path: Path, work: Path, top: Top, parameters: dict[str, int | str]) -> str:
    text = path.read_text()
    if not path.stem.startswith("rs_"):
        pass  # of a package, under its own licence
    elif LICENCE not in text:
        text = f"// {LICENCE}\n{text}"
    if path.stem == top.module:
        text = f"// Parameter defaults are those of the preset {top.name}.\n{_with_defaults(text, parameters)}"
    (work / "rtl" / path.name).write_text(text)
    return f"rtl/{path.name}"


def _with_defaults(text: str, parameters: dict[str, int | str]) -> str:
    for name, value in parameters.items():
        literal = f"32'h{value:08x}" if name == "SinglePort" else value
        text, count = re.subn(rf"(parameter [^=\n]*\b{name} = )[^,\n]+", rf"\g<1>{literal}", text)
        if count != 1:
            raise AssertionError(f"the top has {count} parameters {name}")
    return text


def _plain_verilog(top: Top, parameters: dict[str, int | str], work: Path) -> list[str]:
    """Write the design, and what stands outside its top, as plain Verilog; returns the files."""
    (work / "verilog").mkdir()
    files = {f"verilog/{top.name}.v": (top.module, parameters), f"verilog/{_BESIDE}.v": (_BESIDE, {})}
    for name, (module, settings) in files.items():
        write_verilog(module, settings, work / name, quiet=False)
    return list(files)


def _testbench(top: Top, work: Path) -> None:
    """Copy the harness and write the vectors."""
    for name in (*SHARED, "abi.h", "simulation.h", *top.harness, *top.headers):
        shutil.copyfile(HARNESS / name, work / "tb" / name)
    (work / "tb" / "lint.vlt").write_text(WAIVERS.read_text() + WAIVERS_OF_DESIGNS.read_text())
    shutil.copyfile(TEMPLATES / top.testbench, work / "tb" / "testbench.cpp")
    (work / "tb" / "vectors.h").write_text(top.vectors())
    # FuseSoC names the model after the top; the harness knows it as Vtop.
    (work / "tb" / "fusesoc").mkdir()
    (work / "tb" / "fusesoc" / "Vtop.h").write_text(_FUSESOC_MODEL.format(top=top.module))
