# SPDX-License-Identifier: Apache-2.0
"""Results of one program as arguments of the next, without decryption."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.runtime.engines import open_engine

_A = np.linspace(-1, 1, 64).reshape(8, 8) / 8


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3)
def scores(x: Any) -> Any:
    return _A @ x


@rs.kernel(y=rs.Encrypted(of=scores), w=rs.Encrypted(8, bound=1.0), tolerance=1e-3)
def weighted(y: Any, w: Any) -> Any:
    return rs.sum(y * y * w)


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=9), p=rs.Plain(8, bound=3))
def product(x: Any, p: Any) -> Any:
    return x * x * p


@rs.kernel(scheme="bfv", y=rs.Encrypted(of=product))
def total(y: Any) -> Any:
    return rs.sum(y) + y[0] * y[1]


def chain(kernels: list[rs.Kernel], arguments: list[dict[str, Any]], **placed: Any) -> list[Any]:
    """Run kernels of which each takes the result of the one before as y; return programs and decrypted results."""
    programs = [replace(program, **placed) for program in rs.compile(kernels)]
    owner = programs[0].client("a seed", sample_data=True)
    given: dict[str, Any] = {}
    found = []
    for program, own in zip(programs, arguments, strict=True):
        client = owner.for_program(program, "another", sample_data=True)
        server = program.server(client.evaluation_keys)
        names = set(program.signature.names(encrypted=True))
        sent = {name: value for name, value in own.items() if name in names}
        parts = [client.encrypt(**sent)] if sent else []
        answer = server.evaluate(parts, **given, **{n: v for n, v in own.items() if n not in names})
        given = {"y": answer}
        found.append((program, client.decrypt(answer), answer))
    return found


def test_a_result_is_an_argument() -> None:
    x, w = np.linspace(-1, 1, 8), np.cos(np.arange(8))
    (first, y, _), (second, z, _) = chain([scores, weighted], [{"x": x}, {"w": w}])
    assert first.params == second.params
    assert np.abs(y - _A @ x).max() <= 2.0**first.noise_bits <= 1e-3
    assert np.abs(z - np.sum((_A @ x) ** 2 * w)).max() <= 2.0**second.noise_bits <= 1e-3
    # The error of what is taken is in the bound: the same program on fresh arguments promises less.
    assert weighted.clear(y=_A @ x, w=w) == np.sum((_A @ x) ** 2 * w)


def test_exact_results_stay_exact() -> None:
    x, p = np.arange(8) - 4, np.array([1, -1, 2, -2, 3, -3, 0, 1])
    y = x * x * p
    found = chain([product, total], [{"x": x, "p": p}, {}])
    assert [result.tolist() for _, result, _ in found] == [y.tolist(), y.sum() + y[0] * y[1]]
    assert total.clear(y=y) == y.sum() + y[0] * y[1]
    assert found[1][0].noise_bits >= 1


def _pairs() -> list[tuple[str, Callable[[Any], Any], Callable[[Any], Any]]]:
    square = np.linspace(-1, 1, 16).reshape(4, 4)
    return [
        ("partial sums beside the result", lambda x: rs.sum(x, axis=1), lambda y: y * y * y),
        ("one number", lambda x: rs.sum(x * x), lambda y: y * np.arange(1, 4) / 4),
        ("a matrix", lambda x: x @ square, lambda y: square @ y - y.T),
        ("moved", lambda x: np.roll(x, 1, axis=0), lambda y: y[1:3] * y[:2]),
        ("both levels", lambda x: rs.stack([x[0], x[1] * x[2]]), lambda y: y[0] * y[1]),
        ("a promise", lambda x: rs.within(rs.sum(x * x, axis=0), 4.0), lambda y: (y - 1) ** 3),
        ("nothing", lambda x: x, lambda y: rs.sum(y * y)),
        ("an approximation", lambda x: rs.approximate("sigmoid", -1, 1, degree=5)(x), lambda y: rs.sum(y, axis=1)),
    ]


@pytest.mark.parametrize("guarantee", ["certain", "probable"])
@pytest.mark.parametrize(("first", "second"), [pair[1:] for pair in _pairs()], ids=[pair[0] for pair in _pairs()])
def test_layouts_that_results_come_in(first: Any, second: Any, guarantee: str) -> None:
    """The bound of the second holds, and is near that of both as one kernel: what is handed over loses little."""
    declare = rs.kernel(x=rs.Encrypted(4, 4, bound=1.0), tolerance=1e-3, guarantee=guarantee, name="first")
    f = declare(first)
    g = rs.kernel(y=rs.Encrypted(of=f), tolerance=1e-3, guarantee=guarantee, name="second")(second)
    x = np.random.default_rng(1).uniform(-1, 1, (4, 4))
    _, (program, z, _) = chain([f, g], [{"x": x}, {}])
    expected = g.clear(y=f.clear(x=x))
    assert z.shape == expected.shape
    assert np.abs(z - expected).max() <= 2.0**program.noise_bits
    again = rs.Program.from_bytes(program.to_bytes())
    assert again.to_bytes() == program.to_bytes()
    assert again.signature.producers == program.signature.producers != {}
    np.testing.assert_allclose(again.clear(y=f.clear(x=x)), expected, atol=1e-9)


def test_the_bound_is_that_of_both_as_one() -> None:
    f = rs.kernel(x=rs.Encrypted(16, bound=1.0), tolerance=1e-3, name="f")(lambda x: x * x)
    g = rs.kernel(y=rs.Encrypted(of=f), tolerance=1e-3, name="g")(lambda y: y * y)
    both = rs.kernel(x=rs.Encrypted(16, bound=1.0), tolerance=1e-3)(lambda x: (x * x) * (x * x))
    _, program = rs.compile([f, g])
    params = program.params
    pinned = rs.ParamRequest(
        n=params.n, moduli=params.moduli, special=params.special, dnum=params.dnum, log2_scale=params.log2_scale
    )
    assert abs(both.options(params=pinned).compile().noise_bits - program.noise_bits) < 1e-6


def test_complex_results() -> None:
    f = rs.kernel(z=rs.Encrypted(4, bound=1.0, complex=True), tolerance=1e-3, name="f")(lambda z: z * 1j + 1)
    g = rs.kernel(y=rs.Encrypted(of=f), tolerance=1e-3, name="g")(lambda y: y * y)
    first, second = rs.compile([f, g])
    owner = first.client()
    other = owner.for_program(second)
    z = np.exp(1j * np.arange(4))
    y = first.server(owner.evaluation_keys).evaluate(owner.encrypt(z=z))
    found = other.decrypt(second.server(other.evaluation_keys).evaluate(y=y))
    assert np.abs(found - (z * 1j + 1) ** 2).max() < 1e-3
    assert np.abs(g.clear(f.clear(z)) - (z * 1j + 1) ** 2).max() < 1e-12


def test_three_in_a_row_and_one_result_for_two_arguments() -> None:
    f = rs.kernel(x=rs.Encrypted(4, bound=1.0), tolerance=1e-2, name="f")(lambda x: x * x)
    g = rs.kernel(y=rs.Encrypted(of=f), tolerance=1e-2, name="g")(lambda y: rs.rotate(y, 1) * y)
    h = rs.kernel(a=rs.Encrypted(of=f), b=rs.Encrypted(of=g), c=rs.Encrypted(of=g), tolerance=1e-2, name="h")(
        lambda a, b, c: a * b - np.roll(c, 1)
    )
    programs = rs.compile([f, g, h])
    owner = programs[0].client()
    servers = [program.server(owner.for_program(program).evaluation_keys) for program in programs]
    x = np.array([1.0, -0.5, 0.25, 0.75])
    y = servers[0].evaluate(owner.encrypt(x=x))
    z = servers[1].evaluate(y=y)
    found = owner.for_program(programs[2]).decrypt(servers[2].evaluate(a=y, b=z, c=z))
    clear = np.roll(x * x, -1) * x * x
    assert np.abs(found - (x * x * clear - np.roll(clear, 1))).max() <= 2.0 ** programs[2].noise_bits


def test_engines_agree() -> None:
    x, p = np.arange(8) - 4, np.ones(8, dtype=int)
    device = open_engine("model:cofhee").device
    runs = [chain([product, total], [{"x": x, "p": p}, {}], device=own) for own in (None, device)]
    own, others = ([answer.ciphertexts for _, _, answer in run] for run in runs)
    assert own == others


_ELSEWHERE = """
import sys, ringsmith as rs
program, keys, sent, y, out = sys.argv[1:]
rs.load(program).server(rs.load(keys)).evaluate(rs.load(sent), y=rs.load(y)).save(out)
"""


def test_files_in_another_process(tmp_path: Path) -> None:
    first, second = rs.compile([scores, weighted])
    owner = first.client()
    other = owner.for_program(second)
    x, w = np.linspace(-1, 1, 8), np.ones(8)
    first.server(owner.evaluation_keys).evaluate(owner.encrypt(x=x)).save(tmp_path / "y.ct")
    second.save(tmp_path / "weighted.rsp")
    other.evaluation_keys.save(tmp_path / "weighted.keys")
    other.encrypt(w=w).save(tmp_path / "w.ct")
    files = [str(tmp_path / name) for name in ("weighted.rsp", "weighted.keys", "w.ct", "y.ct", "z.ct")]
    subprocess.run([sys.executable, "-c", _ELSEWHERE, *files], check=True)
    found = other.decrypt(rs.load(tmp_path / "z.ct"))
    assert np.abs(found - np.sum((_A @ x) ** 2)).max() < 1e-3


def test_what_does_not_fit_is_refused() -> None:
    first, second = rs.compile([scores, weighted])
    again, _ = rs.compile([scores.options(tolerance=1e-6), scores])
    owner = first.client()
    other = owner.for_program(second)
    x, w = np.linspace(-1, 1, 8), np.ones(8)
    server = second.server(other.evaluation_keys)
    sent, fresh = other.encrypt(w=w), owner.encrypt(x=x)
    y = first.server(owner.evaluation_keys).evaluate(fresh)
    z = server.evaluate(sent, y=y)
    stranger = first.client()
    alien = first.server(stranger.evaluation_keys).evaluate(stranger.encrypt(x=x))
    elsewhere = again.client()
    far = again.server(elsewhere.evaluation_keys).evaluate(elsewhere.encrypt(x=x))
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: server.evaluate(sent), "the encrypted arguments lack y"),
        (lambda: server.evaluate(), "got the result of another program of none; it takes y"),
        (lambda: server.evaluate(sent, y=z), "takes the result of scores as compiled with it; this is the result of"),
        (lambda: server.evaluate(sent, y=far), "takes the result of scores as compiled with it"),
        (lambda: server.evaluate(sent, y=fresh), "takes the result of scores, not the encrypted arguments"),
        (lambda: server.evaluate(sent, y=alien), "of key"),
        (lambda: server.evaluate(sent, w=y), "got the result of another program as w; it takes y"),
        (lambda: server.evaluate([sent, second.part(y=y)], y=y), "came twice"),
        (lambda: server.evaluate(y=y), "the encrypted arguments lack w"),
        (lambda: other.encrypt(w=w, y=w), "takes the encrypted arguments w, not w, y"),
        (lambda: second.part(y=3), "takes the result"),  # type: ignore[arg-type]
        (lambda: second.part(), "of none; it takes y"),
        (lambda: first.part(x=y), "as x; it takes none"),
        (lambda: server.evaluate(sent, y=replace(y, ciphertexts=(), checksums=())), "ciphertexts came"),
    ]
    for call, line in cases:
        with pytest.raises(rs.RingsmithError, match=line) as caught:
            call()
        assert "\n" not in str(caught.value)


def _of(maker: Any, **options: Any) -> rs.Kernel:
    return rs.kernel(y=rs.Encrypted(of=maker), name="g", tolerance=1e-3, **options)(lambda y: y * y)


_likely = scores.options(guarantee="probable")
_mean = rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=9), name="middle")(lambda x: x.mean())


@pytest.mark.parametrize(
    ("act", "line"),
    [
        (lambda: rs.compile([_of(scores)]), r"takes the result of scores as y; give that very kernel before it"),
        (lambda: rs.compile([_of(scores), scores]), r"before it: rs.compile\(\[scores, g\]\)"),
        (lambda: _of(scores).compile(), r"argument y is the result of scores; compile both"),
        (lambda: _of(scores)(np.ones(8)), r"argument y is the result of scores; compile both"),
        (lambda: rs.run(_of(scores), {"y": np.ones(8)}), r"argument y is the result of scores; compile both"),
        (lambda: rs.Encrypted(8, of=scores), "has the shape, range and layout of the result of f"),
        (lambda: rs.Encrypted(of=3), "the kernel whose result this is"),
        (lambda: rs.compile([scores, _of(scores, scheme="bfv")]), "two schemes share no parameters"),
        (lambda: rs.compile([_likely, _of(_likely)]), "promises a certain guarantee"),
        (lambda: rs.compile([scores, _of(scores, publish=True)]), "make both with publish=True"),
        (lambda: rs.compile([scores, _of(scores, params="coxhe-8192-210")]), "leave their parameters open; params= is"),
        (lambda: rs.compile([_mean, _of(_mean, scheme="bfv")]), "is a sum with divisor 8"),
        (lambda: rs.compile([scores, _of(scores)], [{}, {"y": (9,)}]), r"argument y has shape \(9,\), the kernel"),
    ],
)  # fmt: skip
def test_kernels_that_do_not_go_together(act: Callable[[], Any], line: str) -> None:
    with pytest.raises(rs.RingsmithError, match=line) as caught:
        act()
    assert "\n" not in str(caught.value).partition("\n  ")[0]
