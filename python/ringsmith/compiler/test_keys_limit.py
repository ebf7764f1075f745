# SPDX-License-Identifier: Apache-2.0
"""Programs whose keys stay within a limit compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.compiler import keys_limit
from ringsmith.compiler.lowering import few_keys
from ringsmith.compiler.lowering.choices import Choices
from ringsmith.compiler.lowering.lower import lowered
from ringsmith.compiler.lowering.test_layouts import KERNELS, graph_of
from ringsmith.compiler.lowering.test_lowering import clear_run, random_arrays, scheduled_circuit
from ringsmith.ir.geometry import Slots


@pytest.mark.parametrize("digits", [few_keys.signed, few_keys.unsigned])
def test_digits_make_every_distance(digits: few_keys.Digits) -> None:
    slots = Slots(1, 64)
    for distance in range(-31, 33):
        parts = digits(distance, slots)
        assert (sum(parts) - distance) % 64 == 0
        assert all(abs(part).bit_count() == 1 for part in parts)
        assert len(set(parts)) == len(parts)
    assert len({part for distance in range(-31, 33) for part in few_keys.unsigned(distance, slots)}) == 6


@pytest.mark.parametrize("made", KERNELS, ids=range(len(KERNELS)))
def test_programs_with_few_keys_compute_the_same(made: rs.Kernel) -> None:
    slots = Slots(2, 128) if made.scheme == "bfv" else Slots(1, 256)
    program = lowered(graph_of(made), made.arguments, slots, Choices({}))
    arrays = random_arrays(made)
    expected = np.asarray(made.function(**arrays))
    used = len(few_keys.rotations(program))
    for most in range(used + 1):
        fewer = few_keys.with_few_keys(program, most)
        assert len(few_keys.rotations(fewer)) <= max(most, 8)
        found = clear_run(scheduled_circuit(made, fewer), arrays)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert few_keys.with_few_keys(program, used) is program


MATRIX = np.random.default_rng(2).uniform(-0.1, 0.1, (128, 128))


def product(x: Any) -> Any:
    return MATRIX @ x


def made(**options: Any) -> rs.Kernel:
    return rs.kernel(x=rs.Encrypted(128, bound=1.0), tolerance=1e-3, **options)(product)


def test_the_keys_stay_within_the_limit() -> None:
    free = made().compile()
    limit = 1 << 20
    small = made(keys_limit=limit).compile()
    values = np.linspace(-1, 1, 128)
    for program in (free, small):
        client = program.client(sample_data=True)
        size = client.evaluation_keys.nbytes
        estimate = keys_limit.key_bytes(program.circuit, program.params) * program.rotation_keys
        assert size == pytest.approx(estimate, rel=0.02)
        answer = program.server(client.evaluation_keys).evaluate(client.encrypt(x=values))
        np.testing.assert_allclose(client.decrypt(answer), MATRIX @ values, atol=1e-3)
        assert (size <= limit) == (program is small)
    assert small.rotation_keys < free.rotation_keys
    assert made(keys_limit=None).compile().rotation_keys == free.rotation_keys


def test_pinned_parameters_are_limited_too() -> None:
    params = made().compile().params
    request = rs.ParamRequest(n=params.n, moduli=params.moduli, special=params.special, log2_scale=params.log2_scale)
    found = made(params=request, keys_limit=1 << 20).compile()
    assert found.rotation_keys * keys_limit.key_bytes(found.circuit, found.params) <= 1 << 20


def test_an_impossible_limit_is_refused_by_line() -> None:
    with pytest.raises(
        rs.ParameterError, match=r"exceed keys_limit=1000 bytes .* line \d+ needs \d+ rotations \(.*; allow"
    ):
        made(keys_limit=1000).compile()
    for wrong in (-1, 1.5, True, "64 MiB"):
        with pytest.raises(rs.KernelError, match=r"keys_limit=.*: a number of bytes, or None"):
            made(keys_limit=wrong)
