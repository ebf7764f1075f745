# SPDX-License-Identifier: Apache-2.0
"""A board at a port: the top of a bitstream behind a pseudo-terminal, spoken to as a board is, with faults between."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith import _native
from ringsmith.cli.measure import Whole
from ringsmith.cli.simulate_board import measured_on_board
from ringsmith.errors import DeviceError, InputError, ParameterError
from ringsmith.hw.board import load_pinout, pinout_names
from ringsmith.hw.board.simulated import build_board, build_gates
from ringsmith.hw.board.top import BoardTop, board_top
from ringsmith.hw.serial_frames import constants
from ringsmith.hw.synth.follow import run_tool
from ringsmith.hw.synth.place import write_netlist
from ringsmith.presets import load_preset
from ringsmith.runtime import board
from ringsmith.runtime.engine import EngineOptions
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.ports import Serial, address
from ringsmith.shipped import root

# Preset, rate and so the simulator are those of test_board.py.
PRESET = load_preset("ulx3s", {"n_max": 64, "modulus_bits_min": 20})
MODULUS, N = 536_872_321, 16
# The board is simulated, more slowly than it would be.
OPTIONS = "baud=12500000&wait=3"


@pytest.fixture(scope="module")
def library() -> Path:
    return build_board(board_top(PRESET, load_pinout("ulx3s-85f"), baud=12_500_000))


@contextmanager
def plugged(library: Path, *faults: str) -> Iterator[Serial]:
    """A board behind a pseudo-terminal; the address of its port."""
    command = [sys.executable, "-m", "ringsmith.hw.board.pseudo", str(library), *faults]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        try:
            where = address(f"{run.stdout.readline().strip()}?{OPTIONS}")
            assert isinstance(where, Serial)
            yield where
        finally:
            run.stdin.close()
            run.wait(30)


def multiplied(device: _native.Device) -> list[list[int]]:
    """A negacyclic product on the device."""
    device.set_moduli(0, [MODULUS])
    device.load_twiddles(0, N)
    device.allocate(2)
    device.upload(0, [[(7 * i * i + 3) % MODULUS for i in range(N)]])
    work = "load s0 n=16 buf=0\nntt s2, s0 n=16\npmodmul s1, s2, s2 n=16\nintt s3, s1 n=16\nstore s3 n=16 buf=1\n"
    device.run(_native.assemble(work))
    return device.download(1, N)


def on_the_model() -> list[list[int]]:
    return multiplied(_native.Device.model("model", [], PRESET.numbers(), PRESET.port_memory))


@pytest.mark.hw
def test_operations_at_a_port_are_right(library: Path) -> None:
    with plugged(library) as where:
        report = measured_on_board(PRESET, f"{where.name}?{OPTIONS}", "polymul", N, Whole(allow_insecure=True))
        assert report["correct"]
        assert report["compute"]["cycles"] == report["compute"]["predicted_cycles"] > 0
        device = board.open_for(PRESET, where)
        for operation in ("tensor", "zero-encrypt", "key-switch"):
            assert device.simulate_operation(operation, [MODULUS], N)["correct"], operation
        used = device.port_use()
        assert used is not None
        assert (used["clock_khz"], used["resent"]) == (50_000, 0)
        assert used["seconds"] > 0 < used["busy_cycles"]
        # Another program on the port: one line, and the first goes on.
        with pytest.raises(DeviceError, match=r"^/dev/\S+: another program has the port$"):
            where.open()
        assert multiplied(device) == on_the_model()


def _packed(top: BoardTop, netlist: Path) -> Path:
    """The netlist in slices, as nextpnr writes it: what place and route add is where they are."""
    pinout, folder = top.pinout, netlist.parent
    (folder / "pins.lpf").write_text(top.pin_file())
    command = ["nextpnr", f"--{pinout.die}", "--package", pinout.package, "--speed", str(pinout.speed), "--pack-only"]
    command += ["--json", netlist.name, "--lpf", "pins.lpf", "--write", "packed.json"]
    run_tool(command, "packing", folder / "packed.json", step=lambda _: "packing", quiet=True)
    return folder / "packed.json"


@pytest.mark.hw
@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_the_netlist_of_a_bitstream_answers_as_the_board_does(tmp_path: Path, packed: bool) -> None:
    """What nextpnr is given, LUTs, carries, flip-flops, memories, multipliers, and its slices; some minutes."""
    preset = load_preset("ulx3s")
    top = board_top(preset, load_pinout("ulx3s-85f"), baud=12_500_000)
    netlist = tmp_path / "ulx3s.json"
    write_netlist(top.design(tmp_path), netlist, quiet=True)
    if packed:
        netlist = _packed(top, netlist)
    moduli = _native.default_moduli([30], N, preset.n_max)
    with plugged(build_gates(top, netlist)) as where:
        device = board.open_for(preset, replace(where, wait=60))
        for operation in ("tensor", "zero-encrypt", "key-switch"):
            assert device.simulate_operation(operation, moduli, N)["correct"], operation


@pytest.mark.hw
def test_faults_of_the_line_change_nothing(library: Path) -> None:
    """A byte lost, doubled and flipped each way, in headers and in data."""
    faults = ("--to-board", "flip:405,double:760,lose:1100", "--from-board", "lose:500,flip:760,double:1000")
    with plugged(library, *faults) as where:
        # The driver waits this many seconds for an answer before it sends a frame again.
        device = board.open_for(PRESET, replace(where, wait=1))
        assert multiplied(device) == on_the_model()
        used = device.port_use()
        assert used is not None
        assert used["resent"] >= 3


@pytest.mark.hw
def test_a_reset_in_the_middle_is_told_and_the_board_begins_anew(library: Path) -> None:
    with plugged(library, "--reset-after", "900") as where:
        device = where.open()
        with pytest.raises(DeviceError, match=r"^/dev/\S+: the board was reset: what it held is gone$"):
            multiplied(device)
        device.reset()
        assert multiplied(device) == on_the_model()


@pytest.mark.hw
def test_a_port_that_goes_away_is_told(library: Path) -> None:
    with plugged(library, "--close-after", "900") as where:
        device = where.open()
        with pytest.raises(DeviceError, match=r"^/dev/\S+: the port went away: [ -~]+$"):
            multiplied(device)


@pytest.mark.hw
def test_another_bitstream_is_refused(library: Path) -> None:
    with (
        plugged(library) as where,
        pytest.raises(ParameterError, match=r"another build than ulx3s .* log2_n_max 6, not 1"),
    ):
        board.open_for(load_preset("ulx3s"), where)


def test_what_is_no_board_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        ("file", "is no serial port"),
        ("pipe", "is no serial port"),
        ("none", "there is no such port"),
    ):
        with pytest.raises(DeviceError, match=rf"/{name}: {words}"):
            open_engine(f"board:{tmp_path / name}")
    master, slave = pty.openpty()
    # A port where nothing answers; its settings are put back.
    before = os.popen(f"stty -F {os.ttyname(slave)} -g").read()
    with pytest.raises(DeviceError, match=r"no board answers at 115200 baud"):
        open_engine(f"board:{os.ttyname(slave)}?baud=115200&wait=0.01")
    assert os.popen(f"stty -F {os.ttyname(slave)} -g").read() == before
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs a port, such as board:/dev/ttyUSB0 (a serial port), board:uio:ringsmith"),
        ("?baud=9600", "needs a port"),
        ("ttyUSB0", "board:'ttyUSB0' is no port that is known; there are board:/dev/ttyUSB0 (a serial port)"),
        ("usb:/dev/x", "board:'usb:/dev/x' is no port that is known"),
        ("uio:", "a UIO device has a name, such as uio:ringsmith"),
        ("uio:../x", "a UIO device has a name"),
        ("uio:x?baud=9600", "board:uio:x: no option 'baud'; there are buffers, done, root"),
        ("uio:x?done=1", "done='1' must be interrupt or poll"),
        ("xdma:x", "a card has a number from 0 to 255, such as xdma:0"),
        ("xdma:256", "a card has a number"),
        ("xdma:0?memory=4096", "memory='4096' must be START:BYTES below 2^63"),
        ("xdma:0?memory=0:0", "memory='0:0' must be"),
        ("xdma:0?memory=1:0x7fffffffffffffff", "must be START:BYTES below 2^63"),
        ("xdma:0?buffers=x", "no option 'buffers'; there are memory, done, root"),
        ("/dev/x?speed=1", "no option 'speed'; there are baud, wait"),
        ("/dev/x?baud=1", "baud='1' must be from 9,600 to 12,500,000"),
        ("/dev/x?baud=1e6", "baud='1e6' must be from"),
        ("/dev/x?wait=nan", "wait='nan' must be from 0.01 to 60"),
        ("/dev/x?wait=", "wait='' must be from"),
    ],
)
def test_addresses(text: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        open_engine(f"board:{text}")
    assert words in str(refused.value)


def test_options_that_no_board_has() -> None:
    for options in (EngineOptions(overrides=["lanes=2"]), EngineOptions(trace="x")):
        with pytest.raises(InputError, match="board:PORT takes no --"):
            open_engine("board:/dev/x", options)


def test_the_usual_rate_is_that_of_every_board() -> None:
    assert {load_pinout(name).baud for name in pinout_names()} == {address("/dev/x").facts()["baud"]}


def test_the_drivers_numbers_are_those_of_the_hardware() -> None:
    text = (root() / "crates" / "device" / "src" / "serial" / "frames.rs").read_text()
    names = {
        "Version": "VERSION", "Command": "COMMAND", "Answer": "ANSWER", "Greet": "GREET", "WriteReg": "WRITE_REG",
        "ReadReg": "READ_REG", "WriteData": "WRITE_DATA", "ReadData": "READ_DATA", "Ok": "OK", "Refused": "REFUSED",
        "Damaged": "DAMAGED", "Malformed": "MALFORMED", "Unknown": "UNKNOWN", "Gone": "GONE",
        "SilenceBytes": "SILENCE_BYTES",
    }  # fmt: skip
    assert names.keys() == constants().keys()
    for name, value in constants().items():
        assert _number_in(text, names[name]) == value, name


def _number_in(text: str, name: str) -> int:
    [line] = [line for line in text.splitlines() if line.startswith(f"pub const {name}: ")]
    return int(line.split(" = ")[1].rstrip(";"), 0)
