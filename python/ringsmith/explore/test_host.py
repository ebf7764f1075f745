# SPDX-License-Identifier: Apache-2.0
"""What a design leaves to the host: its price, the designs that leave nothing, and designs with a unit like HEAWS's."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import ringsmith as rs
from ringsmith import _native
from ringsmith.explore import host
from ringsmith.explore.conftest import Searched
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.page import page
from ringsmith.explore.parameters import Candidate, candidates
from ringsmith.explore.point import Point, dominates
from ringsmith.explore.report import as_json, summary
from ringsmith.explore.search import Search, explore, packed
from ringsmith.explore.space import Hardware, preset_of, values_with
from ringsmith.explore.store import Results
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.hw.synth import load_board
from ringsmith.presets import load_preset

#: Designs with all units and with none beside transforms.
SOME = ["lanes=2,4", "butterflies=4", "dual_port_slots=6", "single_port_slots=0", "moduli_slots=1,2", "moves=0,16"]
SOME += ["wide_port=1"]
#: HEAWS's lanes, butterflies and slots, and what is near.
HEAWS = ["lanes=4,7", "butterflies=2,4", "dual_port_slots=8", "single_port_slots=0", "moduli_slots=2", "moves=0,16"]
HEAWS += ["wide_port=1", "cores=1", "rns_rate=0,2,4"]


@pytest.fixture(scope="module")
def some(searched: Searched) -> Search:
    return searched(Path(":memory:"), SOME)


def test_latency_is_the_device_s_and_the_host_s(some: Search) -> None:
    done = [point for point in some.points if point.status == "done"]
    left = [point for point in done if point.host_operations]
    assert left
    assert len(left) < len(done)
    for point in done:
        assert point.usage is not None
        assert (point.host_ms > 0) == (point.host_operations > 0)
        assert point.host_ms == host.host_ms(point.usage["host_work"], some.candidates[point.params].params)
        assert point.device_ms == pytest.approx(point.usage["cycles"] / some.board.clock_mhz / 1e3)
        assert point.latency_ms == pytest.approx((point.device_ms or 0.0) + point.host_ms)


def test_the_fastest_and_the_fastest_without_the_host_are_named(some: Search) -> None:
    fastest, alone = some.front[0], some.on_device[0]
    assert all(point.host_operations == 0 for point in some.on_device)
    assert fastest.latency_ms is not None
    assert alone.latency_ms is not None
    assert fastest.latency_ms <= alone.latency_ms
    found = as_json(some)
    assert (found["fastest"]["name"], found["fastest_on_device"]["name"]) == (fastest.name, alone.name)
    console = Console(width=200, record=True, file=StringIO())
    console.print(summary(some))
    text = console.export_text()
    assert "the fastest that leaves nothing to the host" in text
    assert alone.name in text
    assert "ms of it)" in text
    shown = page("energy", some, {})
    assert f"of those that leave nothing to the host: {alone.name}" in shown
    assert "because" not in shown
    assert f"clock: {some.board.clock_mhz:g} MHz, assumed" in shown


@pytest.fixture(scope="module")
def multiplication() -> Candidate:
    """Return a product with HEAWS's parameters, which are less secure than 128 bits."""
    primes = tuple(_native.ntt_primes(4096, 30, 7))
    request = ParamRequest(n=4096, moduli=primes[:6], special=primes[6:], dnum=6, plain_modulus=40961)

    @rs.kernel(
        scheme="bfv", x=rs.Encrypted(8, low=-9, high=9), y=rs.Encrypted(8, low=-9, high=9), params=request,
        allow_insecure=True,
    )  # fmt: skip
    def product(x: Any, y: Any) -> Any:
        return x * y

    found = candidates(product, {"x": (8,), "y": (8,)})[0]
    assert isinstance(found, Candidate)
    return found


def test_designs_like_that_of_heaws_are_found(multiplication: Candidate) -> None:
    board, ours = load_board("vu9p-f1"), Hardware.named("l7b2s8x0m2v0wr4")
    heaws, made = load_preset("heaws"), preset_of(multiplication, ours, board)
    same = ("lanes", "butterflies", "dual_port_slots", "moduli_slots", "rns_rate", "rns_conversions", "rns_entries")
    assert all(getattr(made, knob) == getattr(heaws, knob) for knob in same)
    with Evaluator(packed([multiplication]), 1) as evaluator:
        found = explore([multiplication], values_with(HEAWS), board, Results(Path(":memory:")), evaluator)
        alone = explore(
            [multiplication], values_with([*HEAWS, "rns_rate=4", "lanes=7", "butterflies=2", "moves=0"]), board,
            Results(Path(":memory:")), evaluator,
        )  # fmt: skip
    (point,) = alone.front
    assert point.hardware == ours
    assert any(dominates(one.objectives(), point.objectives()) for one in found.front), "it is found, or better"
    assert point.host_operations == 0
    assert found.on_device
    assert {one.hardware.rns_rate > 0 for one in found.on_device} == {True}, "nothing else lifts and scales"


def test_a_unit_for_conversions_without_work_is_superfluous(searched: Searched) -> None:
    """CKKS with moves has nothing for it to do."""
    few = [*SOME, "lanes=4", "moves=16", "moduli_slots=1"]
    with_unit, without = (searched(Path(":memory:"), [*few, f"rns_rate={rates}"]) for rates in ("0,2", "0"))

    def named(search: Search) -> list[str]:
        return [point.name for point in search.front]

    assert named(with_unit) == named(without)
    assert all(isinstance(point, Point) and not point.hardware.rns_rate for point in with_unit.points)
