# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from ringsmith import shipped
from ringsmith.errors import InputError, ParameterError
from ringsmith.hw.board import bitstream
from ringsmith.hw.board.pinout import load_pinout, pinout_names
from ringsmith.hw.board.top import BoardTop, board_top
from ringsmith.hw.synth.boards import load_board
from ringsmith.hw.synth.follow import StallError
from ringsmith.hw.synth.place import PATIENCE, Placer, stalled
from ringsmith.presets import load_any, parse_overrides


def _top(
    *settings: str,
    core_mhz: float | None = None,
    baud: int | None = None,
    preset: str = "ulx3s",
    board: str = "ulx3s-85f",
) -> BoardTop:
    made = load_any(preset, parse_overrides(list(settings)))
    return board_top(made, load_pinout(board), core_mhz=core_mhz, baud=baud)


def test_every_pinout_loads_and_names_a_device() -> None:
    pinouts = [load_pinout(name) for name in pinout_names()]
    assert [pinout.name for pinout in pinouts] == pinout_names()
    assert {load_board(pinout.device).family for pinout in pinouts} == {"ecp5"}


@pytest.mark.parametrize("name", ["ulx3s", "../boards/zcu102", "", "a$(shell id)"])
def test_a_board_is_asked_for_by_its_own_name(name: str) -> None:
    with pytest.raises(InputError, match=r"no pinout .*; pinouts: .*ulx3s-85f"):
        load_pinout(name)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('die = "85k"', 'die = "99k"', "die must be 12k, 25k, 45k, 85k, got '99k'"),
        ("speed = 6", "speed = 5", "speed must be 6, 7, 8, got 5"),
        ('clock_pin = "G2"', 'clock_pin = "G2; x"', "clk_i: 'G2; x' is no site of a package"),
        ('reset_pin = "D6"', 'reset_pin = "M1"', "two pins have one site: .*rst_ni M1, uart_rx_i M1"),
        ("baud = 1000000", "baud = 1", "baud must be from 9600 to 12000000, got 1"),
        ("core_mhz = 50.0", "core_mhz = nan", "core_mhz must be from 1 to 400 MHz, got nan"),
        ('package = "CABGA381"', 'package = "--help"', "package is none of this family"),
        ('\nio_type = "LVCMOS33"', '\nio_type = "x"', " io_type is none of this family"),
        ('reset_io_type = "LVCMOS33"', 'reset_io_type = "LVDS"', "reset_io_type is none of this family, got 'LVDS'"),
        ('led_lit = "high"', 'led_lit = "on"', "led_lit must be high or low, got 'on'"),
        ("speed = 6", "", "lacks speed"),
    ],
)
def test_a_file_that_describes_no_pins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, words: str
) -> None:
    text = (shipped.root() / "spec" / "pinouts" / "ulx3s-85f.toml").read_text()
    assert old in text
    (tmp_path / "rtl").mkdir()
    (tmp_path / "spec" / "pinouts").mkdir(parents=True)
    (tmp_path / "spec" / "pinouts" / "ulx3s-85f.toml").write_text(text.replace(old, new))
    monkeypatch.setenv("RINGSMITH_ROOT", str(tmp_path))
    with pytest.raises(ParameterError, match=words):
        load_pinout("ulx3s-85f")


def test_the_top_has_the_preset_the_clock_and_the_rate() -> None:
    top = _top(core_mhz=40, baud=500_000)
    assert top.parameters()["ClockKhz"] == 40_000
    assert top.parameters()["UartDivisor"] == 80
    text = top.systemverilog()
    assert all(part in text for part in (".UartDivisor(80)", ".W(30)", f".InputDiv({top.pll.input})"))
    # Another rate is another build.
    assert top.parameters()["BuildHash"] != _top(core_mhz=40).parameters()["BuildHash"]


