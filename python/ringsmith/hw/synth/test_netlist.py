# SPDX-License-Identifier: Apache-2.0
"""Post-synthesis netlists under the RTL's own checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringsmith import shipped
from ringsmith.gen import latency
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.device import top_parameters
from ringsmith.hw.synth.job import Design
from ringsmith.hw.synth.netlist import netlist
from ringsmith.presets import load_preset

pytestmark = pytest.mark.hw
SLOW = pytest.mark.slow


@SLOW
@pytest.mark.parametrize(("variant", "width"), [(2, 14), (0, 14), (1, 14), (3, 14)])
def test_eight_point_netlists_pass_the_rtl_checks(
    variant: int, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parameters = {"Variant": variant, "W": width, "MulStyle": 1}
    design = Design(name=f"ntt8-{variant}", top="rs_ntt8_engine", parameters=parameters)
    expected = latency.value("ntt8_latency", variant=variant, style=1, w=width, minbits=5)
    found = netlist(design)
    assert not list(tmp_path.iterdir())  # it writes into its cache alone
    run_checks(
        design.top,
        extra=[found],
        module=shipped.rtl() / "ntt8" / "test_ntt8_engine.py",
        env={
            **{f"PARAM_{name}": str(value) for name, value in parameters.items()},
            "MODULUS_BITS": str(width),
            "EXPECTED_LATENCY": str(expected),
        },
    )


@SLOW
def test_the_netlist_of_the_core_of_tiny_passes_the_rtl_checks() -> None:
    """Transforms, pointwise work, random programs with hazards, latencies and refusals, all against the reference."""
    parameters = top_parameters(load_preset("tiny"))
    del parameters["ClockKhz"]  # of the shell
    design = Design(name="core of tiny", top="rs_core", parameters=parameters)
    run_checks(
        design.top,
        extra=[netlist(design)],
        module=shipped.rtl() / "core" / "test_core.py",
        env={**{f"PARAM_{name}": str(value) for name, value in parameters.items()}, "CORE_PROGRAMS": "2"},
        timeout_s=3000,
    )
