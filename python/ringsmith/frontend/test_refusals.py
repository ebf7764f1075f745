# SPDX-License-Identifier: Apache-2.0
"""Refusals of a traced value: no protocol of Python or numpy gives a plain answer about it."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.frontend.refusals import PROTOCOLS
from ringsmith.frontend.test_numpy_functions import check, data, tensor_of
from ringsmith.frontend.trace import trace

masked: Any = np.ma.masked_array
Encrypted: Any = rs.Encrypted
Output: Any = rs.Output


def assign(x: Any) -> None:
    x[0] = 0


def into_array(x: Any) -> None:
    out = np.zeros(8)
    out[0] = x[0]


def rows_into_array(x: Any) -> None:
    out = np.zeros((2, 8))
    out[0] = x


def add_to_array(x: Any) -> None:
    out = np.zeros(8)
    out += x


def delete(x: Any) -> None:
    del x[0]


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: x == 1, "=="),
    (lambda x: x != 1, "!="),
    (lambda x: x < 1, "<"),
    (lambda x: x <= 1, "<="),
    (lambda x: x == x, "=="),
    (lambda x: np.ones(8) == x, "equal"),
    (lambda x: np.float64(1) != x, "equal"),
    (lambda x: 1 in x, "in"),
    (lambda x: x in [1, 2], "=="),
    (lambda x: x[0] == 1 or 0, "=="),
    (lambda x: 1 if x[0] else 0, "branch"),
    (lambda x: not x, "branch"),
    (lambda x: any(x), "branch"),
    (lambda x: sorted(x), "<"),
    (max, ">"),
    (min, "<"),
    (abs, r"abs\(\)"),
    (round, r"round\(\)"),
    (math.floor, "floor"),
    (math.ceil, "ceil"),
    (math.trunc, "trunc"),
    (math.sqrt, r"float\(\)"),
    (float, r"float\(\)"),
    (lambda x: float(x[0]), r"float\(\)"),
    (int, r"int\(\)"),
    (complex, r"complex\(\)"),
    (bytes, r"bytes\(\)"),
    (hash, "dictionary or set"),
    (lambda x: {x: 1}, "dictionary or set"),
    (lambda x: {x[0], x[1]}, "dictionary or set"),
    (operator.index, "index or count"),
    (range, "index or count"),
    (lambda x: [1, 2, 3][x[0]], "index or count"),
    (lambda x: np.arange(8)[x], "index or count|numpy array"),
    (lambda x: x[x], "known while tracing"),
    (lambda x: x[0, x[1]] if x.ndim else x, "known while tracing"),
    (lambda x: x // 2, "//"),
    (lambda x: 2 // x, "//"),
    (lambda x: np.ones(8) // x, "floor_divide"),
    (lambda x: x % 2, "remainder"),
    (lambda x: 2 % x, "remainder"),
    (lambda x: divmod(x, 2), "divmod"),
    (lambda x: 1 / x, "1 / x"),
    (lambda x: np.ones(8) / x, "division|divide"),
    (lambda x: 2**x, "exponent"),
    (lambda x: x**0.5, "integers >= 0"),
    (lambda x: x**x, "integers >= 0"),
    (lambda x: pow(x, 2, 7), "modulus"),
    (lambda x: ~x, "~"),
    (lambda x: x & 1, "&"),
    (lambda x: 1 | x, r"\|"),
    (lambda x: x ^ x, r"\^"),
    (lambda x: x << 1, "<<"),
    (lambda x: 1 >> x, ">>"),
    (assign, "assignment"),
    (delete, "deletion"),
    (rows_into_array, r"out\[i\] = x"),
    (add_to_array, "into an array"),
    (lambda x: np.array(x), "numpy array"),
    (lambda x: np.array([x, x]), "rs.stack"),
    (lambda x: np.asarray([x[0], x[1]]), "rs.stack"),
    (lambda x: np.sum([x[0], x[1]]), "rs.stack"),
    (lambda x: np.vectorize(lambda v: v)(x), "numpy array"),
    (lambda x: f"{x[0]:.2f}", "formatting"),
    (pickle.dumps, "pickling"),
    (lambda x: x.sum(out=np.zeros(())), "out="),
    (lambda x: np.add(x, 1, out=np.zeros(8)), "out="),
    (lambda x: np.add(x, 1, where=np.ones(8, bool)), "where="),
    (lambda x: np.add(x, 1, dtype=np.int8), "dtype="),
    (lambda x: np.add.reduce(x), "add.reduce"),
    (lambda x: np.linalg.norm(x), "linalg.norm"),
    (lambda x: np.linalg.diagonal(x.reshape(2, 4)), "linalg.diagonal"),
    (lambda x: x * masked(np.ones(8), mask=[1] + 7 * [0]), "mask"),
    (lambda x: masked(np.ones(8), mask=[1] + 7 * [0]) * x, "mask|numpy array"),
    (lambda x: x * np.matrix(np.ones(8)), "matrix"),
    (lambda x: x * [[1], [2, 3]], "different lengths"),
    (lambda x: x + None, "NoneType"),
    (lambda x: x + {1: 2}, "dict"),
    (lambda x: x + np.inf, "finite"),
]  # fmt: skip


@pytest.mark.parametrize("encrypted", [True, False], ids=["encrypted", "plain"])
@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize(("function", "words"), REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_refused_with_the_users_line(function: Any, words: str, scheme: str, encrypted: bool) -> None:
    values = data((8,)) if scheme == "ckks" else data((8,)).astype(np.int64)
    x = tensor_of(values, "x", encrypted=encrypted)
    with pytest.raises(rs.KernelError, match=words) as caught:
        function(x)
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    assert encrypted or "on an encrypted value" not in str(caught.value)


def test_a_refusal_that_numpy_wraps_comes_out_as_itself() -> None:
    with pytest.raises(rs.KernelError, match=r"out\[i\] = x.*rs.stack") as caught:
        rs.kernel(x=rs.Encrypted(8, bound=1))(into_array).compile()
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("kind", [rs.Tensor, rs.Cipher, rs.PlainVector])
def test_every_protocol_is_refused_by_every_traced_value(name: str, kind: type) -> None:
    value: Any = object.__new__(kind)
    if kind is rs.Tensor:
        value = tensor_of(data((3,)), "x")
    with pytest.raises(rs.KernelError):
        getattr(kind, name)(value, 1)


#: Methods of ndarray that a tensor may leave to Python: construction, printing, names, and numpy's own protocols.
INNOCENT = {
    "__class__", "__class_getitem__", "__delattr__", "__dir__", "__doc__", "__getattribute__", "__getstate__",
    "__init__", "__init_subclass__", "__new__", "__reduce__", "__setstate__", "__sizeof__", "__str__",
    "__subclasshook__",
}  # fmt: skip


def test_no_special_method_of_arrays_is_left_to_python() -> None:
    """In-place operators without a method of their own fall back to the refused binary ones."""
    inherited = {name for name in dir(object) if getattr(rs.Tensor, name, None) is getattr(object, name)}
    assert inherited - INNOCENT == set()
    missing = {name for name in dir(np.ndarray) if name.startswith("__") and not hasattr(rs.Tensor, name)}
    in_place = {f"__i{name}__" for name in ("and", "floordiv", "lshift", "mod", "or", "rshift", "xor")}
    numpy_own = {name for name in missing if name.startswith(("__array_", "__dlpack"))}
    assert missing - in_place - numpy_own - INNOCENT == set()


def test_in_place_operators_change_what_numpy_changes() -> None:
    def shared(x: Any) -> Any:
        total = x + 0
        alias = total
        total += x
        total *= 3
        return alias

    def scalars(x: Any) -> Any:
        total = x[0]
        kept = total
        for value in x[1:]:
            total += value
        return total * kept

    def accumulated(x: Any) -> Any:
        total = 0
        for row in x.reshape(2, -1):
            total += row
        return total

    for function in (shared, scalars, accumulated):
        assert check(function, [data((4,))], {}, set())


def change_argument(x: Any) -> None:
    x += 1


def change_view(x: Any) -> None:
    row = x.reshape(2, 4)[0]
    row += 1


def change_viewed(x: Any) -> None:
    total = x + 1
    part = total[:2]
    total -= 1
    assert part.shape


@pytest.mark.parametrize("function", [change_argument, change_view, change_viewed])
def test_in_place_operators_that_reach_other_arrays_are_refused(function: Any) -> None:
    with pytest.raises(rs.KernelError, match="write x = x"):
        function(tensor_of(data((8,)), "x"))
    with pytest.raises(rs.KernelError, match=r"shape \(2, 8\)"):
        operator.iadd(tensor_of(data((8,)), "x") + 1, np.ones((2, 8)))


def test_the_clear_function_cannot_change_the_callers_array() -> None:
    values = np.arange(4.0)

    def function(x: Any) -> Any:
        x += 1
        return x

    with pytest.raises(ValueError, match="read-only"):
        rs.kernel(x=rs.Encrypted(4, bound=9))(function).clear(values)
    assert values.tolist() == [0, 1, 2, 3]


def test_copies_keep_the_traced_value() -> None:
    for duplicate in (copy.copy, copy.deepcopy):
        assert check(lambda x, d=duplicate: d(x) * x, [data((3,))], {}, set())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Encrypted((4, 4), bound=1), r"one by one, as in rs.Encrypted\(4, 4"),
        (lambda: Encrypted(4.0, bound=1), "positive integers"),
        (lambda: Encrypted(True, bound=1), "positive integers"),
        (lambda: Encrypted(4, bound=np.nan), "value range"),
        (lambda: Encrypted(4, bound="1"), "value range"),
        (lambda: Encrypted(4, bound=1, low=0), "not both"),
        (lambda: Output(None, 4), "positive integers"),
        (lambda: rs.kernel(lambda x: x), "by name: @rs.kernel"),
        (lambda: rs.kernel(Encrypted(4, bound=1)), "by name: @rs.kernel"),
    ],
)
def test_wrong_declarations(wrong: Callable[[], Any], words: str) -> None:
    with pytest.raises(rs.RingsmithError, match=words):
        wrong()


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([[1, 2], [3]], "different lengths"),
        (masked([1, 2], mask=[0, 1]), "mask"),
        ([np.ma.masked, 1], "mask"),
        (np.matrix([1, 2]), "matrix"),
        (None, "shape"),
        ([None, 1], "real numbers|integers"),
        ("12", "shape"),
        ([np.nan, 1], "nan"),
        (np.array(["1", "2"]), "real numbers"),
        ([1 + 0j, 1], "complex|real numbers"),
        (np.array([1, 2], dtype="datetime64[s]"), "real numbers"),
    ],
    ids=range(11),
)
def test_wrong_arguments(value: Any, words: str, scheme: str) -> None:
    kernel = rs.kernel(scheme=scheme, x=rs.Encrypted(2, bound=5))(lambda x: x)
    with pytest.raises(rs.InputError, match=words) as caught:
        kernel.bind((value,), {})
    assert len(str(caught.value).splitlines()) == 1


def test_a_kernel_inside_a_kernel() -> None:
    inner = rs.kernel(x=rs.Encrypted(4, bound=1))(lambda x: x * x)
    outer = rs.kernel(x=rs.Encrypted(4, bound=1))(lambda x: inner(x) + 1)
    with pytest.raises(rs.KernelError, match=r"kernel.function\(x\)"):
        trace(outer, {"x": (4,)})


def test_wrong_objects_at_client_and_server() -> None:
    program = rs.kernel(x=rs.Encrypted(4, bound=1), tolerance=1e-3)(lambda x: x + 1).compile()
    client = program.client()
    server = program.server(client.evaluation_keys)
    sent: Any
    with pytest.raises(rs.InputError, match=r"evaluation keys.*NoneType"):
        program.server(None)  # type: ignore[arg-type]
    with pytest.raises(rs.InputError, match=r"public key.*bytes"):
        program.encryptor(b"")  # type: ignore[arg-type]
    for sent in (np.zeros(4), None, [1, 2]):
        with pytest.raises(rs.InputError, match=r"client.encrypt"):
            server.evaluate(sent)
        with pytest.raises(rs.InputError, match=r"server.evaluate"):
            client.decrypt(sent)


def test_ciphertexts_of_manual_kernels_refuse_as_well() -> None:
    def compare(x: Any) -> Any:
        return x if x[0] == x[1] else -x

    for function in (
        compare,
        lambda x: x[0] != 1,
        lambda x: x == 1,
        lambda x: np.roll(x[0], 1),
        lambda x: np.sum(x[0]),
    ):
        with pytest.raises(rs.KernelError) as caught:
            rs.kernel(mode="manual", params="seal-ckks-8192", x=rs.Encrypted(2, 8, bound=1), output=rs.Output(8))(
                function
            ).compile()
        assert caught.value.where is not None
        assert caught.value.where.file == __file__
