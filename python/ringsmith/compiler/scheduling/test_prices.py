# SPDX-License-Identifier: Apache-2.0
"""The table of prices: whole, growing with limbs, of the nearest ring; damaged ones are refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ringsmith import shipped
from ringsmith.compiler.params import bootstrapping
from ringsmith.compiler.scheduling import prices
from ringsmith.errors import ParameterError

TABLE = shipped.spec() / "params" / "prices.json"


def test_the_table_has_every_set_with_refreshes() -> None:
    told = json.loads(TABLE.read_text())
    assert set(told["sets"]) == {own.name for own in bootstrapping.known()}
    assert all(told[key] for key in ("command", "date", "processor"))
    for own in bootstrapping.known():
        by = prices.of_ring(own.n)
        primes = len(own.data_bits)
        for kind in prices.KINDS:
            assert len(by.by_kind[kind]) == primes
            assert by.of(kind, primes) > by.of(kind, 2) > 0
        # A key switch is never as cheap as a pass, nor a refresh as cheap as half of its key switches.
        assert all(by.of("rotation", limbs) > 3 * by.of("addition", limbs) for limbs in range(1, primes + 1))
        assert by.refresh > 0.5


def test_beyond_the_table_prices_go_on_as_it_ends() -> None:
    by = prices.Prices({"rotation": (1.0, 2.0, 5.0), "addition": (1.0, 3.0, 2.0)}, 2.0)
    assert [by.of("rotation", limbs) for limbs in (1, 3, 4, 6)] == [1.0, 5.0, 8.0, 14.0]
    assert by.of("addition", 9) == 2.0
    assert by.of_refresh([1, 2, 4]) == 22.0


def test_a_ring_without_a_table_has_the_nearest_ones() -> None:
    small, large = prices.of_ring(1 << 15), prices.of_ring(1 << 16)
    assert small != large
    assert prices.of_ring(1 << 9) == small
    assert prices.of_ring(1 << 17) == large


def _without(table: dict[str, Any], *path: str) -> dict[str, Any]:
    at = table
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return table


@pytest.mark.parametrize("damage", ["{", "[]", "{}", "sets", "kind", "negative", "nan", "text", "short", "bool"])
def test_a_damaged_table_is_refused(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = json.loads(TABLE.read_text())
    name = bootstrapping.known()[0].name
    own = table["sets"][name]
    changed = {"negative": -1.0, "nan": float("nan"), "text": "1", "bool": True}
    if damage == "sets":
        table["sets"] = {}
    elif damage == "kind":
        _without(table, "sets", name, "rotation")
    elif damage == "short":
        own["product"] = own["product"][:1]
    elif damage in changed:
        own["addition"][3] = changed[damage]
    (tmp_path / "params").mkdir()
    path = tmp_path / "params" / "prices.json"
    path.write_text(damage if damage in ("{", "[]", "{}") else json.dumps(table))
    monkeypatch.setenv("RINGSMITH_SPEC", str(tmp_path))
    with pytest.raises(ParameterError) as refusal:
        prices.of_ring(1 << 15)
    told = str(refusal.value)
    assert told.startswith(f"{path}: not a table of prices")
    assert "\n" not in told
