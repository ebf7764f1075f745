# SPDX-License-Identifier: Apache-2.0
"""Complex numbers in CKKS kernels, against numpy's own on the same function; what is refused; files and commands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ringsmith as rs
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.runtime.expected import deviation

Array = NDArray[Any]
RNG = np.random.default_rng(19)


def drawn(*shape: int) -> Array:
    return RNG.uniform(-1, 1, shape) + 1j * RNG.uniform(-1, 1, shape)


MATRIX = drawn(6, 8)
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda z, w: z * w,
    "constants": lambda z, w: (z * (1 + 2j) - 3j) / (1 - 1j) + 1j * w.real,
    "conjugate": lambda z, w: np.conj(z) * w.conj() - np.conjugate(w),
    "parts": lambda z, w: (z * w).real - z.imag * np.real(w) + np.imag(z),
    "abs_squared": lambda z, w: rs.abs_squared(z * w),
    "z times its conjugate": lambda z, w: (z * z.conj()).real,
    "matrix": lambda z, w: MATRIX @ z + w[:6],
    "dot": lambda z, w: np.dot(z, w.conj()) + z @ w + np.inner(z, w),
    "outer": lambda z, w: np.outer(z[:3], w[:2]),
    "powers": lambda z, w: z**5 - np.power(w, 2) + z**0 + np.square(z) * w**1,
    "polynomial": lambda z, w: rs.polynomial(z, [1j, 2, 0.5 - 1j, 0, 1]) + rs.polynomial(w, [2j]),
    "sums": lambda z, w: np.sum(z, initial=1j) + z.mean() + rs.sum(w) + np.sum(w, where=np.arange(8) < 3),
    "variance": lambda z, w: np.var(z) + w.var(ddof=1),
    "series": lambda z, w: np.cumsum(z)[1:] - np.diff(w),
    "joins": lambda z, w: np.concatenate([z, w.real, [1j, 2.0], np.append(w, 0)]),
    "pads": lambda z, w: np.pad(z, 2, constant_values=1j) + np.pad(w, 2, mode="wrap"),
    "views": lambda z, w: z.reshape(2, 4).T[::-1, 0] * 1j + w[[0, 3, 5, 1]] + rs.rotate(z, 3)[:4],
    "choice": lambda z, w: np.where(np.arange(8) % 2 == 0, z, 1j * w),
    "stacks": lambda z, w: rs.stack([z, w], axis=1) @ np.array([1, 1j]),
    "splits": lambda z, w: sum(np.split(z, 2)) - w.reshape(2, 4).sum(axis=0),
    "arrays first": lambda z, w: np.array([1j] * 8) - np.complex128(2j) * z + 1j * w + [1j] * 8,
    "promise": lambda z, w: rs.within(z, 1.5) * rs.square(w),
    "elements": lambda z, w: rs.stack([one * 1j for one in z]) - (-w) + (+z) + len(z) + z.size,
}


def kernel(function: Callable[..., Any], **options: Any) -> rs.Kernel:
    declared = {name: rs.Encrypted(8, bound=1.0, complex=True) for name in ("z", "w")}
    return rs.kernel(**{"tolerance": 1e-3, "name": "k", **declared, **options})(function)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_kernel_computes_what_numpy_does(name: str) -> None:
    function = FUNCTIONS[name]
    z, w = drawn(8), drawn(8)
    expected = np.asarray(function(z, w))
    own = kernel(lambda z, w: function(z, w))
    answer = own(z, w)
    assert answer.shape == expected.shape
    assert answer.dtype == expected.dtype
    np.testing.assert_allclose(own.clear(z, w), expected, atol=1e-12)
    assert deviation(answer, expected) < 1e-3


def test_parts_and_conjugates_cost_nothing() -> None:
    assert kernel(lambda z, w: np.conj(z) + w.imag).compile().counts["key_switch"] == 0
    assert kernel(lambda z, w: rs.abs_squared(z) + w.real).compile().counts["key_switch"] == 1
    assert kernel(lambda z, w: z * w).compile().counts["key_switch"] == 2


def test_a_plain_complex_argument() -> None:
    weighted = rs.kernel(z=rs.Encrypted(8, bound=1.0, complex=True), w=rs.Plain(8, bound=1.0, complex=True))
    z, w = drawn(8), drawn(8)
    own = weighted(lambda z, w: z * w + w.conj())
    assert np.abs(own(z, w) - (z * w + w.conj())).max() < 1e-5
    program = own.compile()
    client = program.client()
    answer = program.server(client.evaluation_keys).evaluate(client.encrypt(z=z), w=w)
    assert np.abs(client.decrypt(answer) - (z * w + w.conj())).max() < 1e-5
    assert program.signature.names(encrypted=False) == ["w"]


def test_a_real_kernel_may_use_complex_numbers_on_the_way() -> None:
    x, y = RNG.uniform(-1, 1, 8), RNG.uniform(-1, 1, 8)
    own = rs.kernel(x=rs.Encrypted(8, bound=1.0), y=rs.Encrypted(8, bound=1.0))(lambda x, y: x + 1j * y)
    assert np.abs(own(x, y) - (x + 1j * y)).max() < 1e-5
    turned = rs.kernel(x=rs.Encrypted(8, bound=1.0))(lambda x: (x.conj() * 1j).imag + x.real * np.imag(x))
    assert np.abs(turned(x) - x).max() < 1e-5
    assert turned(x).dtype == np.float64


def test_a_program_read_from_a_file_knows_that_it_is_complex(tmp_path: Path) -> None:
    program = kernel(lambda z, w: z * w).compile()
    program.save(tmp_path / "p.rsp")
    again = rs.load(tmp_path / "p.rsp")
    z, w = drawn(8), drawn(8)
    client = again.client()
    answer = client.decrypt(again.server(client.evaluation_keys).evaluate(client.encrypt(z=z, w=w)))
    assert np.abs(answer - z * w).max() < 1e-3
    assert np.allclose(again.clear(z=z, w=w), z * w)
    assert again.identity == program.identity
    assert "complex" in again.box()
    real = kernel(lambda z, w: np.stack([(z * w).real, (z * w).imag])).compile()
    assert real.identity != program.identity
    assert rs.load(tmp_path / "p.rsp").native.complex


def test_a_device_computes_the_same_bytes() -> None:
    small = ParamRequest(n=2048, data_bits=(32, 24), special_bits=(32,), log2_scale=24)
    own = kernel(lambda z, w: z * w, params=small, allow_insecure=True, tolerance=0.1)
    inputs = {"z": drawn(8), "w": drawn(8)}
    here = rs.run(own, inputs, seed="1", engine="cpu", encryption="public")
    there = rs.run(own, inputs, seed="1", engine="model:tiny", encryption="public")
    assert here.correct
    assert there.correct
    assert here.digest == there.digest


FILE = '''
import ringsmith as rs

@rs.kernel(z=rs.Encrypted(4, bound=1.0, complex=True), tolerance=1e-3)
def turned(z):
    """Turn by a quarter."""
    return z * 1j
'''


def ringsmith(*arguments: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ringsmith", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_commands_take_and_give_complex_arrays(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(FILE)
    z = drawn(4)
    np.save(tmp_path / "z.npy", z)
    assert ringsmith("compile", tmp_path / "k.py", "-o", tmp_path / "k.rsp").returncode == 0
    for made in ("k.py", "k.rsp"):
        done = ringsmith(
            "run", tmp_path / made, "--input", f"z={tmp_path / 'z.npy'}", "--output", tmp_path / "o.npy", "--json"
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["correct"]
        assert np.abs(np.load(tmp_path / "o.npy") - z * 1j).max() < 1e-3
    assert "real and imaginary" in ringsmith("show", tmp_path / "k.rsp").stdout
    table = ringsmith("run", tmp_path / "k.py", "--output", tmp_path / "o.csv")
    assert table.returncode == 2
    assert "write it as .npy" in table.stderr
    assert not (tmp_path / "o.csv").exists()


REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "abs": (lambda z, w: abs(z), "rs.abs_squared"),
    "np.abs": (lambda z, w: np.abs(z), "rs.abs_squared"),
    "order": (lambda z, w: z < w, "comparisons"),
    "in place": (lambda z, w: z.__iadd__(w), "write x = x [+]"),
    "inverse": (lambda z, w: 1 / z, "division"),
    "quotient": (lambda z, w: z / w, "non-zero constant"),
    "by zero": (lambda z, w: z / 0, "non-zero constant"),
    "exponential": (lambda z, w: np.exp(z), "numpy.exp"),
    "angle": (lambda z, w: np.angle(z), "numpy.angle"),
    "approximation": (lambda z, w: rs.approximate("exp", -1, 1, degree=3)(z), "of reals only"),
    "refresh": (lambda z, w: rs.refresh(z, low=-1, high=1), "go apart"),
    "shapes": (lambda z, w: z * w[:3], "do not fit|shapes"),
    "index": (lambda z, w: z[w], "index"),
    "power": (lambda z, w: z**1.5, "only integers"),
    "infinite": (lambda z, w: z * complex("inf"), "finite"),
    "keyword": (lambda z, w: np.sum(z, dtype=complex), "dtype="),
    "branch": (lambda z, w: z if z else w, "a branch"),
    "array": (lambda z, w: np.array([z, w]), "numpy array"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_encrypted_form_is_refused(name: str) -> None:
    function, words = REFUSED[name]
    with pytest.raises(rs.KernelError, match=words):
        kernel(function).compile()


def test_bfv_and_manual_kernels_refuse_complex_numbers() -> None:
    with pytest.raises(rs.KernelError, match="argument z: complex numbers need an automatic CKKS kernel"):
        kernel(lambda z, w: z * w, scheme="bfv")
    with pytest.raises(rs.KernelError, match="automatic CKKS"):
        kernel(lambda z, w: z, mode="manual", output=rs.Output(8))
    for function in (lambda x: x * 1j, lambda x: 1j + x, lambda x: np.array([1j, 2]) - x, lambda x: np.append(x, 1j)):
        with pytest.raises(rs.KernelError, match="BFV computes on integers"):
            rs.kernel(scheme="bfv", x=rs.Encrypted(2, bound=5))(function).compile()


def test_values_are_checked_part_by_part() -> None:
    own = kernel(lambda z, w: z + w)
    inside = np.full(8, 0.5 + 0.5j)
    for place, value, words in ((3, 0.5 - 1.5j, r"z.imag\[3\] is outside"), (2, 2.0, r"z.real\[2\] is outside")):
        wrong = inside.copy()
        wrong[place] = value
        with pytest.raises(rs.InputError, match=words):
            own(wrong, inside)
    with pytest.raises(rs.InputError, match="finite"):
        own(inside * complex("nan"), inside)
    with pytest.raises(rs.InputError, match="takes the encrypted arguments z, w, not z"):
        own.compile().client().encrypt(z=inside)
    with pytest.raises(rs.InputError, match="real numbers are needed"):
        rs.kernel(x=rs.Encrypted(8, bound=1.0))(lambda x: x)(inside)