@pytest.mark.parametrize("board", pinout_names())
@pytest.mark.parametrize("preset", ["ulx3s", "ulx3s-client"])
def test_the_pin_file_has_each_pin_once(board: str, preset: str) -> None:
    lines = _top(preset=preset, board=board).pin_file().splitlines()
    located = [line.split('"')[1] for line in lines if line.startswith("LOCATE")]
    assert sorted(located) == sorted(load_pinout(board).pins())
    assert f'FREQUENCY PORT "clk_i" {load_pinout(board).clock_mhz:g} MHZ;' in lines


def test_a_lamp_that_a_low_pin_lights_shines_when_the_device_is_ready() -> None:
    assert "assign led_o = rst_n && !irq;" in _top().systemverilog()
    assert "assign led_o = !rst_n || irq;" in _top(board="colorlight-i9").systemverilog()


def test_a_button_has_the_voltage_of_its_bank() -> None:
    lines = _top(board="orangecrab-25f").pin_file().splitlines()
    types = {line.split('"')[1]: line.rstrip(";").split("IO_TYPE=")[1] for line in lines if line.startswith("IOBUF")}
    assert types.pop("rst_ni") == "SSTL135_I"
    assert set(types.values()) == {"LVCMOS33"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"preset": "tiny"}, "tiny has no serial port: .*host=serial"),
        ({"preset": "zynq-pn3"}, "zynq-pn3 has no serial port"),
        ({"core_mhz": 500}, "a PLL makes 1 to 400 MHz, not 500"),
        ({"baud": 20_000_000}, "20000000 baud at 50 MHz: from 763 to 12500000 baud"),
        ({"baud": 300}, "300 baud at 50 MHz: from 763 to 12500000 baud"),
        ({"baud": 11_000_000}, "the nearest is 10000000 baud, more than 2 % away"),
    ],
)
def test_what_cannot_go_onto_a_board_is_refused(call: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        _top(**call)  # type: ignore[arg-type]


def test_a_controller_needs_firmware_that_no_bitstream_holds() -> None:
    with pytest.raises(InputError, match=r"has a controller.*--set controller=none"):
        _top("controller=riscv")


def _log(overused: list[int]) -> list[str]:
    return [
        f"Info:     iter={number} wires=161458 overused={count} overuse={count} archfail=NA"
        for number, count in enumerate(overused, 1)
    ]


def test_a_router_that_comes_no_nearer_is_told() -> None:
    nearer = [900 - 2 * number for number in range(300)]
    assert stalled([]) == ""
    assert stalled(_log(nearer)) == ""
    assert stalled(_log([*nearer, *[400] * (PATIENCE - 1)])) == ""
    # As few as before is no nearer, and up and down is none.
    assert stalled(_log([*nearer, *[302, 400] * PATIENCE])).startswith("302 wires stay claimed by two nets")
    assert stalled(_log([*[1] * (PATIENCE + 1)])).startswith("1 wire stays claimed by two nets")
    assert stalled(_log([*nearer, *[400] * PATIENCE, 301])) == ""


def test_seeds_are_tried_until_one_is_routed_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clocks: list[float] = []

    def routed(*_: object, **__: object) -> dict[str, object]:
        if not (mhz := clocks.pop(0)):
            raise StallError("no end")
        return {"fmax": {"clk": {"achieved": mhz}}}

    monkeypatch.setattr(bitstream, "_routed", routed)
    top = _top()

    def placed(*mhz: float) -> int:
        clocks[:] = mhz
        return bitstream._placed(top, tmp_path, "x", range(1, len(mhz) + 1), Placer.STATIC, quiet=True)[1]

    assert placed(0, 49.99, 50.0, 99) == 3
    with pytest.raises(
        ParameterError, match=r"misses its clock of 50 MHz: not routed, 41.50 MHz with seeds 1 to 2; .*clock 41"
    ):
        placed(0, 41.5)
    with pytest.raises(
        ParameterError, match=r"finds no wires for its nets: not routed with seed 1; .*--seed 2.*--placer heap"
    ):
        placed(0)
