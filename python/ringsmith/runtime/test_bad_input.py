# SPDX-License-Identifier: Apache-2.0
"""Bad input, one clear line each, as an exception of the package's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.runtime.inputs import read_arguments, read_table


def double(**options: Any) -> rs.Kernel:
    return rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4, **options)(lambda x: 2 * x)


def one_line(error: Exception) -> bool:
    return len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros(9), r"shape \(9,\)"),
        (np.zeros((8, 1)), r"shape \(8, 1\)"),
        ([0, 0, np.nan, 0, 0, 0, 0, 0], r"x\[2\] is nan"),
        ([0, 0, 0, -np.inf, 0, 0, 0, 0], r"x\[3\] is -inf"),
        ([0, 0, 0, 0, 0, 0, 0, 1.5], r"x\[7\] is outside the declared \[-1, 1\]"),
        (["a"] * 8, "real numbers"),
        ([1j] * 8, "real numbers"),
    ],
)
def test_arguments(value: Any, words: str) -> None:
    with pytest.raises(rs.InputError, match=words) as caught:
        double()(value)
    assert one_line(caught.value)


def test_errors_hold_no_value_of_an_argument() -> None:
    secret = 41.4375
    for kernel in (double(), rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=50))(lambda x: x)):
        with pytest.raises(rs.InputError) as caught:
            kernel([secret] * 8)
        assert "41.4" not in str(caught.value)


def test_fractions_are_refused_by_bfv() -> None:
    kernel = rs.kernel(scheme="bfv", x=rs.Encrypted(2, bound=5))(lambda x: x)
    with pytest.raises(rs.InputError, match="integers"):
        kernel([1.5, 2])
    with pytest.raises(rs.KernelError, match="not an integer"):
        rs.kernel(scheme="bfv", x=rs.Encrypted(2, bound=5))(lambda x: x * 0.5).compile()


@pytest.mark.parametrize(
    ("arguments", "words"), [({}, "missing"), ({"x": np.zeros(8), "y": 1}, "unexpected")], ids=["missing", "unknown"]
)
def test_wrong_names(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(rs.InputError, match=words):
        double()(**arguments)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x + np.ones(3), "shapes"),
        (lambda x: x @ np.ones((3, 2)), "matmul"),
        (lambda x: x[9], "out of bounds"),
        (lambda x: x**-1, "power"),
        (lambda x: x / x, "constant"),
        (lambda x: np.exp(x), "rs.polynomial"),
        (lambda x: x if x[0] else -x, "branch"),
        (lambda x: x > 0, "comparisons"),
        (lambda x: x[3:3], "no element"),
        (lambda x: x + "a", "cannot compute with a str"),
        (lambda x: np.zeros(3), "does not depend"),
        (lambda x: rs.sum(x, axis=2), "axis 2"),
        (lambda x: [x, x], "rs.stack"),
        (lambda x: x * np.nan, "finite"),
        (lambda x: rs.polynomial(x, []), "coefficient"),
    ],
)
def test_errors_point_at_the_users_own_line(function: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(rs.KernelError, match=words) as caught:
        rs.kernel(x=rs.Encrypted(8, bound=1.0))(function).compile()
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    assert caught.value.where.line == function.__code__.co_firstlineno


def test_the_caret_stands_under_the_operation() -> None:
    kernel = rs.kernel(x=rs.Encrypted(8, bound=1.0))(lambda x: x * 2 + (x @ np.ones(5)))
    with pytest.raises(rs.KernelError) as caught:
        kernel.compile()
    _, source, caret = str(caught.value).splitlines()
    start, end = caret.index("^"), caret.rindex("^") + 1
    assert source[start:end] == "x @ np.ones(5)"


@pytest.mark.parametrize(
    ("request_", "scheme", "words"),
    [
        (rs.ParamRequest(n=8192, data_bits=(10,), log2_scale=30), "ckks", "prime"),
        (rs.ParamRequest(n=1000, data_bits=(40,), log2_scale=30), "ckks", "power of two"),
        (rs.ParamRequest(n=4096, data_bits=(60, 60), log2_scale=30), "ckks", "128 are wanted"),
        (rs.ParamRequest(n=4096, data_bits=(40,)), "ckks", "scale"),
        (rs.ParamRequest(n=4096, log2_scale=30), "ckks", "no data primes"),
        ("no-such-set", "ckks", "there are"),
        ("seal-bfv-8192", "ckks", "is for bfv"),
    ],
)
def test_parameters(request_: Any, scheme: str, words: str) -> None:
    kernel = rs.kernel(scheme=scheme, params=request_, x=rs.Encrypted(8, bound=1.0))(lambda x: x * x)
    with pytest.raises(rs.ParameterError, match=words) as caught:
        kernel.compile()
    assert one_line(caught.value)


def test_levels_exhausted() -> None:
    kernel = rs.kernel(params="seal-ckks-8192", x=rs.Encrypted(8, bound=1.0))(lambda x: x**8)
    with pytest.raises(rs.KernelError, match=r"level 3 of rescaling is needed, .* has 2"):
        kernel.compile()


def test_scale_overflow() -> None:
    kernel = rs.kernel(params="coxhe-8192-210", x=rs.Encrypted(8, bound=1e6), tolerance=1e9)(lambda x: x**4)
    with pytest.raises(rs.KernelError, match="bits more than the modulus has"):
        kernel.compile()


def test_error_beyond_the_tolerance() -> None:
    kernel = rs.kernel(params="coxhe-8192-210", x=rs.Encrypted(8, bound=1.0), tolerance=1e-12)(lambda x: x * x)
    with pytest.raises(rs.ParameterError, match="tolerance is 1e-12"):
        kernel.compile()


def test_noise_exhausted() -> None:
    kernel = rs.kernel(scheme="bfv", params="bfv-client", allow_insecure=True, x=rs.Encrypted(8, bound=9))(
        lambda x: x**4
    )
    with pytest.raises(rs.KernelError, match="could decrypt wrongly"):
        kernel.compile()


def test_values_that_overflow_t() -> None:
    with pytest.raises(rs.ParameterError, match="60 bits"):
        rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=1e7))(lambda x: x**4).compile()
    pinned = rs.kernel(scheme="bfv", params="heaws-batched", allow_insecure=True, x=rs.Encrypted(8, bound=1000))
    with pytest.raises(rs.ParameterError, match="wrap modulo t = 65537"):
        pinned(lambda x: x * x).compile()
    with pytest.raises(rs.ParameterError, match="cannot pack"):
        rs.kernel(scheme="bfv", params="heaws", allow_insecure=True, x=rs.Encrypted(8, bound=2))(lambda x: x).compile()


def test_nothing_is_deep_or_precise_enough() -> None:
    with pytest.raises(rs.ParameterError, match="no parameter set is secure and accurate"):
        rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-20)(lambda x: x * x).compile()


def manual(function: Callable[[Any], Any], **options: Any) -> rs.Kernel:
    return rs.kernel(
        mode="manual",
        params="seal-ckks-8192",
        x=rs.Encrypted(2, 8, bound=1.0),
        output=rs.Output(8),
        tolerance=1e-3,
        **options,
    )(function)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x[0] * x[1] + x[0], "scales differ; rs.rescale the left"),
        (lambda x: rs.rescale(x[0] * 0.5) + x[1], "levels 1 and 2 differ; rs.mod_drop"),
        (lambda x: (x[0] * x[1]) * x[0], "rs.relinearize it first"),
        (lambda x: rs.rotate(x[0] * x[1], 1), "rs.relinearize it first"),
        (lambda x: rs.relinearize(x[0]), "two polynomials already"),
        (lambda x: rs.rescale(rs.rescale(rs.rescale(x[0]))), "no level is left"),
        (lambda x: rs.mod_drop(x[0], 5), "cannot drop 5"),
        (lambda x: x, "returned 2 ciphertexts"),
        (lambda x: 3, "returns ciphertexts"),
    ],
)
def test_manual_mode_names_scales_levels_and_remedy(function: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(rs.KernelError, match=words):
        manual(function).compile()


@pytest.mark.parametrize(
    "options",
    [
        {"scheme": "tfhe"},
        {"security": 100},
        {"standard": "1999"},
        {"mode": "fast"},
        {"plain_modulus": 17},
        {"y": rs.Plain(2, bound=1)},
    ],
)
def test_options(options: dict[str, Any]) -> None:
    with pytest.raises(rs.KernelError):
        double(**options)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: rs.Encrypted(3),
        lambda: rs.Encrypted(0, bound=1),
        lambda: rs.Encrypted(3, None, bound=1),
        lambda: rs.Encrypted(3, low=2, high=1),
        lambda: rs.Encrypted(3, bound=np.inf),
        lambda: rs.Encrypted(3, bound=1, packing="diagonal"),
    ],
)
def test_declarations(declare: Callable[[], Any]) -> None:
    with pytest.raises(rs.InputError):
        declare()


def session(scheme: str = "ckks") -> tuple[rs.Program, rs.Client, rs.Encryptions]:
    kernel = rs.kernel(scheme=scheme, x=rs.Encrypted(8, bound=1.0), tolerance=1e-3)(lambda x: x * x)
    program = kernel.compile()
    client = program.client("a")
    return program, client, client.encrypt(x=np.ones(8))


def test_foreign_keys_and_ciphertexts() -> None:
    program, client, sent = session()
    _, other_client, other_sent = session("bfv")
    with pytest.raises(rs.KeyMismatchError, match="another program"):
        program.server(other_client.evaluation_keys)
    server = program.server(client.evaluation_keys)
    with pytest.raises(rs.KeyMismatchError, match="another program"):
        server.evaluate(other_sent)
    with pytest.raises(rs.KeyMismatchError, match="another program"):
        other_client.decrypt(server.evaluate(sent))
    stranger = program.client("b")
    with pytest.raises(rs.KeyMismatchError):
        stranger.decrypt(server.evaluate(sent))
    with pytest.raises(rs.KeyMismatchError):
        program.server(stranger.evaluation_keys).evaluate(sent)
    with pytest.raises(rs.KeyMismatchError, match="no relinearization key"):
        program.server(replace(client.evaluation_keys, relinearization=b"")).evaluate(sent)
    with pytest.raises(rs.InputError, match="2 ciphertexts came"):
        server.evaluate(replace(sent, ciphertexts=sent.ciphertexts * 2))


@pytest.mark.parametrize("damage", ["truncated", "flipped", "oversized", "version", "empty"])
@pytest.mark.parametrize("what", ["ciphertext", "key"])
def test_damaged_bytes(damage: str, what: str) -> None:
    program, client, sent = session()
    whole = sent.ciphertexts[0] if what == "ciphertext" else client.evaluation_keys.relinearization
    broken = bytearray(whole)
    match damage:
        case "truncated":
            broken = broken[: len(broken) // 2]
        case "flipped":
            broken[len(broken) // 3] ^= 16
        case "oversized":
            broken += bytes(100)
        case "version":
            broken[4] ^= 0xFF
        case "empty":
            broken = bytearray(b"x")
    bad = bytes(broken)
    keys = client.evaluation_keys
    if what == "ciphertext":
        server = program.server(keys)
        with pytest.raises(rs.FormatError) as caught:
            server.evaluate(replace(sent, ciphertexts=(bad,)))
    else:
        with pytest.raises(rs.FormatError) as caught:
            program.server(replace(keys, relinearization=bad))
    assert one_line(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n3,x\n", r"row 2, column 2: 'x'"),
        ("a,b\n1,2\n3,nan\n", r"row 3, column 2: 'nan'"),
        ("1,2\n3\n", "row 2 has 1 cells, the first has 2"),
        ("", "no rows"),
        ("a,b\n", "no rows"),
        ("1,\n", r"row 1, column 2: ''"),
    ],
)
def test_csv(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "data.csv"
    file.write_text(text)
    with pytest.raises(rs.InputError, match=words) as caught:
        read_table(file)
    assert one_line(caught.value)


def test_good_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\ufeffage,size\n1,2.5\n\n3,-4e1\n")
    assert read_table(tmp_path / "a.csv").tolist() == [[1, 2.5], [3, -40]]
    np.save(tmp_path / "a.npy", np.arange(3))
    assert read_arguments(tmp_path / "a.npy")[""].tolist() == [0, 1, 2]
    np.savez(tmp_path / "a.npz", x=np.arange(3), w=np.eye(2))
    assert sorted(read_arguments(tmp_path / "a.npz")) == ["w", "x"]


def test_bad_files(tmp_path: Path) -> None:
    whole = tmp_path / "whole.npy"
    np.save(whole, np.arange(100.0))
    cases = {
        "missing.npy": None,
        "broken.npy": b"\x93NUMPY garbage",
        "cut.npy": whole.read_bytes()[:200],
        "broken.npz": b"PK not a zip",
        "data.xlsx": b"",
        "binary.csv": b"\xff\xfe\x00",
    }
    np.save(tmp_path / "text.npy", np.array(["a"]))
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    for name, content in cases.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
    for name in (*cases, "text.npy", "object.npy"):
        with pytest.raises(rs.InputError, match=name) as caught:
            read_arguments(tmp_path / name)
        assert one_line(caught.value)


@pytest.mark.parametrize("it", [np.sin, print, rs.approximate("tanh", -2.0, 2.0, degree=5), 3])
def test_what_is_no_function_is_no_kernel(it: Any) -> None:
    with pytest.raises(rs.KernelError, match=f"not of type {type(it).__name__}: @rs.kernel"):
        rs.kernel(scheme="ckks", x=rs.Encrypted(8, bound=2.0))(it)
