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


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3)
def norm(x: Any) -> Any:
    return rs.sum(x * x)


@rs.kernel(x=rs.Encrypted(64, bound=1.0), tolerance=1e-7)
def fine(x: Any) -> Any:
    return x * x + x


@rs.kernel(x=rs.Encrypted(256, bound=10.0))
def wide(x: Any) -> Any:
    return x * x * x


@pytest.mark.parametrize("kernels", [(norm, fine), (norm, wide.options(guarantee="probable")), (fine, wide, norm)])
def test_sets_that_differ_have_one_in_common(kernels: tuple[rs.Kernel, ...]) -> None:
    """A base or scale that one kernel needs is granted to all; each bound is that of the common set."""
    alone = [kernel.compile() for kernel in kernels]
    programs = rs.compile(kernels)
    assert len({program.params for program in alone}) == len(kernels)
    assert len({program.params for program in programs}) == 1
    assert programs[0].params.n >= max(program.params.n for program in alone)
    owner = programs[0].client()
    for kernel, program in zip(kernels, programs, strict=True):
        assert program.noise_bits <= np.log2(kernel.tolerance)
        assert rs.Program.from_bytes(program.to_bytes()).params.moduli == programs[0].params.moduli
        client = owner.for_program(program)
        x = np.linspace(-1, 1, kernel.shapes()["x"][0])
        found = client.decrypt(program.server(client.evaluation_keys).evaluate(client.encrypt(x=x)))
        assert np.abs(found - kernel.clear(x=x)).max() <= 2.0**program.noise_bits


def test_the_most_demanding_wish_holds_for_all() -> None:
    security = rs.compile([norm, norm.options(security=192)])[0].params.security
    assert security.bits >= 192
    small, large = rs.compile([square, square.options(publish=True)])
    assert small.params == large.params
    assert large.noise_bits > 30
    modulo = square.options(plain_modulus=65537)
    assert {program.params.plain_modulus for program in rs.compile([doubled, modulo])} == {65537}


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
        (
            [square.options(plain_modulus=65537), doubled.options(plain_modulus=12289)],
            None,
            "share their plain_modulus: square has 65537, doubled has 12289",
        ),
        (
            [square, doubled.options(plain_modulus=12289)],
            None,
            "results of square up to 10000 wrap modulo the plain_modulus 12289",
        ),
        ([cube, cube.options(standard="2018")], None, "share their standard: cube has 2024, cube has 2018"),
        ([cube, total.options(tolerance=1e-17)], None, "total has no parameters even by itself: no parameter set"),
    ],
)
def test_bad_input(kernels: Any, shapes: Any, line: str) -> None:
    with pytest.raises(rs.RingsmithError, match=line) as caught:
        rs.compile(kernels, shapes)
    assert "\n" not in str(caught.value)
