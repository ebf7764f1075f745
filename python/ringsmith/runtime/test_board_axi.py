# SPDX-License-Identifier: Apache-2.0
"""A board behind AXI: the Verilated core behind the files that Linux has for it, spoken to as a board is.

The process of `ringsmith.hw.linux` holds the core and serves UIO's and XDMA's files and attributes by FUSE. The driver
under test is the board's own; nothing of it is replaced.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native
from ringsmith.cli.measure import Whole
from ringsmith.cli.simulate_board import measured_on_board
from ringsmith.errors import DeviceError, ParameterError, ToolError
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.hw.device import build_device
from ringsmith.hw.linux.__main__ import build_trap
from ringsmith.hw.linux.fuse import FileSystem, Folder, unmount
from ringsmith.presets import load_preset
from ringsmith.runtime import board
from ringsmith.runtime.ports import address

pytestmark = pytest.mark.hw

PRESET = load_preset("tiny")
N = 64
MODULI = _native.default_moduli([30, 30], N, PRESET.n_max)
#: What works: how Linux reaches the core, the stand-in's options, the address's.
WAYS = {
    "uio beyond 4 GiB, not at a page": ("uio", ("--address", "0x140000040"), ""),
    "uio, coherent, polled": ("uio", ("--coherent", "--no-interrupt"), "&done=poll"),
    "xdma beyond 4 GiB, not at a page": ("xdma", ("--bytes", "0x150000000"), "&memory=0x140000123:0x100000"),
    "xdma, polled": ("xdma", ("--no-interrupt",), "&done=poll"),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        build_trap()
        FileSystem(Folder(), tmp_path_factory.mktemp("mount")).close()
    except ToolError as error:
        pytest.skip(str(error))
    return build_device(PRESET)


@dataclass
class Plugged:
    """A board: what its process said, and that process."""

    line: str
    run: subprocess.Popen[str]

    @property
    def text(self) -> str:
        """The address, behind `board:`."""
        return self.line.split()[-1].removeprefix("board:")

    @property
    def environment(self) -> dict[str, str]:
        """What a program of its own is started with."""
        return dict(item.split("=", 1) for item in self.line.split()[:-1])

    def open(self, options: str = "") -> _native.Device:
        """Open the board."""
        return address(self.text + options).open()


@contextmanager
def plugged(library: Path, kind: str, *faults: str) -> Iterator[Plugged]:
    """A board behind files of its own."""
    command = [sys.executable, "-m", "ringsmith.hw.linux", str(library), kind, *faults]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        made = Plugged(run.stdout.readline(), run)
        root = made.text.split("root=")[1]
        if told := made.environment.get("RINGSMITH_BUS"):
            ctypes.CDLL(str(build_trap())).rs_bus(*(part.encode() for part in told.split(":")))
        try:
            yield made
        finally:
            run.stdin.close()
            run.wait(30)
            # A process that was killed leaves them.
            unmount(Path(root))
            shutil.rmtree(Path(root).parent, ignore_errors=True)


def multiplied(device: _native.Device) -> list[list[int]]:
    """Negacyclic products on both lanes of the device."""
    device.set_moduli(0, MODULI)
    device.load_twiddles(0, N)
    first = device.allocate(2)
    device.upload(first, [[(7 * i * i + 3) % modulus for i in range(N)] for modulus in MODULI])
    work = f"load s0 n={N} buf={first}\nntt s2, s0 n={N}\npmodmul s1, s2, s2 n={N}\nintt s3, s1 n={N}\n"
    device.run(_native.assemble(f"{work}store s3 n={N} buf={first + 1}\n"))
    return device.download(first + 1, N)


def opened_and_multiplied(board_: Plugged) -> None:
    multiplied(board_.open())


def on_the_model() -> list[list[int]]:
    return multiplied(_native.Device.model("model", [], PRESET.numbers(), PRESET.port_memory))


@pytest.mark.parametrize("way", WAYS)
def test_operations_are_right(library: Path, way: str) -> None:
    kind, faults, options = WAYS[way]
    with plugged(library, kind, *faults) as board_:
        device = board_.open(options)
        assert multiplied(device) == on_the_model()
        assert device.simulate_operation("tensor", MODULI, N)["correct"]
        used = device.port_use()
        assert used is not None
        assert (used["clock_khz"], used["resent"]) == (100_000, 0)
        assert min(used[key] for key in ("seconds", "frames", "bytes_to_device", "busy_cycles")) > 0


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=20), y=rs.Encrypted(8, bound=20))
def products(x: Any, y: Any) -> Any:
    """Products of two encrypted vectors."""
    return x * y


@pytest.mark.parametrize("kind", ["uio", "xdma"])
def test_a_whole_program_gives_the_processors_bytes(library: Path, kind: str) -> None:
    primes = tuple(_native.ntt_primes(256, 31, 4, exclude=[]))
    params = ParamRequest(scheme="bfv", n=256, moduli=primes[:3], special=primes[3:], plain_modulus=7681)
    compiled = products.options(params=params, allow_insecure=True)
    inputs = {"x": np.arange(8), "y": np.arange(8) + 3}
    with plugged(library, kind) as board_:
        report = rs.run(compiled, inputs, seed="7", engine=f"board:{board_.text}").json()
        assert report["correct"]
        assert report["output_sha256"] == rs.run(compiled, inputs, seed="7").json()["output_sha256"]
        assert report["offloaded"] == {"zero-encrypt": 2, "tensor": 1, "key-switch": 1, "delta-m-decrypt": 1}
        assert report["compute"]["cycles"] > 0 < report["port"]["bytes_to_device"]
        measured = measured_on_board(PRESET, f"board:{board_.text}", "polymul", N, Whole(allow_insecure=True))
        assert measured["correct"]
        # Commands come one by one over the bus, and overlap less than predicted.
        assert measured["compute"]["cycles"] == pytest.approx(measured["compute"]["predicted_cycles"], rel=0.1)


FAULTS = {
    "an interrupt that does not come": ("--no-interrupt", "the core is done and its interrupt did not come: [ -~]+"),
    "a bus that answers no more": ("--lose-after=4", r"the core does not answer any more: its status reads 0xf{8}"),
    "a bitstream loaded anew in the midst": ("--reset-after=4", "the board was reset: what it held is gone"),
    "memory that ends": ("--bytes=8192", r"host buffers of \d+ bytes, from 0x\w+ on there is room for \d+ [ -~]+"),
}


@pytest.mark.parametrize("kind", ["uio", "xdma"])
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_in_a_line(library: Path, kind: str, fault: str) -> None:
    option, words = FAULTS[fault]
    with plugged(library, kind, option) as board_:
        with pytest.raises(DeviceError, match=rf"^board:{kind}:\w+: {words}$"):
            opened_and_multiplied(board_)
        if "reset" in option:
            assert multiplied(board_.open()) == on_the_model()


@pytest.mark.parametrize("kind", ["uio", "xdma"])
def test_programs_take_turns(library: Path, kind: str) -> None:
    """A second program is refused and the first goes on; one that is killed in the midst leaves nothing behind."""
    with plugged(library, kind) as board_:
        device = board_.open()
        with pytest.raises(DeviceError, match=rf"^board:{kind}:\w+: another program has the port$"):
            board_.open()
        assert multiplied(device) == on_the_model()
        with pytest.raises(ParameterError, match="another build than heaws is on this board"):
            board.open_for(load_preset("heaws"), _Opened(device, f"board:{kind}"))
        del device
        script = (
            "import sys\nfrom ringsmith.runtime.ports import address\ndevice = address(sys.argv[1]).open()\n"
            f"while device.simulate_operation('tensor', {MODULI}, {N}):\n    print('at work', flush=True)\n"
        )
        command = [sys.executable, "-c", script, board_.text]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, **board_.environment}
        ) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "at work\n"
            time.sleep(0.02)
            other.kill()
        assert other.returncode == -signal.SIGKILL
        assert multiplied(board_.open()) == on_the_model()


@dataclass(frozen=True)
class _Opened:
    """An address whose board is open already."""

    device: _native.Device
    name: str

    def open(self) -> _native.Device:
        return self.device

    def facts(self) -> dict[str, int]:
        return {}

    def ms(self, size: int) -> float:
        return float(size)


@pytest.mark.parametrize(
    ("kind", "words"), [("uio", "the core does not answer any more: [ -~]+"), ("xdma", r"\w+ register [ -~]+")]
)
def test_a_board_that_goes_away_is_told(library: Path, kind: str, words: str) -> None:
    with plugged(library, kind) as board_:
        device = board_.open()
        board_.run.kill()
        board_.run.wait()
        with pytest.raises(DeviceError, match=rf"^board:{kind}:\w+: {words}$"):
            multiplied(device)


def test_memory_that_the_core_does_not_reach_is_refused(library: Path) -> None:
    words = r"the memory for host buffers begins at 0x10000000000, addresses of this core end at 0x10000000000: "
    with plugged(library, "uio", "--address", "0x10000000000") as board_, pytest.raises(DeviceError, match=words):
        board_.open()
