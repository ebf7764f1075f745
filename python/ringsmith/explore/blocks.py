# SPDX-License-Identifier: Apache-2.0
"""DSP and memory blocks of a build, counted as the synthesis flow maps them."""

from __future__ import annotations

import math
from functools import cache

from ringsmith.presets import Preset

#: Widths of a tile's operands by the way products are cut.
_TILES = {"dsp26x17": (26, 17), "dsp18x18": (18, 18)}
#: Products with fewer bits than this stay in LUTs.
_LEAST_PRODUCT = 9
#: A RAMB18, half a block: from 512 words of 36 bits to 2048 of 9. From 4096 words on, whole blocks of 9 bits.
_HALF_BITS, _SHALLOWEST, _DEEPEST = 18432, 512, 4096


def dsp_blocks(preset: Preset) -> int:
    """Return the DSP blocks of all butterflies: the product, and a short one for each step of Montgomery reduction."""
    low = int(math.log2(preset.n_max)) + 1
    steps = -(-preset.word_bits // low)
    style = preset.multiplier
    each = _tiles(preset.word_bits, preset.word_bits, style) + steps * _tiles(preset.word_bits - low, low, style)
    return preset.lanes * preset.butterflies * each


def _tiles(a: int, b: int, style: str) -> int:
    wide, narrow = _TILES[style]
    pairs = ((x, y) for x in _cut(a, wide) for y in _cut(b, narrow))
    return sum(x > 1 and y > 1 and x + y >= _LEAST_PRODUCT for x, y in pairs)


def _cut(bits: int, tile: int) -> list[int]:
    whole, rest = divmod(bits, tile)
    return [tile] * whole + ([rest] if rest else [])


def memory_blocks(preset: Preset, *, uram: bool) -> tuple[float, int]:
    """Return the RAMB36 and the URAM of slots and twiddle tables."""
    width = preset.butterflies * preset.word_bits
    words = preset.n_max // preset.butterflies
    kinds = [
        (2 * preset.dual_port_slots, words // 2, True),
        (2 * preset.single_port_slots, words // 2, False),
        (1, words * preset.twiddle_tables, False),
    ]
    bram, ultra = 0.0, 0
    for count, depth, dual in kinds:
        one = memory(width, depth, dual, uram)
        bram, ultra = bram + count * one[0], ultra + count * one[1]
    return preset.lanes * bram, preset.lanes * ultra


@cache
def memory(width: int, depth: int, dual: bool, uram: bool) -> tuple[float, int]:
    """Return the RAMB36 and the URAM of one memory."""
    rows = max(depth, _SHALLOWEST)
    if rows < _DEEPEST:
        return 0.5 * -(-width * rows // _HALF_BITS), 0
    return -(-width * _DEEPEST // (2 * _HALF_BITS)) * -(-rows // _DEEPEST), 0
