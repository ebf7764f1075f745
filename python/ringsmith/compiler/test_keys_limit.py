# SPDX-License-Identifier: Apache-2.0
"""Programs whose keys stay within a limit compute the same."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.compiler.lowering import few_keys
from ringsmith.compiler.lowering.choices import Choices
from ringsmith.compiler.lowering.lower import lowered
from ringsmith.compiler.lowering.test_layouts import KERNELS, graph_of
from ringsmith.compiler.lowering.test_lowering import clear_run, random_arrays, scheduled_circuit
from ringsmith.compiler.params.keys import Keys, key_bytes
from ringsmith.frontend.definition import KEYS_LIMIT
from ringsmith.ir.geometry import Slots
from ringsmith.runtime.box import facts
from ringsmith.runtime.program import Program


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


def sent(program: Program) -> int:
    assert Keys.of(program.circuit) == program.keys
    return program.keys.nbytes(program.params)


def test_the_keys_stay_within_the_limit() -> None:
    free = made().compile()
    limit = 1 << 20
    small = made(keys_limit=limit).compile()
    values = np.linspace(-1, 1, 128)
    for program in (free, small):
        client = program.client(sample_data=True)
        size = client.evaluation_keys.nbytes
        assert size == pytest.approx(sent(program), rel=0.02)
        answer = program.server(client.evaluation_keys).evaluate(client.encrypt(x=values))
        np.testing.assert_allclose(client.decrypt(answer), MATRIX @ values, atol=1e-3)
        assert (size <= limit) == (program is small)
    assert small.rotation_keys < free.rotation_keys
    assert made(keys_limit=None).compile().rotation_keys == free.rotation_keys


def test_pinned_parameters_are_limited_too() -> None:
    params = made().compile().params
    request = rs.ParamRequest(n=params.n, moduli=params.moduli, special=params.special, log2_scale=params.log2_scale)
    assert sent(made(params=request, keys_limit=1 << 21).compile()) <= 1 << 21


POINTS = np.random.default_rng(3).uniform(-1, 1, (200, 8))
CHAIN = np.random.default_rng(4).dirichlet(np.ones(16), 16)


def count_of_threes(x: Any) -> Any:
    return np.sum(1 - (x - 3) ** 65536)


def attention(q: Any, k: Any, v: Any) -> Any:
    weights = rs.approximate("exp", -2, 2, degree=7)(q @ k.T / 2)
    return (weights @ v) * rs.approximate("inverse", 0.5, 32, degree=15)(weights.sum(axis=1, keepdims=True))


def neighbours(x: Any) -> Any:
    return rs.approximate("sigmoid", -8, 8, degree=7)(1 - ((POINTS - x) ** 2).sum(axis=1) / 4)


def regression(steps: int, ridge: float = 0.0) -> Any:
    def fit(x: Any, y: Any) -> Any:
        w: Any = np.zeros(x.shape[1])
        for _ in range(steps):
            w = w - 0.1 * (x.T @ (x @ w - y) / 32 + ridge * w)
        return w

    return fit


def logistic_steps(x: Any, y: Any, w: Any) -> Any:
    for _ in range(2):
        w = w - 0.1 * (x.T @ (rs.approximate("sigmoid", -12, 12, degree=3)(x @ w) - y)) / 64
    return w


def markov(v: Any) -> Any:
    for _ in range(10):
        v = v @ CHAIN
    return v


def max_pooling(x: Any) -> Any:
    apart = rs.approximate("abs", -1, 1, degree=15)

    def larger(a: Any, b: Any) -> Any:
        return (a + b + apart(a - b)) / 2

    return larger(larger(x[::2, ::2], x[1::2, ::2]), larger(x[::2, 1::2], x[1::2, 1::2]))


def stumps(x: Any) -> Any:
    sign = rs.approximate("sign", -1.5, 1.5, gap=0.05, error=0.01)
    return (np.linspace(0.1, 1, 20) * sign(x[np.arange(20) % 10] - np.linspace(-0.5, 0.5, 20))).sum()


FILTERS = np.random.default_rng(5).uniform(-0.3, 0.3, (2, 2, 3, 3))
DENSE = np.random.default_rng(6).uniform(-0.1, 0.1, (10, 128))


def convolved(x: Any, filters: Any) -> Any:
    rows, columns = x.shape[0] - 2, x.shape[1] - 2
    return sum(filters[i, j] * x[i : i + rows, j : j + columns] for i in range(3) for j in range(3))


def two_convolutions(x: Any) -> Any:
    first = [convolved(x, own) ** 2 for own in FILTERS[0]]
    second = [sum(convolved(a, b) for a, b in zip(first, own, strict=True)) ** 2 for own in FILTERS]
    return DENSE @ np.concatenate([one.reshape(-1) for one in second])


RELU = rs.approximate("relu", -4, 4, degree=3)


def residual(x: Any) -> Any:
    inner = RELU(convolved(np.pad(x, 1), FILTERS[0, 0]))
    return RELU(x + convolved(np.pad(inner, 1), FILTERS[0, 1]))


def shortcut(x: Any) -> Any:
    found = []
    for out, own in enumerate(FILTERS):
        strided = sum(convolved(np.pad(x[c], 1), own[c])[::2, ::2] for c in range(2))
        found.append(RELU(strided + sum(FILTERS[out, c, 1, 1] * x[c, ::2, ::2] for c in range(2))))
    return np.stack(found)


def real(*shapes: tuple[int, ...], low: float = -1.0) -> list[Any]:
    return [rs.Encrypted(*shape, low=low, high=1.0) for shape in shapes]


#: Kernels that evaluation keys of some ten to some hundred megabytes serve.
ORDINARY: dict[str, tuple[Any, list[Any], dict[str, Any]]] = {
    "count": (count_of_threes, [rs.Encrypted(300, low=0, high=9)], {"scheme": "bfv", "plain_modulus": 65537}),
    "attention": (attention, real((4, 4), (4, 4), (4, 4)), {}),
    "neighbours": (neighbours, real((8,)), {}),
    "three ridge steps": (regression(3, 0.01), real((32, 4), (32,)), {}),
    "three regression steps": (regression(3), real((64, 4), (64,)), {}),
    "two logistic steps": (logistic_steps, real((64, 8), (64,), (8,)), {}),
    "ten steps of a chain": (markov, real((16,), low=0.0), {}),
    "max pooling": (max_pooling, real((8, 8), low=0.0), {}),
    "twenty stumps": (stumps, real((10,)), {}),
    "two convolutions and a dense layer": (two_convolutions, real((12, 12), low=0.0), {}),
    "residual block": (residual, real((8, 8)), {}),
    "shortcut of stride 2": (shortcut, real((2, 8, 8)), {}),
}


def ordinary(name: str, **options: Any) -> rs.Kernel:
    function, arguments, own = ORDINARY[name]
    names = inspect.signature(function).parameters
    return rs.kernel(**dict(zip(names, arguments, strict=True)), tolerance=1e-2, **own, **options)(function)


#: Those whose compilation takes a second or more.
SLOW = ("attention", "three ridge steps", "two logistic steps", "ten steps of a chain", "max pooling", "residual block")


@pytest.mark.parametrize("name", [pytest.param(own, marks=[pytest.mark.slow] * (own in SLOW)) for own in ORDINARY])
def test_ordinary_kernels_compile_at_the_default(name: str) -> None:
    assert sent(ordinary(name).compile()) <= KEYS_LIMIT


def test_keys_are_counted_at_the_levels_where_they_are_used() -> None:
    program = ordinary("count").compile()
    assert sent(program) < 27e6
    at_the_top = key_bytes(program.params, len(program.params.moduli) - 1)
    assert at_the_top * (program.rotation_keys + 1) > 5 * sent(program)
    assert (
        "keys",
        f"{program.rotation_keys} of rotations, 1 of relinearisation: {sent(program) / 1e6:.1f} MB sent",
    ) in [(label, text.rpartition(",")[0]) for label, text in facts(program)]
    assert ordinary("count", keys_limit=sent(program)).compile().rotation_keys == program.rotation_keys


@pytest.mark.parametrize("name", ["count", pytest.param("two convolutions and a dense layer", marks=pytest.mark.slow)])
def test_the_limit_that_a_refusal_names_is_enough(name: str) -> None:
    with pytest.raises(rs.ParameterError, match=r"keys_limit=1000 bytes: line \d+ needs \d+ rotations? \(") as refused:
        ordinary(name, keys_limit=1000).compile()
    least = int(re.findall(r"allow keys_limit=(\d+)", str(refused.value))[0])
    assert sent(ordinary(name, keys_limit=least).compile()) == least
    with pytest.raises(rs.ParameterError, match=f"allow keys_limit={least} or more"):
        ordinary(name, keys_limit=least - 1).compile()


def test_a_refusal_without_rotations_names_the_product() -> None:
    square = rs.kernel(x=rs.Encrypted(4, bound=1.0), keys_limit=0)(lambda x: x * x * x)
    with pytest.raises(rs.ParameterError, match=r": line \d+ multiplies ciphertexts, whose relinearisation key takes"):
        square.compile()
    assert rs.kernel(x=rs.Encrypted(4, bound=1.0), keys_limit=0)(lambda x: x + x).compile().rotation_keys == 0


def test_a_limit_is_a_number_of_bytes() -> None:
    for wrong in (-1, 1.5, True, "64 MiB"):
        with pytest.raises(rs.KernelError, match=r"keys_limit=.*: a number of bytes, or None"):
            made(keys_limit=wrong)
