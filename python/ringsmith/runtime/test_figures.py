# SPDX-License-Identifier: Apache-2.0
"""The published figures of the two chips and ours: by the model always, by the RTL in the slow tests."""

from __future__ import annotations

import functools

import pytest

from ringsmith.cli.measure import measure
from ringsmith.runtime.devices import OpenDevice, open_device

#: preset, operation, n, published cycles, most cycles allowed.
FIGURES = [
    ("cofhee", "ntt", 4096, 24_841, 24_640),
    ("cofhee", "ntt", 8192, 53_535, 53_312),
    ("cofhee", "intt", 4096, 29_468, 24_640),
    ("cofhee", "intt", 8192, 62_770, 53_312),
    ("cofhee", "pmodmul", 4096, 4_627, 4_160),
    ("cofhee", "pmodadd", 4096, 4_371, 4_160),
    ("cofhee", "polymul", 4096, 83_777, 78_200),
    ("cofhee", "tensor", 4096, 210_647, 191_000),
    ("cofhee", "tensor", 8192, 448_113, 407_500),
    ("bfv-client", "ntt", 4096, 12_303, 12_320),
    ("bfv-client", "zero-encrypt", 4096, 49_243, 45_300),
    ("bfv-client", "delta-m-decrypt", 4096, 30_773, 28_800),
]
IDS = [f"{preset}-{operation}-{n}" for preset, operation, n, _, _ in FIGURES]


@functools.cache
def device(kind: str, preset: str) -> OpenDevice:
    return open_device(kind, preset)


@pytest.mark.parametrize(("preset", "operation", "n", "published", "limit"), FIGURES, ids=IDS)
def test_the_model_predicts_what_must_be_reached(
    preset: str, operation: str, n: int, published: int, limit: int
) -> None:
    outcome = measure(device("model", preset), operation, n)
    assert outcome["correct"]
    assert outcome["cycles"] <= limit
    assert limit <= published + 20


@pytest.mark.hw
@pytest.mark.slow
@pytest.mark.parametrize(("preset", "operation", "n", "published", "limit"), FIGURES, ids=IDS)
def test_the_rtl_reaches_it(preset: str, operation: str, n: int, published: int, limit: int) -> None:
    outcome = measure(device("rtl", preset), operation, n)
    assert outcome["correct"]
    assert outcome["cycles"] <= limit
    assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01)


@pytest.mark.parametrize("butterflies", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("n", [1024, 4096, 16384])
def test_a_transform_takes_its_butterflies_and_one_drain(butterflies: int, n: int) -> None:
    overrides = {"butterflies": butterflies, "n_max": 16384, "word_bits": 60, "host": "axi4"}
    outcome = measure(open_device("model", "cofhee", overrides), "ntt", n)
    log2_n = n.bit_length() - 1
    assert outcome["correct"]
    assert outcome["cycles"] <= log2_n * n // (2 * butterflies) + 64


def test_a_ring_of_twice_the_memory_runs_in_parts() -> None:
    outcome = measure(device("model", "cofhee"), "tensor", 16384)
    whole = measure(device("model", "cofhee"), "tensor", 8192)
    assert outcome["correct"]
    # Both halves of each operand, and a table for each direction and half, but for one that is there.
    assert outcome["usage"]["send"]["polynomials"] == 2 * 4 + 3
    assert whole["usage"]["send"]["polynomials"] == 4 + 1
    assert outcome["cycles"] > 2 * whole["cycles"]


TABLE_II = ["ntt", "intt", "pmodadd", "pmodmul", "pmodsqr", "pmodsub", "cmodmul", "pmul", "memcpy", "memcpyr"]


@pytest.mark.parametrize("n", [8, 512, 16384])
def test_every_instruction_of_the_chip_works_at_every_degree(n: int) -> None:
    for mnemonic in TABLE_II:
        assert measure(device("model", "cofhee"), mnemonic, n)["correct"], mnemonic
