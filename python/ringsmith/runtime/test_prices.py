# SPDX-License-Identifier: Apache-2.0
"""Prices of this processor: measured once, kept, one for every kind of work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringsmith import _native
from ringsmith.errors import RingsmithError
from ringsmith.runtime import prices


def test_a_price_is_measured_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path))
    asked: list[tuple[int, list[int]]] = []

    def measures(n: int, moduli: list[int]) -> dict[str, float]:
        asked.append((n, moduli))
        return {"transforms": float(len(asked))}

    monkeypatch.setattr(_native, "host_prices", measures)
    for _ in range(2):
        prices.prices.cache_clear()
        assert prices.prices(2048, 20)["transforms"] == 1.0
    assert [(n, {q.bit_length() for q in moduli}) for n, moduli in asked] == [(2048, {20})]
    (tmp_path / "prices" / "host.json").write_text("{")
    prices.prices.cache_clear()
    assert prices.prices(2048, 20)["transforms"] == 2.0, "a damaged file is measured again"
    assert prices.prices(32768, 17)["transforms"] == 3.0, "the next length that has enough primes"
    prices.prices.cache_clear()


def test_what_another_process_measures_in_the_meantime_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path))

    def measures(n: int, moduli: list[int]) -> dict[str, float]:
        (tmp_path / "prices" / "host.json").write_text('{"theirs": {"transforms": 7.0}}')
        return {"transforms": 1.0}

    monkeypatch.setattr(_native, "host_prices", measures)
    prices.prices.cache_clear()
    assert prices.prices(2048, 20)["transforms"] == 1.0
    prices.prices.cache_clear()
    kept = json.loads((tmp_path / "prices" / "host.json").read_text())
    assert [entry["transforms"] for entry in kept.values()] == [7.0, 1.0]


def test_every_kind_of_work_has_a_price() -> None:
    found = _native.host_prices(1024, _native.ntt_primes(1024, 30, 6))
    kinds = {"automorphisms", "base conversions", "products", "sums", "transforms", "whole steps"}
    assert found.keys() == kinds
    assert all(price > 0 for price in found.values())
    with pytest.raises(RingsmithError):
        _native.host_prices(1024, _native.ntt_primes(1024, 30, 1))
    with pytest.raises(RingsmithError):
        _native.host_prices(1000, [97, 101])
