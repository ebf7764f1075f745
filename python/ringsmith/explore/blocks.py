# SPDX-License-Identifier: Apache-2.0
"""DSP and memory blocks of a build, counted as the synthesis flow maps them."""

from __future__ import annotations

import math
from functools import cache

from ringsmith.presets import Preset

#: Widths of a tile's operands by the way products are cut.
_TILES = {"dsp26x17": (26, 17), "dsp18x18": (18, 18)}
#: Products with fewer bits than this stay in LUTs; where the primitive is instantiated (dsp18x18) none does.
_LEAST_PRODUCT = 10
#: Bits of the words that are multiplied by a chain of two multipliers and rows in LUTs (rs_mul_strip).
_STRIP = range(27, 31)
#: Bits of the words that are multiplied by five chains of two multipliers (rs_mul_cross).
_CROSS, _CROSS_BLOCKS = range(54, 61), 10
#: Bits by which sums of a base conversion may exceed a word (rs_rns_pkg).
_GUARD = 4
#: Bits of the adder in a DSP48.
_DSP_ADDER = 48
#: A RAMB18, half a block: from 512 words of 36 bits to 2048 of 9. From 4096 words on, whole blocks of 9 bits.
_HALF_BITS, _SHALLOWEST, _DEEPEST = 18432, 512, 4096
#: A block of UltraRAM: words of eight bytes of 9 bits, written one by one; the fewest words of a memory that goes in.
_ULTRA_WORDS, _ULTRA_BYTES, _BYTE_BITS, _ULTRA_LEAST = 4096, 8, 9, 2048
#: Words of an ECP5's block of 18 kbit by the bits of each; half of what a board's `bram36` counts.
_EBR = ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1))


