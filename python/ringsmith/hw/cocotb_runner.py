# SPDX-License-Identifier: Apache-2.0
"""Run cocotb checks under pytest: builds the module with Verilator once per set of parameters, then simulates.

A test file stands beside its module and holds both sides:

    @cocotb.test()
    async def check_sum(dut): ...                      # runs in the simulator; the name does not start with test_

    @pytest.mark.parametrize("width", [14, 30, 128])
    def test_sum(width):
        run_checks("rs_mod_add", {"Width": width})     # runs every check of this file
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path

from ringsmith import shipped
from ringsmith.hw import core_cfg, icarus, paths, sources, stored
from ringsmith.hw.process import checked, run
from ringsmith.hw.toolchain import Verilator, exclusive, verilator
from ringsmith.hw.verilator import LINT_FLAGS, STATE_FLAGS, WAIVERS, Parameters, digest, parameter_flags


def build(
    top: str,
    parameters: Parameters,
    *,
    extra: Sequence[Path] = (),
    defines: Sequence[str] = (),
    waves: bool = False,
    optimise: str = "-O0",
) -> Path:
    """The simulator executable of `top` for cocotb, from the cache or built now (lint warnings are errors)."""
    import cocotb_tools.config

    tool = verilator()
    files = _files(top, extra, parameters)
    settings = core_cfg.packed(files[-1], parameters)
    shim = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    flags = [*LINT_FLAGS, *STATE_FLAGS, *(f"-D{name}" for name in defines), *(["--trace-fst"] if waves else [])]
    # The simulator finds cocotb's library by the path it was linked with.
    key = digest(tool, top, settings, [*files, WAIVERS, shim], [*flags, optimise, str(cocotb_tools.config.libs_dir)])
    work = paths.cache("cocotb") / f"{top}-{key}"
    target = work / "simulator"
    with exclusive(work.with_suffix(".lock")):
        if not stored.intact(target):
            _compile(tool, top, settings, files, flags, optimise, work)
    return target


def _compile(
    tool: Verilator,
    top: str,
    parameters: Parameters,
    files: Sequence[Path],
    flags: Sequence[str],
    optimise: str,
    work: Path,
) -> None:
    import cocotb_tools.config

    shim = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    libs = cocotb_tools.config.libs_dir
    command: list[str | Path] = [
        tool.command, "--cc", "--exe", "--vpi", "--public-depth", "1", "--prefix", "Vtop", "-Mdir", work,
        "--top-module", top, "-o", "unfinished", "-LDFLAGS", f"-Wl,-rpath,{libs} -L{libs} -lcocotbvpi_verilator",
        *flags, *parameter_flags(parameters), WAIVERS, shim, *files,
    ]  # fmt: skip
    checked(f"verilating {top}", run(command, timeout_s=900))
    env = tool.environment(paths.cache("objects"))
    # One translation unit, with the runtime's header from the cache: a header precompiled for each design costs more
    # than it saves.
    effort = [f"OPT_FAST={optimise}", "OPT_GLOBAL=-O1"]
    make = ["make", "-C", str(work), "-f", "Vtop.mk", "VM_PARALLEL_BUILDS=0", *effort]
    checked(f"compiling {top}", run(make, env=env, timeout_s=1800))
    stored.keep(work / "unfinished", work / "simulator")


def run_checks(
    top: str,
    parameters: Parameters | None = None,
    *,
    checks: str | Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    extra: Sequence[Path] = (),
    defines: Sequence[str] = (),
    seed: int | None = None,
    module: Path | None = None,
    timeout_s: float = 900,
    waves: bool = False,
    optimise: str = "-O0",
    four_state: bool = False,
) -> None:
    """Build `top` with `parameters`, run the cocotb tests of the calling file on it, and fail if one fails.

    The checks see the pins of `top` and nothing inside it.

    `checks` selects by name; `env` reaches the checks through os.environ (the parameters do so as PARAM_<Name>);
    `extra` lists further .sv files (a wrapper for the test, or changed copies of modules); `defines` names macros;
    `module` names a test file other than the caller's; `optimise` is the compiler's effort on the design: where a
    simulation takes longer than its build, "-O1" pays. Registers, memories and pins start at random, drawn from
    `seed` (default: one for each set of checks and parameters): what the design does not write, it must not rely on.

    With `four_state` the simulator is Icarus, on the design as plain Verilog without its assertions: what nothing has
    written is undefined, and so is what depends on it. The checks find FOUR_STATE=1 in os.environ.
    """
    source = module or Path(inspect.stack()[1].filename)
    chosen = dict(parameters or {})
    if core_cfg.takes_cfg(_files(top, extra, chosen)[-1]):
        chosen = core_cfg.completed(chosen)
    if four_state:
        simulator = icarus.build(top, chosen, _files(top, extra, chosen), defines=defines)
    else:
        simulator = build(top, chosen, extra=extra, defines=defines, waves=waves, optimise=optimise)
    runs = simulator.parent / "runs"
    runs.mkdir(exist_ok=True)
    told = [source.name, checks, dict(env or {}), chosen, seed, *([simulator.stem] if four_state else [])]
    label = hashlib.sha256(json.dumps(told, default=list).encode()).hexdigest()[:12]
    results = runs / f"{label}-{os.getpid()}.xml"
    variables = _environment(top, source, results) | {f"PARAM_{name}": str(value) for name, value in chosen.items()}
    if checks is not None:
        variables["COCOTB_TEST_FILTER"] = "|".join(
            f"{name}$" for name in ([checks] if isinstance(checks, str) else checks)
        )
    drawn = int(label[:7], 16) + 1 if seed is None else seed
    command: list[str | Path] = [simulator, "+verilator+rand+reset+2", f"+verilator+seed+{drawn}"]
    if four_state:
        command, variables["FOUR_STATE"] = icarus.command(simulator), "1"
    finished = run(command, cwd=runs, env={**variables, **(env or {})}, timeout_s=timeout_s)
    try:
        _judge(top, results, finished.output)
    finally:
        results.unlink(missing_ok=True)


def _files(top: str, extra: Sequence[Path], parameters: Parameters) -> list[Path]:
    units = sources.library()
    units.update({path.stem: path for path in extra})
    return sources.design(top, parameters, units)


def _environment(top: str, source: Path, results: Path) -> dict[str, str]:
    import cocotb_tools.config
    import find_libpython

    python = str(find_libpython.find_libpython())
    return {
        "COCOTB_TOPLEVEL": top,
        "COCOTB_TEST_MODULES": source.stem,
        "TOPLEVEL_LANG": "verilog",
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "COCOTB_LOG_LEVEL": os.environ.get("COCOTB_LOG_LEVEL", "WARNING"),
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": f"{python};{cocotb_tools.config.pygpi_entry_point()}",
        # `dv`, the verification package, and tests beside the calling one.
        "PYTHONPATH": os.pathsep.join([str(source.parent), str(shipped.rtl()), *sys.path]),
        "PATH": f"{os.environ.get('PATH', '')}{os.pathsep}{cocotb_tools.config.libs_dir}",
    }


def _judge(top: str, results: Path, output: str) -> None:
    """Raise AssertionError unless the results file holds at least one test and no failure."""
    if not results.exists():
        raise AssertionError(f"{top}: the simulation left no results\n{output[-6000:]}")
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = [c.get("name") for c in cases if c.find("failure") is not None or c.find("error") is not None]
    ran = [c for c in cases if c.find("skipped") is None]
    if failed or not ran:
        problem = f"failed: {', '.join(map(str, failed))}" if failed else "no check ran"
        raise AssertionError(f"{top}: {problem}\n{output[-6000:]}")
