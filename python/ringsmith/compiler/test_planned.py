# SPDX-License-Identifier: Apache-2.0
"""Sets that are planned for a bootstrapping: secure, within their goal, no dearer than the named ones."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

import ringsmith as rs
from ringsmith import _native
from ringsmith.compiler import refreshes
from ringsmith.compiler.params import bootstrapping, choose, noise, planned
from ringsmith.compiler.params.sets import ParameterSet, check, judge
from ringsmith.errors import InputError, ParameterError
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.runtime.test_refreshes import SMALL, small


def _read(own: _native.Bootstrapping, special: int) -> int:
    """Return how many residue polynomials the key switches of a refresh read."""
    return sum(-(-limbs // special) * (limbs + special) for limbs in own.effort()["switches"])


def _named() -> list[ParameterSet]:
    return [
        check(request, "ckks", security=128, standard="2024", allow_insecure=False) for request in bootstrapping.known()
    ]


@pytest.mark.parametrize(
    "named",
    [pytest.param(own, id=own.name, marks=[pytest.mark.slow] if own.n > 1 << 15 else []) for own in _named()],
)
def test_a_planned_set_does_what_a_named_one_does_for_less(named: ParameterSet) -> None:
    own = bootstrapping.native(named)
    levels, error = own.output_level - own.input_level, math.log2(own.added(128))
    lengths, made = _native.Bootstrapping.planned(
        n=named.n, bound=1.0, levels=levels, most_levels=levels, log2_error=error
    )
    assert made.output_level - made.input_level == levels
    assert math.log2(made.added(128)) <= error
    assert made.log2_failure <= -140
    bits = sum((*lengths["data_bits"], *lengths["special_bits"]))
    assert judge(named.n, bits, 128, "2024", secret=lengths["secret"]).enough
    assert _read(made, len(lengths["special_bits"])) <= _read(own, len(named.special))
    assert made.key_bytes <= own.key_bytes


def test_short_primes_and_the_sparser_secret_are_taken_where_they_do() -> None:
    own = planned.planned(rs.BootstrapGoal(n=65536, log2_error=-18.0, levels=10), 128, "2024")
    assert max(*own.data_bits, *own.special_bits) <= 50
    assert own.secret == "weight:1024"
    made = check(own, "ckks", security=128, standard="2024", allow_insecure=False)
    assert made.security.enough
    # The same error of a set whose bits would not be enough with it.
    dense = planned.planned(rs.BootstrapGoal(n=32768, log2_error=-12.0, levels=3), 128, "2024")
    assert dense.secret == "ternary"


def test_a_kernel_names_what_its_refreshes_are_to_reach() -> None:
    @rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=2.0**-13, params=rs.BootstrapGoal(n=32768, log2_error=-12.0))
    def deep(x: Any) -> Any:
        for _ in range(40):
            x = x * x * 0.5 + 0.25
        return x

    program = deep.compile()
    assert (program.params.name, program.params.n) == ("planned", 32768)
    assert program.counts["bootstrap"] > 1
    assert program.noise_bits < -13
    assert "planned: refreshes err by 2^-12.0 at most" in str(program.params.source)
    assert deep.compile().to_bytes() == program.to_bytes()


def _attempts(missing: dict[str, float], tried: list[ParamRequest]) -> refreshes.Attempt:
    """Return an attempt that misses the tolerance in each set of `missing`, by its bits, and succeeds in all others."""

    def attempt(request: ParamRequest) -> refreshes.Found:
        tried.append(request)
        if (excess := missing.get(request.name, 0.0)) > 0:
            missed = noise.NotExactError(f"{request.name} misses")
            own = check(request, "ckks", security=128, standard="2024", allow_insecure=False)
            assert own.bootstrapping is not None
            missed.params = replace(own, bootstrapping=replace(own.bootstrapping, bound=1.0))
            missed.excess = excess
            raise missed
        return cast(refreshes.Found, request)

    return attempt


_NEEDS = choose.Requirements("ckks", 1e-3, 128, "2024", 1.0, None, "secret")


@pytest.mark.slow
def test_where_no_named_set_does_one_is_planned_for_what_they_miss() -> None:
    tried: list[ParamRequest] = []
    attempt = _attempts({"ckks-refreshed-32768": 2.0, "ckks-refreshed-65536": 1.0}, tried)
    found = cast(ParamRequest, refreshes.of_sets(None, attempt, _NEEDS))
    assert [own.name for own in tried] == ["ckks-refreshed-32768", "ckks-refreshed-65536", "planned"]
    assert (found.n, found.bootstrapping.passes if found.bootstrapping else 0) == (32768, 1)
    made = bootstrapping.native(
        replace(
            check(found, "ckks", security=128, standard="2024", allow_insecure=False),
            bootstrapping=replace(cast(rs.Bootstrapping, found.bootstrapping), bound=1.0),
        )
    )
    named = bootstrapping.native(_named()[0])
    assert math.log2(made.added(129)) <= math.log2(named.added(129)) - 2


def _circuit(request: ParamRequest, refreshed: int) -> refreshes.Found:
    """Return what is chosen for a kernel, as far as sets are compared."""
    circuit = SimpleNamespace(refreshes=lambda: refreshed)
    return cast(refreshes.Found, (SimpleNamespace(params=request, circuit=circuit), _NEEDS))


@pytest.mark.parametrize(
    ("refreshed", "work", "taken", "plans"),
    [
        (1, 5, "planned", 1),
        (2, 5, "planned", 1),
        (2, 10, "ckks-refreshed-65536", 1),
        (3, 5, "ckks-refreshed-65536", 0),
    ],
)
def test_a_smaller_ring_is_planned_where_the_larger_set_refreshes_little(
    refreshed: int, work: int, taken: str, plans: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    goals: list[rs.BootstrapGoal] = []
    attempt = _attempts({"ckks-refreshed-32768": 2.0}, [])

    def plan(goal: rs.BootstrapGoal, security: int, standard: str) -> ParamRequest:
        assert (security, standard) == (128, "2024")
        goals.append(goal)
        return replace(bootstrapping.known()[0], name="planned")

    monkeypatch.setattr(planned, "planned", plan)
    works = {"planned": work, "ckks-refreshed-65536": 10}
    monkeypatch.setattr(refreshes._Search, "_work", lambda _, found: works[found[0].params.name])
    found = refreshes.of_sets(None, lambda own: _circuit(cast(ParamRequest, attempt(own)), refreshed), _NEEDS)
    assert found[0].params.name == taken
    assert [goal.n for goal in goals] == [1 << 15] * plans


@pytest.mark.slow
def test_a_single_refresh_takes_less_time_in_a_smaller_ring() -> None:
    @rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4)
    def once(x: Any) -> Any:
        x = rs.bootstrap(x * 0.5)
        for _ in range(2):
            x = x * x * 0.5 + 0.25
        return x

    program = once.compile()
    assert (program.params.name, program.params.n, program.counts["bootstrap"]) == ("planned", 32768, 1)
    larger = once.options(params="ckks-refreshed-65536").compile()
    assert program.native.cost()["work"] < larger.native.cost()["work"]


def test_what_no_set_reaches_is_refused_with_what_each_misses() -> None:
    attempt = _attempts({"ckks-refreshed-32768": 39.0, "ckks-refreshed-65536": 39.0}, [])
    with pytest.raises(choose.NoSetError) as refusal:
        refreshes.of_sets(choose.NoSetError("too deep"), attempt, _NEEDS)
    told = str(refusal.value)
    assert told.startswith("too deep; with refreshes, in the set ckks-refreshed-32768: ")
    assert "in a set planned for n = 65536: " in told
    assert "a larger ring" in told


def test_a_given_set_is_told_that_two_passes_reach_its_tolerance() -> None:
    @rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1.5e-8, params=small(), allow_insecure=True)
    def deep(x: Any) -> Any:
        for _ in range(12):
            x = x * x * 0.5 + 0.25
        return x

    with pytest.raises(ParameterError, match=r"the tolerance is 1.5e-08; .* with passes=2 in its rs.Bootstrapping"):
        deep.compile()
    twice = small(own=replace(SMALL, passes=2))
    assert deep.options(params=twice).compile().noise_bits < math.log2(1.5e-8)
    # Where two do not either, they are not named.
    with pytest.raises(ParameterError) as refusal:
        deep.options(tolerance=1e-12).compile()
    assert "passes=2" not in str(refusal.value)


_GOAL: dict[str, Any] = {"n": 32768, "bound": 1.0, "levels": 1, "most_levels": 2, "log2_error": -10.0}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"n": 0}, "the degree is 0"),
        ({"n": 3 << 14}, "the degree is 49152"),
        ({"n": 1 << 40}, "a power of two, 16..=131072"),
        ({"n": 64}, "the first of 0 at most"),
        ({"bound": math.nan}, "the bound on messages is NaN"),
        ({"bound": -1.0}, "the bound on messages is -1"),
        ({"bound": 1e300}, "a larger ring"),
        ({"levels": 0}, "the levels between two refreshes is 0..=2"),
        ({"levels": 3}, "1..=64, the least first"),
        ({"most_levels": 1 << 60}, "1..=64, the least first"),
        ({"levels": 64, "most_levels": 64}, "its primes take"),
        ({"log2_error": math.nan}, "log2_error is NaN"),
        ({"log2_error": -90.0}, "a larger ring"),
        ({"log2_failure": -1.0}, "log2_failure is -1"),
        ({"weight": 0}, "the weight is 0"),
        ({"passes": 3}, "the number of passes is 3"),
    ],
)
def test_goals_out_of_reach_are_refused(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as refusal:
        _native.Bootstrapping.planned(**_GOAL | changed)
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)
