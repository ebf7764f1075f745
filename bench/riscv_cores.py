# SPDX-License-Identifier: Apache-2.0
"""Area of small open RISC-V cores from packages, each in its smallest form with registers, by our synthesis flow.

    pip install --no-deps --target build/riscv pythondata-cpu-serv pythondata-cpu-picorv32 pythondata-cpu-vexriscv \
        pythondata-cpu-ibex
    python bench/riscv_cores.py build/riscv

The controller has the first of the table (docs/controller.md).
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ringsmith.hw.synth.job import run_yosys, tally


@dataclass(frozen=True)
class Core:
    """A core: its licence, top, files below the package, parameters, and how its files are read."""

    licence: str
    top: str
    files: tuple[str, ...]
    parameters: str = ""
    slang: bool = False


# Other tops, and what is for simulation.
OTHERS = ("serv_synth_wrapper", "ibex_top", "ibex_lockstep", "ibex_tracer")
IBEX = "system_verilog/rtl/"
PRIM = "system_verilog/vendor/lowrisc_ip/ip/prim/rtl/"
CORES = {
    "serv": Core("ISC", "serv_rf_top", ("verilog/rtl/*.v",), "-set WITH_CSR 0"),
    "picorv32": Core(
        "ISC", "picorv32", ("verilog/picorv32.v",),
        "-set ENABLE_COUNTERS 0 -set ENABLE_COUNTERS64 0 -set CATCH_MISALIGN 0 -set CATCH_ILLINSN 0",
    ),
    "vexriscv": Core("MIT", "VexRiscv", ("verilog/VexRiscv_Min.v",)),
    "ibex": Core(
        "Apache-2.0", "ibex_core",
        (f"{PRIM}prim_secded_pkg.sv", f"{PRIM}prim_ram_1p_pkg.sv", f"{IBEX}ibex_pkg.sv", f"{IBEX}ibex_*.sv"),
        "-G RV32E=1", slang=True,
    ),
}  # fmt: skip


def area(folder: Path, core: Core) -> dict[str, float]:
    """Synthesise a core for UltraScale+ and count its cells."""
    files: list[str] = []
    for pattern in core.files:
        found = sorted(str(path) for path in folder.glob(pattern) if not path.stem.startswith(OTHERS))
        files += [name for name in found if name not in files]
    if core.slang:
        include = " ".join(f"-I {path.parent}" for path in folder.rglob("prim_assert.sv"))
        fcov = " ".join(f"-I {path.parent}" for path in folder.rglob("dv_fcov_macros.svh"))
        read = [f"read_slang --top {core.top} -D SYNTHESIS {core.parameters} {include} {fcov} {' '.join(files)}"]
    else:
        read = [f"read_verilog -DSYNTHESIS {' '.join(files)}"]
        read += [f"chparam {core.parameters} {core.top}"] if core.parameters else []
    with tempfile.TemporaryDirectory() as work:
        result = Path(work) / "stat.json"
        synth = f"synth_xilinx -family xcup -top {core.top} -noiopad -noclkbuf -flatten"
        run_yosys([*read, f"hierarchy -top {core.top}", synth, f"tee -q -o {result} stat -json"], core.top, result)
        total: dict[str, float] = tally(json.loads(result.read_text()), core.top)["total"]
    return total


def main(where: Path) -> None:
    """Print a row for each core that is installed below `where`."""
    print("| core | licence | LUT | FF | RAMB36 |\n|---|---|---|---|---|")
    for name, core in CORES.items():
        folder = where / f"pythondata_cpu_{name}"
        if folder.is_dir():
            used = area(folder, core)
            print(f"| {name} | {core.licence} | {used['lut']:,} | {used['ff']:,} | {used['bram36']:g} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
