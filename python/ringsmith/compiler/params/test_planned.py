# SPDX-License-Identifier: Apache-2.0
"""Sets that are planned for a bootstrapping: secure, within their goal, no dearer than the named ones."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ringsmith import _native
from ringsmith.compiler.params import bootstrapping
from ringsmith.compiler.params.sets import ParameterSet, check
from ringsmith.errors import ParameterError


def _read(own: _native.Bootstrapping, special: int) -> int:
    """Return how many residue polynomials the key switches of a refresh read."""
    return sum(-(-limbs // special) * (limbs + special) for limbs in own.effort()["switches"])


def _named() -> list[ParameterSet]:
    return [
        check(request, "ckks", security=128, standard="2024", allow_insecure=False) for request in bootstrapping.known()
    ]


@pytest.mark.parametrize("named", _named(), ids=lambda named: named.name)
def test_a_planned_set_does_what_a_named_one_does_for_less(named: ParameterSet) -> None:
    own = bootstrapping.native(named)
    levels, error = own.output_level - own.input_level, math.log2(own.added(128))
    lengths, planned = _native.Bootstrapping.planned(
        n=named.n, bound=1.0, levels=levels, most_levels=levels, log2_error=error
    )
    assert planned.output_level - planned.input_level == levels
    assert math.log2(planned.added(128)) <= error
    assert planned.log2_failure <= -140
    bits = sum((*lengths["data_bits"], *lengths["special_bits"]))
    limit = _native.max_log2_qp(named.n, 128)
    assert limit is not None
    assert bits <= limit
    assert _read(planned, len(lengths["special_bits"])) <= _read(own, len(named.special))
    assert planned.key_bytes <= own.key_bytes


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
    with pytest.raises(ParameterError) as refusal:
        _native.Bootstrapping.planned(**_GOAL | changed)
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)
