# SPDX-License-Identifier: Apache-2.0
"""Polynomial arithmetic on model and RTL against the schoolbook, for both reductions, in both rings.

Operands go in as a user's do; nothing here knows how a device computes. On a Montgomery build a product lacks R, which
one factor carries (docs/hardware.md); with Barrett R is 1.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from ringsmith import _native
from ringsmith.runtime.devices import open_device

REDUCTIONS = ["barrett", "montgomery"]
KINDS = ["model", pytest.param("rtl", marks=pytest.mark.hw)]
#: Builds that differ in what Montgomery and the cyclic form depend on: words, tiles, butterflies, tables.
KNOBS: list[dict[str, Any]] = [
    {"word_bits": 14, "butterflies": 1, "multiplier": "dsp18x18", "n_max": 64, "prime_bits": [14, 13]},
    {"word_bits": 30, "butterflies": 4, "multiplier": "asic", "n_max": 64, "prime_bits": [30, 20]},
    {"word_bits": 64, "butterflies": 1, "multiplier": "dsp26x17", "n_max": 32, "twiddles": "slot"},
    {"word_bits": 128, "butterflies": 2, "multiplier": "asic", "n_max": 32, "host": "serial", "prime_bits": [128, 65]},
]  # fmt: skip
#: Behind the buffers of measured instructions.
FIRST = 16

Rows = list[list[int]]


def schoolbook(a: list[int], b: list[int], modulus: int, sign: int) -> list[int]:
    """a b modulo x^n - sign."""
    n, out = len(a), [0] * len(a)
    for (i, x), (j, y) in product(enumerate(a), enumerate(b)):
        out[(i + j) % n] += x * y if i + j < n else sign * x * y
    return [value % modulus for value in out]


def lanes(function: Any, *rows: Rows, moduli: list[int]) -> Rows:
    """A function of one lane's polynomials and modulus, on all lanes."""
    return [function(*operands, m) for *operands, m in zip(*rows, moduli, strict=True)]


def scaled(rows: Rows, factors: list[int], moduli: list[int]) -> Rows:
    return [[x * f % m for x in row] for row, f, m in zip(rows, factors, moduli, strict=True)]


def operands(moduli: list[int], n: int, count: int) -> list[Rows]:
    """Random residues with the largest, zero and one among them."""
    source = random.Random(n)
    drawn = [[[source.randrange(m) for _ in range(n)] for m in moduli] for _ in range(count)]
    for rows in drawn:
        for row, m in zip(rows, moduli, strict=True):
            row[:3] = source.sample([m - 1, 0, 1], 3)
    return drawn


def check_ring(native: _native.Device, index: int, moduli: list[int], n: int, *, cyclic: int) -> None:
    """Transforms, PMODMUL, PMODSQR, PMAC, the addend of INTT and CMODMUL at one degree in one ring."""
    info = native.info()
    w = info["montgomery_bits"]
    radix = 1 << w * -(-info["word_bits"] // w) if w else 1
    a, b, c = operands(moduli, n, 3)
    for place, rows in enumerate((a, scaled(b, [radix] * len(moduli), moduli), c)):
        native.upload(FIRST + place, rows)
    native.set_constant(0, [radix * radix % m for m in moduli])
    native.load_twiddles(index, n)
    ring = f"n={n} mod={index} cyclic={cyclic}"
    plain = f"n={n} mod={index}"
    text = "\n".join(f"load s{2 + i} n={n} buf={FIRST + i}\nntt s{2 + i}, s{2 + i} {ring}" for i in range(3))
    steps = [
        f"\npmodmul s5, s2, s3 {plain}\nintt s5, s5, zero {ring}",
        f"\npmac s5, s2, s3, s4 {plain}\nintt s5, s5, zero {ring}",
        f"\npmodsqr s5, s2 {plain}\ncmodmul s6, s5 {plain} const=0\nintt s5, s6, zero {ring}",
        f"\nload s6 n={n} buf={FIRST + 2}\npmodmul s5, s2, s3 {plain}\nintt s5, s5, s6 {ring}",
        f"\nintt s5, s2, zero {ring}",
    ]
    for place, step in enumerate(steps):
        text += f"{step}\nstore s5 n={n} buf={FIRST + 10 + place}"
    native.run(_native.assemble(text))
    sign = 1 if cyclic else -1
    ab = lanes(lambda x, y, m: schoolbook(x, y, m, sign), a, b, moduli=moduli)
    sums = lanes(lambda x, y, m: [(u + v) % m for u, v in zip(x, y, strict=True)], ab, c, moduli=moduli)
    squares = lanes(lambda x, m: schoolbook(x, x, m, sign), a, moduli=moduli)
    for place, (what, wanted) in enumerate(
        [("pmodmul", ab), ("pmac", sums), ("pmodsqr", squares), ("addend", sums), ("round trip", a)]
    ):
        assert native.download(FIRST + 10 + place, n) == wanted, f"{what} {ring}, moduli {moduli}"


def check_wide(native: _native.Device, n: int) -> None:
    """The two halves of PMUL are those of the product of whole words, on every reduction."""
    bits, source = native.info()["word_bits"], random.Random(5)
    x, y = ([[source.getrandbits(bits) for _ in range(n)] for _ in range(native.info()["lanes"])] for _ in range(2))
    x[0][0] = y[0][0] = (1 << bits) - 1
    native.upload(FIRST, x)
    native.upload(FIRST + 1, y)
    text = f"load s2 n={n} buf={FIRST}\nload s3 n={n} buf={FIRST + 1}\npmul s0, s1, s2, s3 n={n}"
    native.run(_native.assemble(f"{text}\nstore s0 n={n} buf={FIRST + 2}\nstore s1 n={n} buf={FIRST + 3}"))
    low, high = native.download(FIRST + 2, n), native.download(FIRST + 3, n)
    for row in range(len(x)):
        found = [u | v << bits for u, v in zip(low[row], high[row], strict=True)]
        assert found == [u * v for u, v in zip(x[row], y[row], strict=True)]


def check_build(kind: str, overrides: dict[str, Any]) -> None:
    """Both rings, the smallest and the largest degree, the largest moduli and smaller ones."""
    device = open_device(kind, "tiny", overrides)
    native, preset = device.native, device.preset
    assert native.allocate(20) == FIRST
    least, bits = max(8, 4 * preset.butterflies), preset.lane_bits()
    smaller = [max(b - 1, (2 * preset.n_max).bit_length() + 2) for b in bits]
    for index, widths in enumerate((bits, smaller)):
        moduli = _native.default_moduli(list(widths), preset.n_max, preset.n_max)
        native.set_moduli(index, moduli)
        for n, cyclic in product((least, preset.n_max), (0, 1)):
            check_ring(native, index, moduli, n, cyclic=cyclic)
    check_wide(native, least)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_both_rings_on_both_reductions(kind: str, reduction: str) -> None:
    check_build(kind, {"reduction": reduction})


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("knobs", KNOBS, ids=lambda knobs: f"W{knobs['word_bits']}")
@pytest.mark.parametrize("kind", ["model", pytest.param("rtl", marks=[pytest.mark.hw, pytest.mark.slow])])
def test_both_rings_on_other_builds(kind: str, knobs: dict[str, Any], reduction: str) -> None:
    check_build(kind, knobs | {"reduction": reduction})
