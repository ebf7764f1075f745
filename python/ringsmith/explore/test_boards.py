# SPDX-License-Identifier: Apache-2.0
"""Boards of a search: those with pins and a serial port, and those that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith.cli import application
from ringsmith.errors import InputError
from ringsmith.explore.boards import port_ms, searched_board, searched_names
from ringsmith.explore.conftest import Searched
from ringsmith.explore.resources import families, units
from ringsmith.explore.space import CONVERTING
from ringsmith.explore.verify import verify
from ringsmith.hw.board import load_pinout
from ringsmith.hw.board.top import board_top
from ringsmith.hw.synth import load_board
from ringsmith.runtime.kernel import Kernel

FEW = ["lanes=1", "butterflies=1", "moves=0,16", "moduli_slots=2", "dual_port_slots=4,6", "single_port_slots=1"]


def test_a_board_with_pins_is_its_device_at_its_clock_and_its_port() -> None:
    board, device, pins = searched_board("ulx3s-85f"), load_board("ecp5-85k"), load_pinout("ulx3s-85f")
    assert (board.lut, board.dsp, board.bram36) == (device.lut, device.dsp, device.bram36)
    assert board.clock_mhz == pins.core_mhz
    assert board.memory_gb_s == pytest.approx(1e-4)
    assert {"ulx3s-85f", "colorlight-i9", "orangecrab-25f", "zcu102"} <= set(searched_names())
    assert not {"ecp5-85k", "zynq-7020"} & set(searched_names())


def test_bytes_take_time_on_a_serial_port_alone() -> None:
    usage = {"send": {"bytes": 70_000}, "receive": {"bytes": 30_000}}
    assert port_ms(searched_board("ulx3s-85f"), usage) == pytest.approx(1000.0), "a million baud, ten bits a byte"
    assert port_ms(searched_board("zcu102"), usage) == 0.0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("zynq-7020", "resources are fitted to syntheses for ecp5, xcup, and mean nothing on xc7"),
        ("ecp5-85k", "--board ecp5-85k is a device without a port; there is .*ulx3s-85f"),
        ("zcu999", "no board 'zcu999'; boards: .*zcu102"),
        ("../zcu102", "no board '../zcu102'"),
    ],
)
def test_another_board_is_refused(name: str, words: str) -> None:
    refused = CliRunner().invoke(application(), ["explore", "kernel.py", "--board", name])
    assert isinstance(refused.exception, InputError)
    with pytest.raises(InputError, match=words):
        raise refused.exception


def test_units_for_base_conversion_are_refused_where_none_was_synthesised(searched: Searched, tmp_path: Path) -> None:
    assert [family for family in families() if units(family)] == list(CONVERTING)
    search = searched(tmp_path / "r.sqlite", [*FEW, "rns_rate=2"], board="ulx3s-85f")
    assert not search.points
    assert any("no unit was synthesised for ecp5, got 2" in reason for reason in search.infeasible)


def test_a_search_for_a_board_with_a_serial_port(searched: Searched, energy: Kernel, tmp_path: Path) -> None:
    search = searched(tmp_path / "r.sqlite", FEW, board="ulx3s-85f")
    assert search.front
    for point in search.front:
        assert point.port_ms > 0
        assert point.cycles is not None
        device_ms = point.cycles / 50_000
        assert point.device_ms == pytest.approx(device_ms)
        assert point.latency_ms == pytest.approx(device_ms + point.host_ms + point.port_ms)
    # More slots spill less, so that less crosses the line.
    sent = {point.hardware.dual_port_slots: point.port_ms for point in search.points if point.hardware.moves == 16}
    assert sent[6] <= sent[4]
    best = search.preset(search.front[0])
    assert (best.host, best.multiplier, best.cores) == ("serial", "dsp18x18", 1)
    assert board_top(best, load_pinout("ulx3s-85f")).parameters()["ClockKhz"] == 50_000
    (ran,) = verify(energy, search, 1, "model")
    assert ran.correct
    assert ran.off == 0
