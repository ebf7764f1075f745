# SPDX-License-Identifier: Apache-2.0
"""Known answers as the C++ header that a package's testbench includes: transforms from their definition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ringsmith.hw.vectors import LaneVector, lane_vector, prime_below
from ringsmith.presets import Preset

# The transform of a co-processor's test: large enough for every stage kind, small enough for its definition and for a
# serial link.
LARGEST_TEST = 256
# Words of TABLE_DATA.
_TABLE_WORDS = 5

HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Known answers, from the transform's definition.
#pragma once
#include <cstdint>
"""


def system(preset: Preset) -> str:
    """One transform for each lane of a co-processor, with what its tables take."""
    n = min(preset.n_max, LARGEST_TEST)
    bits = preset.lane_bits()
    moduli = [prime_below(b, preset.n_max, bits[:i].count(b)) for i, b in enumerate(bits)]
    lanes = [lane_vector(modulus, n, seed=i) for i, modulus in enumerate(moduli)]
    montgomery_bits = preset.n_max.bit_length()
    radix = 1
    if preset.reduction == "montgomery":
        radix = 1 << (montgomery_bits * -(-preset.word_bits // montgomery_bits))
    tables = [tuple(t * radix % v.modulus for t in v.table) for v in lanes]
    lines = [
        HEAD,
        f"constexpr uint64_t kLanes = {preset.lanes}, kLog2N = {n.bit_length() - 1};",
        f"constexpr uint64_t kBytes = {n * preset.word_bytes}, kBufferBytes = {preset.buffer_bytes};",
        "// Of a host buffer: bytes of a lane that lie together, and from them to the lane's next.",
        f"constexpr uint64_t kPieceBytes = {preset.piece_bytes}, kRowBytes = {preset.row_bytes};",
        f"constexpr uint64_t kSlot = {min(2, preset.slots - 1)};",
        _entries("kModulus", [v.modulus for v in lanes]),
        _entries("kReciprocal", [_reciprocal(preset, v, montgomery_bits) for v in lanes]),
        _entries("kReduction", [_reduction(preset, v, radix) for v in lanes]),
        _bytes("kTable", tables, preset.word_bytes),
        _bytes("kInput", [v.values for v in lanes], preset.word_bytes),
        _bytes("kTransform", [v.transform for v in lanes], preset.word_bytes),
    ]
    return "\n".join(lines) + "\n"


def words(values: Iterable[int]) -> str:
    """A C initialiser of 32-bit words."""
    return "{" + ", ".join(f"{value:#x}" for value in values) + "}"


def _reciprocal(preset: Preset, vector: LaneVector, montgomery_bits: int) -> int:
    if preset.reduction == "montgomery":
        return (vector.modulus - 1) >> montgomery_bits
    return int((1 << (vector.modulus.bit_length() + preset.word_bits + 2)) // vector.modulus)


def _reduction(preset: Preset, vector: LaneVector, radix: int) -> int:
    """Table 2: the bit length of the modulus (Barrett), or minus one in Montgomery form."""
    return -radix % vector.modulus if preset.reduction == "montgomery" else vector.modulus.bit_length()


def _entries(name: str, values: Sequence[int]) -> str:
    """A table's entry for each lane."""
    rows = ", ".join(words(v >> (32 * i) & 0xFFFFFFFF for i in range(_TABLE_WORDS)) for v in values)
    return f"const uint32_t {name}[kLanes][{_TABLE_WORDS}] = {{{rows}}};"


def _bytes(name: str, lanes: Sequence[Sequence[int]], size: int) -> str:
    rows = ",\n".join("{" + ",".join(str(b) for v in lane for b in v.to_bytes(size, "little")) + "}" for lane in lanes)
    return f"const uint8_t {name}[kLanes][kBytes] = {{{rows}}};"
