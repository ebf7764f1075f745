# SPDX-License-Identifier: Apache-2.0
"""Digits of key switching: weighed by the time that the circuit takes, within what is secure and accurate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ringsmith as rs
from ringsmith import _native
from ringsmith.compiler.params import noise, primes
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.compiler.params.steps import described
from ringsmith.compiler.params.test_choose import compiled
from ringsmith.runtime.box import why
from ringsmith.runtime.program import Program


def relinearization(level: int) -> _native.Circuit:
    """Return a product relinearised at a level."""
    circuit = _native.Circuit("ckks", "secret", [1.0], [2], [])
    for kind, operands, size in (("input", [], 2), ("square", [0], 3), ("relinearize", [1], 2)):
        circuit.step(_native.Step(kind, operands, level, 2.0**40, size))
    return circuit


def test_a_long_chain_is_faster_with_several_special_primes() -> None:
    work = relinearization(13).work
    assert work(32768, 14, 5, 3) < 0.6 * work(32768, 14, 1, 14)
    fastest = min(range(1, 15), key=lambda specials: work(32768, 14, specials, -(-14 // specials)))
    assert 3 <= fastest <= 7


def test_a_low_level_of_a_long_chain_is_faster_with_one() -> None:
    work = relinearization(0).work
    assert work(32768, 14, 1, 14) < work(32768, 14, 5, 3)


def splits(program: Program) -> list[tuple[int, ParameterSet]]:
    """Return every split that is secure and good enough for any plaintexts, with its work."""
    params, circuit = program.params, program.circuit
    native, found = described(circuit, program.encryption), []
    for specials in range(1, len(params.moduli) + 1):
        special = primes.special_primes(params.n, params.moduli, specials, params.plain_modulus)
        dnum = -(-len(params.moduli) // specials)
        split = replace(params, special=special, dnum=dnum)
        if params.security.limit is None or split.log2_qp > params.security.limit:
            continue
        bits = noise.bound(circuit, split, encryption=program.encryption, assume=noise.Assume.ALL).bits
        good = bits >= 1.0 if params.scheme == "bfv" else 2.0**bits <= program.signature.tolerance
        if good:
            found.append((native.work(params.n, len(params.moduli), specials, dnum), split))
    return found


def is_fastest(program: Program) -> None:
    params = program.params
    if not params.special:
        return
    own = described(program.circuit, program.encryption).work(
        params.n, len(params.moduli), len(params.special), params.dnum
    )
    assert all(own <= work for work, _ in splits(program))


@settings(max_examples=10, deadline=None)
@given(st.text("scaw", min_size=1, max_size=6), st.floats(-16, 4))
def test_no_split_that_would_do_is_faster_than_the_chosen_one(operations: str, log2: float) -> None:
    program = compiled(operations, 2.0**log2)
    if program is not None:
        is_fastest(program)


@pytest.mark.parametrize("squarings", [1, 5, 6])
def test_nor_in_bfv_at_the_levels_where_it_runs(squarings: int) -> None:
    @rs.kernel(scheme="bfv", plain_modulus=786433, x=rs.Encrypted(16, bound=3))
    def power(x: Any) -> Any:
        for _ in range(squarings):
            x = x * x
        return x

    is_fastest(power.compile())


def test_the_box_says_why() -> None:
    program = compiled("s" * 9, 1e-5)
    assert program is not None
    assert len(program.params.special) > 1
    assert any("special primes: about" in reason for reason in why(program))