def dsp_blocks(preset: Preset) -> int:
    """Return the DSP blocks of all multipliers: the product, and a short one for each step of Montgomery reduction.

    Steps in LUTs have none; a unit for pointwise instructions has as many multipliers as the butterflies.
    """
    low = _montgomery_bits(preset.n_max)
    steps, style = -(-preset.word_bits // low), preset.multiplier
    short = 0 if preset.montgomery_steps == "luts" else _tiles(preset.word_bits - low, low, style)
    multipliers = preset.lanes * preset.butterflies * (2 if preset.pointwise_unit else 1)
    return multipliers * (_product(preset.word_bits, style) + steps * short)


def conversion_dsp(preset: Preset) -> int:
    """Return the DSP blocks of a core's unit for base conversion, none if it has none.

    Each lane has a column of accumulating tiles for each coefficient at a time, and steps of reduction of its sums; the
    lanes have in common a multiplier by factors and the sum of a quotient for each coefficient at a time.
    """
    rate, bits, low, style = preset.rns_rate, preset.word_bits, _montgomery_bits(preset.n_max), preset.multiplier
    if not rate:
        return 0
    # The corner of a strip's four tiles is in LUTs.
    column = _sums(bits, bits, style) - (style == "dsp26x17" and _strip_rows(bits) > 0)
    short = _tiles(bits - low, low, style)
    factor = _product(bits, style) + -(-bits // low) * short
    steps = -(-(bits + _GUARD) // low) * short
    quotient = _sums(53 if bits > 53 else 52, bits, style)
    return preset.lanes * (rate * column + steps) + rate * (factor + quotient)


@cache
def adders_and_registers(word_bits: int, n_max: int) -> tuple[int, int]:
    """Return the bits of adders and of registers in LUTs and flip-flops around a butterfly's multipliers (dsp26x17)."""
    low = _montgomery_bits(n_max)
    rows = _strip_rows(word_bits)
    adders, registers = (rows * (word_bits + rows), _TILES["dsp26x17"][1]) if rows else _tree(word_bits)
    for step in range(1, -(-word_bits // low) + 1):
        bits = max(2 * word_bits - step * low, word_bits) + 1
        if _one_tile(word_bits, low):
            near = bits if bits <= _DSP_ADDER else _DSP_ADDER - 1
            adders, registers = adders + 2 * (bits - near), registers + near
        else:
            # The sum of two tiles, what is left in three registers beside them, and the subtraction.
            adders, registers = adders + bits, registers + word_bits + 3 * bits
    return adders, registers


def _tree(word_bits: int) -> tuple[int, int]:
    """Return the bits of adders and of registers in the tree behind the tiles of a product."""
    wide, narrow = _TILES["dsp26x17"]
    rows = [(low, min(low + narrow, word_bits) + word_bits) for low in range(0, word_bits, narrow)]
    adders = registers = 0
    if word_bits > wide:
        # Tiles that overlap in a row.
        adders, registers = sum(high - low - wide for low, high in rows), sum(high - low for low, high in rows)
    while len(rows) > 1:
        adders += sum(high - low for low, high in rows[1::2])
        rows = [(pair[0][0], pair[-1][1]) for pair in (rows[i : i + 2] for i in range(0, len(rows), 2))]
        registers += sum(high - low for low, high in rows)
    return adders, registers


def _montgomery_bits(n_max: int) -> int:
    """Return the bits that a step of Montgomery reduction takes off: primes are 1 modulo 2n."""
    return int(math.log2(n_max)) + 1


def _strip_rows(word_bits: int) -> int:
    """Return the rows of bits that a product of words adds in LUTs beside its chain of multipliers; 0: it has tiles."""
    return word_bits - _TILES["dsp26x17"][0] if word_bits in _STRIP else 0


def _one_tile(word_bits: int, low: int) -> bool:
    """Return whether a step of reduction that takes off `low` bits is one multiplier and the adder in its DSP48."""
    wide, narrow = _TILES["dsp26x17"]
    return word_bits - low <= wide and low <= narrow


def _product(word_bits: int, style: str) -> int:
    if style == "dsp26x17" and _strip_rows(word_bits):
        return 2
    if style == "dsp26x17" and word_bits in _CROSS:
        return _CROSS_BLOCKS
    return _tiles(word_bits, word_bits, style)


def _tiles(a: int, b: int, style: str) -> int:
    wide, narrow = _TILES[style]
    pairs = [(x, y) for x in _cut(a, wide) for y in _cut(b, narrow)]
    if style == "dsp18x18":
        return len(pairs)
    return sum(x > 1 and y > 1 and x + y >= _LEAST_PRODUCT for x, y in pairs)


def _sums(a: int, b: int, style: str) -> int:
    """Return the tiles of a product that is added to a sum in the DSP block: none of them is in LUTs."""
    wide, narrow = _TILES[style]
    return len(_cut(a, wide)) * len(_cut(b, narrow))


def _cut(bits: int, tile: int) -> list[int]:
    whole, rest = divmod(bits, tile)
    return [tile] * whole + ([rest] if rest else [])


def memory_blocks(preset: Preset, *, uram: bool) -> tuple[float, int]:
    """Return the RAMB36 and the URAM of slots and twiddle tables; `uram`: the device has UltraRAM."""
    width = preset.butterflies * preset.word_bits
    words = preset.n_max // preset.butterflies
    # With `twiddles = "slot"` the table is in the place of a slot.
    single = preset.single_port_slots - (preset.twiddles == "slot")
    kinds = [
        (2 * preset.dual_port_slots, words // 2, True),
        (2 * single, words // 2, False),
        (1, words * preset.twiddle_tables, False),
    ]
    if preset.multiplier == "dsp18x18":
        return preset.lanes * sum(count * _ebr(width, depth) for count, depth, _ in kinds), 0
    bram, ultra = 0.0, 0
    for count, depth, dual in kinds:
        one = memory(width, depth, dual, uram)
        bram, ultra = bram + count * one[0], ultra + count * one[1]
    return preset.lanes * bram, preset.lanes * ultra


def queue_blocks(preset: Preset) -> float:
    """Return the RAMB36 of the queue of instructions: it is in LUTs but on an ECP5."""
    return 0.5 if preset.multiplier == "dsp18x18" else 0.0


def _ebr(width: int, depth: int) -> float:
    """Return the blocks of 36 kbit of one memory of an ECP5, in the shape that needs fewest."""
    return 0.5 * min(-(-width // bits) * -(-depth // words) for words, bits in _EBR)


@cache
def memory(width: int, depth: int, dual: bool, uram: bool) -> tuple[float, int]:
    """Return the RAMB36 and the URAM of one memory: deep ones with a single port are UltraRAM where there is some."""
    if uram and not dual and depth >= _ULTRA_LEAST:
        # Words of a deeper memory stand side by side.
        return 0.0, -(-(-(-width // _BYTE_BITS) * -(-depth // _ULTRA_WORDS)) // _ULTRA_BYTES)
    rows = max(depth, _SHALLOWEST)
    if rows < _DEEPEST:
        return 0.5 * -(-width * rows // _HALF_BITS), 0
    return -(-width * _DEEPEST // (2 * _HALF_BITS)) * -(-rows // _DEEPEST), 0
