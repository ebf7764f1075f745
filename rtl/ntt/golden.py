# SPDX-License-Identifier: Apache-2.0
"""Golden model of the constant-geometry transform: data, schedule, banks.

The schedule follows Pease's constant geometry: forward stage s reads positions (k, k + n/2) and writes
(2k, 2k + 1); the inverse mirrors it. Words hold P coefficients; a slot has two banks, and the bank of a
word is the parity of its address, which separates both pairs at every n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


def bit_reverse(value: int, bits: int) -> int:
    """Reverse the low `bits` bits of `value`."""
    result = 0
    for _ in range(bits):
        result = (result << 1) | (value & 1)
        value >>= 1
    return result


def is_prime(candidate: int) -> bool:
    """Miller-Rabin with fixed bases; enough for test moduli."""
    if candidate < 2:
        return False
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    for base in bases:
        if candidate % base == 0:
            return candidate == base
    odd, twos = candidate - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in bases:
        x = pow(base, odd, candidate)
        if x in (1, candidate - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % candidate
            if x == candidate - 1:
                break
        else:
            return False
    return True


def prime_below(bits: int, step: int) -> int:
    """Largest prime below 2^bits that is 1 modulo `step`; ValueError when there is none."""
    candidate = ((1 << bits) - 2) // step * step + 1
    while not is_prime(candidate):
        candidate -= step
        if candidate <= 1:
            raise ValueError(f"no prime below 2^{bits} is 1 modulo {step}")
    return candidate


def prime_above(bits: int, step: int) -> int:
    """Smallest prime above 2^(bits - 1) that is 1 modulo `step`."""
    candidate = (1 << (bits - 1)) // step * step + 1
    while candidate <= 1 << (bits - 1) or not is_prime(candidate):
        candidate += step
    return candidate


def find_psi(modulus: int, n: int) -> int:
    """Return a primitive 2n-th root of unity (n a power of two)."""
    for base in range(2, 10_000):
        root = pow(base, (modulus - 1) // (2 * n), modulus)
        if pow(root, n, modulus) == modulus - 1:
            return root
    raise ValueError(f"no primitive {2 * n}-th root modulo {modulus}")


def twiddle_table(modulus: int, psi: int, n: int) -> list[int]:
    """T[j] = psi^brv(j): the one table of a transform size."""
    bits = n.bit_length() - 1
    return [pow(psi, bit_reverse(j, bits), modulus) for j in range(n)]


def forward_in_place(data: list[int], table: list[int], modulus: int, *, cyclic: bool = False) -> list[int]:
    """Textbook in-place Cooley-Tukey, natural order in, bit-reversed order out."""
    values, n, m = list(data), len(data), 1
    while m < n:
        half = n // (2 * m)
        for block in range(m):
            twiddle = table[block if cyclic else m + block]
            for j in range(2 * block * half, (2 * block + 1) * half):
                u, v = values[j], values[j + half] * twiddle % modulus
                values[j], values[j + half] = (u + v) % modulus, (u - v) % modulus
        m *= 2
    return values


def inverse_in_place(data: list[int], table: list[int], modulus: int, *, cyclic: bool = False) -> list[int]:
    """Textbook in-place Gentleman-Sande with the inverse twiddles, 1/n folded in as halvings."""
    values, n = list(data), len(data)
    inv2, m = (modulus + 1) // 2, n // 2
    while m >= 1:
        half = n // (2 * m)
        for block in range(m):
            twiddle = pow(table[block if cyclic else m + block], -1, modulus)
            for j in range(2 * block * half, (2 * block + 1) * half):
                u, v = values[j], values[j + half]
                values[j] = (u + v) * inv2 % modulus
                values[j + half] = (u - v) * inv2 * twiddle % modulus
        m //= 2
    return values


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
