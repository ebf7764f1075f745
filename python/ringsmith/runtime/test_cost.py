# SPDX-License-Identifier: Apache-2.0
"""What is told before keys are made, against what keys, messages and the evaluator then take."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.runtime import cost as module
from ringsmith.runtime.cost import amount
from ringsmith.runtime.test_refreshes import small

MATRIX = np.random.default_rng(0).uniform(-0.1, 0.1, size=(16, 16))
OPTIONS: list[dict[str, Any]] = [
    {"scheme": "ckks", "encryption": "secret", "tolerance": 1e-3},
    {"scheme": "ckks", "encryption": "public", "tolerance": 1e-3},
    {"scheme": "bfv", "encryption": "public"},
]


def program_of(options: dict[str, Any]) -> rs.Program:
    """Return a product with a matrix of a square."""
    exact = options["scheme"] == "bfv"
    matrix = np.round(MATRIX * 50).astype(np.int64) if exact else MATRIX
    declared = rs.Encrypted(16, bound=3 if exact else 1.0)
    return rs.kernel(x=declared, **options)(lambda x: matrix @ (x * x)).compile()


@pytest.mark.parametrize("options", OPTIONS)
def test_bytes_are_those_of_the_messages(options: dict[str, Any]) -> None:
    program = program_of(options)
    cost = program.cost()
    client = program.client()
    sent = client.encrypt(x=np.ones(16, dtype=np.int64))
    answer = program.server(client.evaluation_keys, threads=1).evaluate(sent)
    for told, found in (
        (cost.input_bytes, sent.nbytes),
        (cost.result_bytes, answer.nbytes),
        (cost.key_bytes, client.evaluation_keys.nbytes),
    ):
        assert found == pytest.approx(told, rel=0.02)
    assert (cost.n, cost.moduli_bits) == (program.params.n, program.params.moduli_bits)
    assert cost.key_memory > cost.key_bytes > 0
    assert cost.total_memory == cost.key_memory + cost.memory + cost.plaintext_memory
    # The 16 diagonals of the matrix at most, each of at most all primes.
    primes = len(program.params.moduli) + len(program.params.special)
    assert 0 < cost.plaintext_memory == cost.plaintext_bytes <= 16 * primes * cost.n * 8
    assert cost.memory > cost.input_bytes


def test_seconds_are_work_by_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(OPTIONS[0])
    asked = []

    def prices(n: int, bits: int) -> dict[str, float]:
        asked.append((n, bits))
        return {"transforms": 2.0}

    monkeypatch.setattr(module, "prices", prices)
    assert program.cost().seconds == pytest.approx(2e-9 * program.native.cost()["work"])
    assert asked == [(program.params.n, max(program.params.moduli_bits))]


def test_primes_beyond_a_word_are_priced_as_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "prices", lambda n, bits: {"transforms": float(bits)})
    program = program_of(OPTIONS[0])
    object.__setattr__(program.params, "moduli", (*program.params.moduli[:-1], (1 << 100) + 1))
    assert program.cost().seconds == pytest.approx(60e-9 * program.native.cost()["work"])


def test_refreshes_are_told_and_cost_time() -> None:
    def of(function: Any) -> module.Cost:
        declared = rs.Encrypted(8, bound=1.0)
        return rs.kernel(x=declared, params=small(), tolerance=1e-3, allow_insecure=True)(function).compile().cost()

    plain, fresh = of(lambda x: x * 2), of(lambda x: rs.bootstrap(x) * 2)
    assert (plain.refreshes, fresh.refreshes) == (0, 1)
    assert fresh.seconds > 10 * plain.seconds
    assert fresh.key_bytes > plain.key_bytes


def test_it_is_json_and_lines() -> None:
    cost = program_of(OPTIONS[0]).cost()
    found = json.loads(json.dumps(cost.to_json()))
    assert found["key_bytes"] == cost.key_bytes
    assert found["total_memory"] == cost.total_memory
    told = str(cost).splitlines()
    assert [line.split(":")[0] for line in told[1:]] == ["circuit", "keys", "messages", "memory", "time"]
    assert amount(cost.key_bytes) in told[2]
    assert [amount(n) for n in (0, 999, 1000, 91_530_000, 1 << 34)] == [
        "0 bytes", "999 bytes", "1 kB", "91.5 MB", "17.2 GB",
    ]  # fmt: skip
