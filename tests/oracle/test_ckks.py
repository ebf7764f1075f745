# SPDX-License-Identifier: Apache-2.0
"""The CKKS oracle against itself, the stored known answers against the oracle, and planted errors."""

from fractions import Fraction
from pathlib import Path

import pytest
from tests.oracle import ckks

VECTORS = Path(__file__).parents[2] / "spec" / "vectors"
FILES = ["ckks.txt", "ckks-digits.txt"]


@pytest.mark.parametrize("name", FILES)
def test_stored_vectors_agree_with_the_oracle(name):
    verifier = ckks.Verifier((VECTORS / name).read_text())
    assert verifier.run() == []
    assert verifier.checked > 90


# First line to start with the key after the section's header, and what its first number is changed by.
PLANTED = [
    ("[add]", "out.c0.0", 1),
    ("[multiply]", "out.c2.1", 1),
    ("[relinearize]", "out.c1.1", 1),
    ("[rotate]", "out.c0.2", 1),
    ("[rescale]", "out.c0.0", 1),
    ("[encode:0]", "coefficients", 1),
    ("[decrypt]", "coefficients", 1),
    ("[keys]", "relin.0.b.0", 12345),
]


@pytest.mark.parametrize(("section", "key", "change"), PLANTED)
def test_one_changed_number_is_noticed(section, key, change):
    lines = (VECTORS / "ckks.txt").read_text().splitlines()
    start = lines.index(section)
    at = next(i for i in range(start, len(lines)) if lines[i].startswith(key + " = "))
    first, *rest = lines[at].removeprefix(key + " = ").split()
    lines[at] = f"{key} = {int(first) + change} {' '.join(rest)}"
    assert ckks.Verifier("\n".join(lines)).run() != []


def test_a_wrong_scale_is_noticed():
    lines = (VECTORS / "ckks.txt").read_text().splitlines()
    at = next(i for i in range(lines.index("[multiply]"), len(lines)) if lines[i].startswith("out.scale"))
    lines[at] = "out.scale = 0x1.8p+36"
    assert ckks.Verifier("\n".join(lines)).run() == ["multiply: scale"]


def test_encoding_inverts_decoding():
    values = [complex(0.5, -0.25), complex(-1, 0.125), complex(0.75, 1), complex(0, -1)]
    scale = Fraction(1 << 40)
    m = ckks.encode(values, 8, scale)
    assert all(abs(a - b) < 1e-11 for a, b in zip(ckks.decode(m, scale), values, strict=True))


def test_products_are_negacyclic_and_slotwise():
    scale = Fraction(1 << 30)
    a, b = [complex(1, 2), complex(3, -1)], [complex(-0.5, 1), complex(2, 0.25)]
    product = ckks.multiply(ckks.encode(a, 4, scale), ckks.encode(b, 4, scale))
    got = ckks.decode(product, scale * scale)
    assert all(abs(x - y * z) < 1e-7 for x, y, z in zip(got, a, b, strict=True))
    assert ckks.multiply([0, 1], [0, 1]) == [-1, 0]


def test_rotation_is_the_fifth_power():
    values = [complex(k, -k) for k in range(4)]
    scale = Fraction(1 << 40)
    m = ckks.automorphism(ckks.encode(values, 8, scale), 5)
    rotated = values[1:] + values[:1]
    assert all(abs(a - b) < 1e-9 for a, b in zip(ckks.decode(m, scale), rotated, strict=True))


def test_crt_is_centred():
    assert ckks.crt([96, 192], [97, 193]) == -1
    assert ckks.round_div(-7, 5) == -1
    assert ckks.round_div(8, 5) == 2
