# SPDX-License-Identifier: Apache-2.0
"""From a preset to the bitstream of a board, with open tools: pins, clock, top, placement, packing."""

from ringsmith.hw.board.bitstream import Bitstream, write_bitstream
from ringsmith.hw.board.pinout import Pinout, load_pinout, pinout_names

__all__ = ["Bitstream", "Pinout", "load_pinout", "pinout_names", "write_bitstream"]
