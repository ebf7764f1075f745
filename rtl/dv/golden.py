# SPDX-License-Identifier: Apache-2.0
"""Golden model of the hardware's transform in constant geometry: data, schedule, banks.

The schedule follows Pease's constant geometry: forward stage s reads positions (k, k + n/2) and writes
(2k, 2k + 1); the inverse mirrors it. Words hold P coefficients; a slot has two banks, and the bank of a
word is the parity of its address, which separates both pairs at every n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


def bank(word: int) -> int:
    """Bank of a word address: its parity."""
    return word.bit_count() & 1


@dataclass(frozen=True)
class Step:
    """One issue cycle of a transform: the two words read, the two written, the twiddle word."""

    stage: int
    reads: tuple[int, int]
    writes: tuple[int, int]
    twiddle_word: int


def mirror(index: int) -> int:
    """Index of -T_inv[index] in the forward table: mirrored inside its power-of-two block."""
    return index ^ ((1 << (index.bit_length() - 1)) - 1) if index else 0


def steps(n: int, p: int, *, inverse: bool, cyclic: bool = False) -> Iterator[Step]:
    """Yield the issue cycles of a transform in order."""
    half_words, log2n = n // (2 * p), n.bit_length() - 1
    for stage in range(log2n):
        m = n >> (stage + 1) if inverse else 1 << stage
        for j in range(half_words):
            far, near = (j, j + half_words), (2 * j, 2 * j + 1)
            index = (j * p) % m + (0 if cyclic else m)
            word = index // p
            yield Step(
                stage,
                near if inverse else far,
                far if inverse else near,
                mirror(word) if inverse else word,
            )


def twiddle_lanes(word: list[int], m: int, word_index: int, *, inverse: bool, cyclic: bool) -> list[int]:
    """Replicate and reverse one table word for the P butterflies of a stage with m blocks.

    `word_index` is the unmirrored word number; returns the element numbers resolved to values.
    """
    p = len(word)
    out = []
    for lane in range(p):
        base = lane & (m - 1) if m < p else lane
        if not cyclic:
            base |= m if m < p else 0
        if inverse:
            base = mirror(base) if m < p or word_index == 0 else p - 1 - lane
        out.append(word[base])
    return out


def transform(
    data: list[int], table: list[int], modulus: int, p: int, *, inverse: bool = False, cyclic: bool = False
) -> list[int]:
    """Run the schedule word by word, as the hardware does; checks the bank rule at every step."""
    n, inv2 = len(data), (modulus + 1) // 2
    source = [data[i : i + p] for i in range(0, n, p)]
    result: list[list[int]] = [[] for _ in source]
    stage = 0
    for step in steps(n, p, inverse=inverse, cyclic=cyclic):
        if step.stage != stage:
            source, result, stage = result, [[] for _ in source], step.stage
        assert bank(step.reads[0]) != bank(step.reads[1])
        assert bank(step.writes[0]) != bank(step.writes[1])
        m = n >> (stage + 1) if inverse else 1 << stage
        plain = mirror(step.twiddle_word) if inverse else step.twiddle_word
        word = table[step.twiddle_word * p : step.twiddle_word * p + p]
        twiddles = twiddle_lanes(word, m, plain, inverse=inverse, cyclic=cyclic)
        low, high = source[step.reads[0]], source[step.reads[1]]
        if inverse:
            flat = low + high
            first, second = [], []
            for lane in range(p):
                u, v = flat[2 * lane], flat[2 * lane + 1]
                first.append((u + v) * inv2 % modulus)
                # The table holds -1/twiddle, except entry 0 of the cyclic form, which is 1.
                index = (min(step.reads) // 2 * p + lane) % m
                diff = u - v if cyclic and index == 0 else v - u
                second.append(diff * inv2 * twiddles[lane] % modulus)
            result[step.writes[0]], result[step.writes[1]] = first, second
        else:
            flat = []
            for lane in range(p):
                v = high[lane] * twiddles[lane] % modulus
                flat += [(low[lane] + v) % modulus, (low[lane] - v) % modulus]
            result[step.writes[0]], result[step.writes[1]] = flat[:p], flat[p:]
    return [x for word_ in result for x in word_]


def stage_distance(n: int, p: int, *, inverse: bool) -> int:
    """Smallest number of cycles between issuing a word's producer and reading it in the next stage."""
    half_words = n // (2 * p)
    seq = [s for s in steps(n, p, inverse=inverse) if s.stage < 2]
    issued = {w: t for t, s in enumerate(seq[:half_words]) for w in s.writes}
    return min(half_words + t - issued[w] for t, s in enumerate(seq[half_words:]) for w in s.reads)
