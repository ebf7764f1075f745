# SPDX-License-Identifier: Apache-2.0
"""Boards of a search: those whose family resources are fitted for, with the port that a program reaches them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ringsmith.errors import InputError
from ringsmith.explore.resources import families
from ringsmith.explore.space import common_base
from ringsmith.hw.board.pinout import load_pinout, pinout_names
from ringsmith.hw.synth import Board, load_board
from ringsmith.hw.synth.boards import board_names
from ringsmith.runtime.ports import LINE_BITS
from ringsmith.specs import shown


def searched_names() -> list[str]:
    """Names of the boards that a search can be for, sorted."""
    fitted = [name for name in board_names() if load_board(name).family in families()]
    pinned = [name for name in pinout_names() if load_pinout(name).device in fitted]
    return sorted([*(name for name in fitted if not _is_bare(name)), *pinned])


def searched_board(name: str) -> Board:
    """Return the board of a search; of one that is known by its pins the device, at the board's clock and serial port.

    Raises:
        InputError: no such board, one of a family that resources are not fitted for, or a device without a board.
    """
    if name in pinout_names():
        pins = load_pinout(name)
        return replace(
            load_board(pins.device), name=name, clock_mhz=pins.core_mhz,
            clock_source="of the board's PLL; `ringsmith bitstream` says whether a design meets it",
            memory_gb_s=pins.baud / LINE_BITS / 1e9,
        )  # fmt: skip
    if name not in board_names():
        raise InputError(f"no board {shown(name)}; boards: {', '.join(searched_names())}")
    board = load_board(name)
    if board.family not in families():
        raise InputError(
            f"--board {name}: resources are fitted to syntheses for {', '.join(families())}, and mean nothing on "
            f"{board.family}; there is {', '.join(searched_names())}; one design there: ringsmith synth NAME --board "
            f"{name}"
        )
    if _is_bare(name):
        raise InputError(f"--board {name} is a device without a port; there is {', '.join(searched_names())}")
    return board


def _is_bare(name: str) -> bool:
    """Return whether it is a device alone, of a family whose designs need a board's serial port."""
    return common_base(load_board(name).family).host == "serial"


def port_ms(board: Board, usage: Mapping[str, Any]) -> float:
    """Return the time on a board's serial port, which the device's cycles do not have; frames' headers apart."""
    if common_base(board.family).host != "serial":
        return 0.0
    return float(usage["send"]["bytes"] + usage["receive"]["bytes"]) / board.memory_gb_s / 1e6
