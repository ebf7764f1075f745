# SPDX-License-Identifier: Apache-2.0
"""SEAL's uniform polynomials from a seed: BLAKE2Xb or SHAKE256 in blocks of 4096 bytes, words reduced by rejection.

Python's BLAKE2b has no tree of depth 0, which the leaves of BLAKE2Xb are, so their one compression stands here, for all
leaves at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from ringsmith.interchange.cursor import Words

#: Bytes of a seed, and the generators by their code in SEAL's bytes.
SEED = 64
GENERATORS = {1: "BLAKE2Xb", 2: "SHAKE256"}

#: Bytes that a generator makes at once.
_BLOCK = 4096
_LEAF = 64
_LEAVES = _BLOCK // _LEAF
#: BLAKE2b's initial state: fractions of the square roots of the first eight primes (RFC 7693).
_INITIAL = (
    0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
    0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
)  # fmt: skip
#: The order of message words in each round; rounds 10 and 11 are the first two again.
_ORDERS = (
    "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
    "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
    "0123456789abcdef", "ea489fd61c02b753",
)  # fmt: skip
#: The words that each of a round's eight steps mixes: columns, then diagonals.
_STEPS = ("048c", "159d", "26ae", "37bf", "05af", "16bc", "278d", "349e")


class Generator:
    """The words of a seed, one after the other."""

    def __init__(self, kind: int, seed: bytes) -> None:
        """Start at the first word; `kind` is a code of `GENERATORS`."""
        self._blocks = _blake_blocks if kind == 1 else _shake_blocks
        self._seed = seed
        self._counter = 0
        self._rest = np.zeros(0, dtype=np.uint64)

    def words(self, count: int) -> Words:
        """Return the next words."""
        blocks = -(-8 * (count - len(self._rest)) // _BLOCK)
        if blocks > 0:
            self._rest = np.concatenate([self._rest, self._blocks(self._seed, self._counter, blocks)])
            self._counter += blocks
        found, self._rest = self._rest[:count], self._rest[count:]
        return found


def uniform(kind: int, seed: bytes, moduli: Sequence[int], n: int) -> Words:
    """Return the uniform polynomial of a seed, of shape (primes, n).

    All words are drawn first. One at or above the largest multiple of its modulus that SEAL takes is drawn again, in
    order.
    """
    generator = Generator(kind, seed)
    drawn = generator.words(len(moduli) * n).reshape(len(moduli), n).copy()
    top = (1 << 64) - 1
    for row, modulus in zip(drawn, moduli, strict=True):
        bound = top - top % modulus - 1
        for place in np.flatnonzero(row >= np.uint64(bound)):
            while row[place] >= bound:
                row[place] = generator.words(1)[0]
        row %= np.uint64(modulus)
    return drawn


def _shake_blocks(seed: bytes, first: int, count: int) -> Words:
    blocks = (hashlib.shake_256(seed + i.to_bytes(8, "little")).digest(_BLOCK) for i in range(first, first + count))
    return np.frombuffer(b"".join(blocks), dtype="<u8")


def _blake_blocks(seed: bytes, first: int, count: int) -> Words:
    """Return blocks of BLAKE2Xb under the seed as key, of the counter as message."""
    length = _BLOCK << 32  # beside the node's offset
    roots = b"".join(
        hashlib.blake2b(i.to_bytes(8, "little"), key=seed, node_offset=length).digest()
        for i in range(first, first + count)
    )
    messages = np.repeat(np.frombuffer(roots, dtype="<u8").reshape(count, 8), _LEAVES, axis=0)
    offsets = np.tile(np.arange(_LEAVES, dtype=np.uint64) | np.uint64(length), count)
    # Digest of 64 bytes, no key, fanout and depth 0, leaves of 64 bytes; the offset; node depth 0, inner length 64.
    parameters = (64 | _LEAF << 32, offsets, _LEAF << 8, 0, 0, 0, 0, 0)
    return leaves(messages, parameters).reshape(-1)


def leaves(messages: Words, parameters: Sequence[int | Words]) -> Words:
    """Return BLAKE2b of messages of 64 bytes, of shape (messages, 8), each as the first and last block."""
    lanes = len(messages)
    start = [
        np.uint64(initial) ^ np.asarray(word, dtype=np.uint64)
        for initial, word in zip(_INITIAL, parameters, strict=True)
    ]
    state = [np.broadcast_to(word, lanes).copy() for word in start]
    state += [np.full(lanes, word, dtype=np.uint64) for word in _INITIAL]
    state[12] ^= np.uint64(_LEAF)  # bytes so far
    state[14] ^= np.uint64((1 << 64) - 1)  # the last block
    words = [*messages.T.copy(), *np.zeros((8, lanes), dtype=np.uint64)]
    for order in _ORDERS:
        for step, places in enumerate(_STEPS):
            first, second = (words[int(order[2 * step + i], 16)] for i in (0, 1))
            _mix(state, [int(place, 16) for place in places], first, second)
    return np.stack([begun ^ state[i] ^ state[i + 8] for i, begun in enumerate(start)], axis=1)


def _mix(state: list[Words], places: Sequence[int], first: Words, second: Words) -> None:
    a, b, c, d = places
    for word, (right, left) in ((first, (32, 24)), (second, (16, 63))):
        state[a] = state[a] + state[b] + word
        state[d] = _turned(state[d] ^ state[a], right)
        state[c] = state[c] + state[d]
        state[b] = _turned(state[b] ^ state[c], left)


def _turned(words: Words, bits: int) -> Words:
    return (words >> np.uint64(bits)) | (words << np.uint64(64 - bits))
