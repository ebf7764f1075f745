# SPDX-License-Identifier: Apache-2.0
"""`ringsmith generate PRESET -o DIR`: write a preset as a hardware package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ringsmith.hw.generate import generate
from ringsmith.hw.vivado import load_platform
from ringsmith.presets import load_any, parse_overrides

EXAMPLES = """Examples:

ringsmith generate tiny -o package: RTL, documents, a testbench; `make` there runs it

ringsmith generate heaws -o package --platform zcu104 --platform zcu102: with projects for Vivado

ringsmith generate cofhee --set n_max=4096 -o package --verilog
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""

    @app.command("generate", epilog=EXAMPLES)
    def generate_command(
        preset: Annotated[str, typer.Argument(help="Preset name, or the path of a preset file.")],
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Directory to write: new, empty, or a package (--force).")
        ],
        settings: Annotated[list[str] | None, typer.Option("--set", help="key=value; overrides the preset.")] = None,
        force: Annotated[
            bool, typer.Option("--force", help="Replace a package there, if unchanged; other files stay.")
        ] = False,
        verilog: Annotated[
            bool, typer.Option("--verilog", help="Also as plain Verilog, for tools that cannot read SystemVerilog.")
        ] = False,
        platform: Annotated[
            list[str] | None,
            typer.Option("--platform", help="Also as a project for Vivado on this board, such as zcu104; repeatable."),
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    ) -> None:
        """Write RTL, file list, FuseSoC core, register documents, C header, driver notes and a testbench."""
        made = load_any(preset, parse_overrides(settings or []))
        platforms = [load_platform(name) for name in dict.fromkeys(platform or [])]
        package = generate(made, output, force=force, verilog=verilog, platforms=platforms)
        if as_json:
            report = {
                "preset": preset,
                "directory": str(package.directory),
                "top": package.top,
                "parameters": package.parameters,
                "build_hash": package.build_hash,
                "files": list(package.files),
            }
            print(json.dumps(report))
        else:
            print(
                f"{package.directory}: {len(package.files)} files, top {package.top}; `make` there runs the testbench"
            )
