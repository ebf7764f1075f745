# SPDX-License-Identifier: Apache-2.0
"""One secret key for several programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringsmith as rs


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3)
def cube(x: Any) -> Any:
    return x * x * x


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-6)
def total(x: Any) -> Any:
    return rs.sum(x)


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=100))
def square(x: Any) -> Any:
    return x * x


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=5))
def doubled(x: Any) -> Any:
    return x * 2 + rs.rotate(x, 1)


@pytest.mark.parametrize("kernels", [(cube, total), (total, cube), (square, doubled)])
def test_one_secret_key_serves_both(kernels: tuple[rs.Kernel, rs.Kernel]) -> None:
    first, second = rs.compile(kernels)
    assert first.params.moduli == second.params.moduli
    one = first.client()
    other = one.for_program(second)
    assert one.secret_key == other.secret_key
    x = np.arange(8) % 3 - 1
    for kernel, program, client in zip(kernels, (first, second), (one, other), strict=True):
        found = client.decrypt(program.server(client.evaluation_keys).evaluate(client.encrypt(x=x)))
        np.testing.assert_allclose(found, kernel.clear(x=x), atol=kernel.tolerance)
    with pytest.raises(rs.KeyMismatchError, match="another program"):
        second.server(one.evaluation_keys)


def test_further_keys_are_drawn_anew() -> None:
    """Keys of one uniform part would give away differences of their secrets or errors."""
    first, second = rs.compile([cube, cube.options(tolerance=2e-3)])
    one = first.client(seed="s", sample_data=True)
    other = one.for_program(second, seed="s", sample_data=True)
    assert one.evaluation_keys.relinearization[64:96] != other.evaluation_keys.relinearization[64:96]
    again = one.for_program(first, seed="s", sample_data=True)
    assert again.evaluation_keys.relinearization != one.evaluation_keys.relinearization
    assert again.public_key.data != one.public_key.data
    strangers = [first.client().for_program(second, seed="s", sample_data=True) for _ in range(2)]
    parts = [stranger.evaluation_keys.relinearization[64:96] for stranger in strangers]
    assert parts[0] != parts[1]


def test_many_arguments_one_after_the_other() -> None:
    program = cube.compile()
    client = program.client()
    server = program.server(client.evaluation_keys)
    xs = np.random.default_rng(0).uniform(-1, 1, (3, 8))
    told: list[tuple[int, int]] = []
    sent = [client.encrypt(x=x) for x in xs]
    answers = server.evaluate_many(sent, progress=lambda done, total: told.append((done, total)))
    np.testing.assert_allclose([client.decrypt(answer) for answer in answers], xs**3, atol=1e-3)
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert len(list(server.evaluate_many(one for one in sent[:1]))) == 1
    wrong: Any = sent[0].ciphertexts
    with pytest.raises(rs.InputError, match="takes the encrypted arguments"):
        next(server.evaluate_many(wrong))


def test_another_set_is_refused() -> None:
    with pytest.raises(rs.KeyMismatchError, match=r"total has other parameters than cube.*rs.compile\(\[f, g\]\)"):
        cube.compile().client().for_program(total.compile())


@pytest.mark.parametrize(
    ("kernels", "shapes", "line"),
    [
        ([cube, square], None, "kernels of two schemes share no parameters: cube is ckks, square is bfv"),
        ([], None, "a list of kernels"),
        ([cube, 3], None, "a list of kernels"),
        ([cube, total], [{}], "1 shapes for 2 kernels"),
        (
            [
                cube.options(params=rs.ParamRequest(n=8192, data_bits=(50, 30, 30), special_bits=(50,), log2_scale=30)),
                total,
            ],
            None,
            r"these kernels share no parameters \(cube takes n = 8192.*total takes n = .*\): ",
        ),
    ],
)
def test_bad_input(kernels: Any, shapes: Any, line: str) -> None:
    with pytest.raises(rs.RingsmithError, match=line) as caught:
        rs.compile(kernels, shapes)
    assert "\n" not in str(caught.value)
