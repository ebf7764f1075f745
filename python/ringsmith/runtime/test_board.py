# SPDX-License-Identifier: Apache-2.0
"""The top of a bitstream, simulated: the driver's programs over its serial port give the model's residues."""

from __future__ import annotations

from typing import Any

import pytest

from ringsmith import _native
from ringsmith.errors import DeviceError
from ringsmith.hw.board import load_pinout
from ringsmith.hw.board.simulated import build_board
from ringsmith.hw.board.top import BoardTop, board_top
from ringsmith.presets import load_preset
from ringsmith.runtime.devices import open_device

pytestmark = pytest.mark.hw

N = 64
MODULUS = 536_872_321
#: The fastest serial port that the shell takes, so that a test waits for the core and not for the line.
BAUD = 12_500_000


@pytest.fixture(scope="module")
def top() -> BoardTop:
    preset = load_preset("ulx3s", {"n_max": N, "modulus_bits_min": 20})
    return board_top(preset, load_pinout("ulx3s-85f"), baud=BAUD)


@pytest.fixture(scope="module")
def board(top: BoardTop) -> Any:
    preset = top.preset
    return _native.Device.rtl("board:ulx3s", list(preset.operations), build_board(top), preset.port_memory)


def test_the_board_says_what_it_is(board: Any, top: BoardTop) -> None:
    told, known = board.info(), open_device("model", top.preset).native.info()
    # The RTL does not name instructions of units that it lacks; the model looks at the units.
    assert told.pop("instructions") & ~known.pop("instructions") == 0
    assert told == known


@pytest.mark.parametrize("operation", ["polymul", "tensor", "zero-encrypt", "delta-m-decrypt", "key-switch"])
def test_operations_over_the_serial_port_are_right(board: Any, operation: str) -> None:
    assert board.simulate_operation(operation, [MODULUS], N)["correct"]


def test_residues_over_the_serial_port_are_the_models(board: Any, top: BoardTop) -> None:
    program = _native.assemble("ntt s2, s0 n=64\npmodmul s1, s2, s2 n=64\nintt s3, s1 n=64\nstore s3 n=64 buf=1\n")
    answers = []
    for device in (board, open_device("model", top.preset).native):
        device.set_moduli(0, [MODULUS])
        device.load_twiddles(0, N)
        device.allocate(2)
        device.upload(0, [[(7 * i * i + 3) % MODULUS for i in range(N)]])
        device.run([*_native.assemble("load s0 n=64 buf=0\n"), *program])
        answers.append(device.download(1, N))
    assert answers[0] == answers[1]


def test_a_board_has_its_serial_port_alone(top: BoardTop) -> None:
    library, preset = build_board(top), top.preset
    with pytest.raises(DeviceError, match="does not open"):
        _native.Device.rtl("board:ulx3s", [], library, preset.port_memory, options="link=spi")
