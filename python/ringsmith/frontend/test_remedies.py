# SPDX-License-Identifier: Apache-2.0
"""Every line of code that a refusal names is executed: it computes what was refused."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.frontend import remedies
from ringsmith.frontend.numpy_functions import UFUNCS
from ringsmith.frontend.refusals import PROTOCOLS, REMEDIES
from ringsmith.frontend.remedies import COMPARISONS, REALS, ROUNDED, TOLD, WHOLE, Remedy, of_ufunc, remedy_of_ufunc
from ringsmith.frontend.test_numpy_functions import tensor_of

X = {"ckks": np.array([1.3, 3.9, 2.2, 3.6]), "bfv": np.array([1, 4, 2, 3])}
Y = {"ckks": np.array([3.4, 1.2, 4.0, 1.1]), "bfv": np.array([3, 1, 4, 1])}
#: Intervals of approximations that are not defined on, or not needed on, -4 to 4.
POSITIVE = {
    **{id(remedy): (1, 4) for remedy in (remedies.DIVIDED, remedies.INVERSE, remedies.ROOT, remedies.EXPONENT)},
    id(remedies.NORM): (4, 64),
}

Case = tuple[Callable[[Any, Any], Any], Remedy, Callable[[Any, Any], Any]]


def _binary(function: Any) -> Case:
    return function, remedy_of_ufunc(function), function


def _unary(function: Any) -> Case:
    return lambda x, _: function(x), remedy_of_ufunc(function), lambda x, _: function(x)


def _whole(function: Any, remedy: Remedy) -> Case:
    further = (0, 1) if function is np.clip else ()
    return lambda x, _: function(x, *further), remedy, lambda x, _: function(x, *further)


CASES: dict[str, Case] = {
    **{
        sign: (getattr(operator, name), COMPARISONS[sign], getattr(operator, name))
        for name, sign in zip(("eq", "ne", "lt", "le", "gt", "ge"), COMPARISONS, strict=True)
    },
    "//": (operator.floordiv, remedies.FLOORED, operator.floordiv),
    "%": (operator.mod, remedies.REMAINDER, operator.mod),
    "divmod": (divmod, remedies.DIVMOD, lambda x, y: np.stack(divmod(x, y))),
    "x / y": (operator.truediv, remedies.DIVIDED, operator.truediv),
    "1 / x": (lambda x, y: 1 / x, remedies.INVERSE, lambda x, y: 1 / x),
    "2**x": (lambda x, y: 2**x, remedies.EXPONENT, lambda x, y: 2**x),
    "x**0.5": (lambda x, y: x**0.5, remedies.ROOT, lambda x, y: x**0.5),
    "abs": (lambda x, y: abs(x), remedies.ABSOLUTE, lambda x, y: np.abs(x)),
    "round": (lambda x, y: round(x), ROUNDED["round"], lambda x, y: np.round(x)),
    "trunc": (lambda x, y: math.trunc(x), ROUNDED["trunc"], lambda x, y: np.trunc(x)),
    "floor": (lambda x, y: math.floor(x), ROUNDED["floor"], lambda x, y: np.floor(x)),
    "ceil": (lambda x, y: math.ceil(x), ROUNDED["ceil"], lambda x, y: np.ceil(x)),
    "in": (lambda x, y: 1 in x, remedies.FOUND, lambda x, y: np.any(x == 1)),
    **{name: _binary(getattr(np, name)) for name in ("maximum", "minimum", "hypot", "arctan2", "greater", "equal")},
    **{name: _unary(getattr(np, name)) for name in ("sin", "exp", "rint", "sign", "cbrt")},
    **{name: _whole(getattr(np, name, getattr(np.linalg, name, None)), remedy) for name, remedy in WHOLE.items()},
}  # fmt: skip


def test_every_remedy_with_code_has_a_case() -> None:
    found = {id(remedy) for _, remedy in PROTOCOLS.values() if isinstance(remedy, Remedy)}
    assert found | {id(remedy) for remedy in WHOLE.values()} <= {id(remedy) for _, remedy, _ in CASES.values()}


def kernel_of(scheme: str, code: str, remedy: Remedy) -> rs.Kernel:
    polynomial = "rs.approximate" in code
    ends = POSITIVE.get(id(remedy), (-4, 4)) if polynomial else (-300, 300)
    known = {"rs": rs, "np": np, "A": ends[0], "B": ends[1], "G": 1 if polynomial else 0.01}

    def remedied(x: Any, y: Any) -> Any:
        return eval(code, {**known, "x": x, "y": y})

    x, y = (rs.Encrypted(4, low=1, high=4) for _ in range(2))
    return rs.kernel(scheme=scheme, tolerance=1e-3, x=x, y=y)(remedied)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("name", CASES)
def test_the_code_of_a_refusal_computes_what_was_refused(name: str, scheme: str) -> None:
    refused, remedy, meant = CASES[name]
    x, y = X[scheme], Y[scheme]
    with pytest.raises(rs.KernelError) as caught:
        refused(tensor_of(x, "x"), tensor_of(y, "y"))
    codes = remedy.codes(REALS if scheme == "ckks" else remedies.INTEGERS)
    expected = np.asarray(meant(x, y), dtype=float)
    for code in codes:
        assert code in str(caught.value)
        found = kernel_of(scheme, code, remedy)(x, y)
        if scheme == "bfv":
            np.testing.assert_array_equal(found, np.rint(expected))
        else:
            np.testing.assert_allclose(found, expected, atol=0.6 if "approximate" in code else 0.01)


#: Those of values from -1 to 1, which the data of this test are not.
ARCS = ("arccos", "arcsin", "arctanh")
ELSE = [u for u in vars(np).values() if isinstance(u, np.ufunc) and u not in UFUNCS and u.__name__ not in REMEDIES]


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("ufunc", {u.__name__: u for u in ELSE if u.__name__ not in ARCS}.values())
def test_every_other_ufunc_is_refused_with_code_that_runs(ufunc: Any, scheme: str) -> None:
    x, y = X[scheme], Y[scheme]
    words = of_ufunc(ufunc, REALS if scheme == "ckks" else remedies.INTEGERS)
    with pytest.raises(rs.KernelError) as caught:
        ufunc(*(tensor_of(one, "x") for one in (x, y, y)[: ufunc.nin]))
    assert words in str(caught.value)
    if ufunc.__name__ in TOLD or "rs." not in words:
        return
    remedy = remedy_of_ufunc(ufunc)
    expected = ufunc(*(x, y)[: ufunc.nin]) if ufunc.nin < 3 else ufunc(x, 0, 1)
    whole = np.asarray(np.stack(expected) if ufunc.nout > 1 else expected, dtype=float)
    code = remedy.codes(REALS if scheme == "ckks" else remedies.INTEGERS)[-1]
    assert code in words
    found = kernel_of(scheme, code, remedy).clear(x, y)
    np.testing.assert_allclose(found, np.rint(whole) if scheme == "bfv" else whole, atol=1e-9)


def test_words_hold_what_they_say() -> None:
    x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    known: dict[str, Any] = {
        "and": np.logical_and,
        "or": np.logical_or,
        "xor": np.logical_xor,
        "not": lambda x, _: np.logical_not(x),
    }
    parts = remedies.BITS.split("1, ", 1)[1].split(", ")
    assert [part.split(" is ")[1] for part in parts] == list(known)
    for part in parts:
        code, name = part.split(" is ")
        made = rs.kernel(scheme="bfv", x=rs.Encrypted(4, low=0, high=1), y=rs.Encrypted(4, low=0, high=1))
        assert np.array_equal(made(lambda x, y, c=code: eval(c, {"x": x, "y": y}))(x, y), known[name](x, y))
    assert "branch" in PROTOCOLS["__bool__"][0]


@pytest.mark.parametrize("operation", [operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift])
def test_bit_operators_name_xor_and_shifts(operation: Any) -> None:
    x = tensor_of(X["bfv"], "x")
    with pytest.raises(rs.KernelError, match=r"x \+ y - 2 \* x \* y is xor|x \* 2\*\*k is a shift"):
        operation(x) if operation is operator.invert else operation(x, 1)


def test_other_kinds_hear_of_what_they_have() -> None:
    z: Any = rs.kernel(x=rs.Encrypted(4, bound=1, complex=True))(lambda x: x > 1)
    with pytest.raises(rs.KernelError, match=r"treat z\.real and z\.imag apart"):
        z.compile()
    mean = rs.kernel(scheme="bfv", x=rs.Encrypted(4, bound=1))(lambda x: x.mean() > 1)
    with pytest.raises(rs.KernelError, match="use the sum, and divide after decryption"):
        mean.compile()


def test_an_unknown_option_is_told_what_is_near() -> None:
    made: Any = rs.kernel
    with pytest.raises(rs.KernelError, match=r"'tolerence' is neither .*; is tolerance meant"):
        made(x=rs.Encrypted(4, bound=1), tolerence=1e-3)(lambda x: x + 1)


def test_complex_data_hear_of_their_declaration() -> None:
    z = np.array([1j, 1])
    with pytest.raises(rs.InputError, match=r"rs.Encrypted\(..., complex=True\)"):
        rs.kernel(x=rs.Encrypted(2, bound=1))(lambda x: x + 1)(z)
    taken = rs.kernel(x=rs.Encrypted(2, bound=1, complex=True), tolerance=1e-3)(lambda x: x + 1)
    np.testing.assert_allclose(taken(z), z + 1, atol=1e-3)


def test_an_encrypted_condition_is_a_factor() -> None:
    c, x, y = np.array([0, 1]), np.array([3, 4]), np.array([5, 6])
    declared = {name: rs.Encrypted(2, low=0, high=9) for name in "cxy"}
    chosen = rs.kernel(scheme="bfv", c=declared["c"], x=declared["x"], y=declared["y"])
    with pytest.raises(rs.KernelError, match=r"write c \* x \+ \(1 - c\) \* y"):
        chosen(lambda c, x, y: np.where(c, x, y)).compile()
    assert chosen(lambda c, x, y: c * x + (1 - c) * y)(c, x, y).tolist() == np.where(c, x, y).tolist()


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_a_promise_takes_both_ends(scheme: str) -> None:
    def kernel(low: Any, high: Any) -> rs.Kernel:
        made = rs.kernel(scheme=scheme, x=rs.Encrypted(3, bound=10), tolerance=1e-3)
        return made(lambda x: rs.within(x * x, low=low, high=high) * 3)

    np.testing.assert_allclose(kernel(4, 25)([2, 3, -5]), [12, 27, 75], atol=1e-3)
    assert kernel(4, 25).clear([2, 3, -5]).tolist() == [12, 27, 75]
    with pytest.raises(rs.KernelError, match="promise"):
        kernel(4, 25).clear([2, 3, 7])
    for low, high in ((4, None), (5, 4), (np.nan, 4), ("a", 4)):
        with pytest.raises(rs.KernelError, match="a positive bound, or finite low < high"):
            kernel(low, high).compile()


@pytest.mark.parametrize("t", [2, 4, 17, 4097])
def test_a_modulus_without_slots_names_those_that_have_them(t: int) -> None:
    made = rs.kernel(scheme="bfv", plain_modulus=t, x=rs.Encrypted(2, low=0, high=1))(lambda x: x * x)
    with pytest.raises(rs.ParameterError, match=r"slots.* such as 65537 .* or 786433 .* without plain_modulus"):
        made.compile()
    for fitting in (65537, 786433, None):
        assert made.options(plain_modulus=fitting)([0, 1]).tolist() == [0, 1]


SOME_AXES = (None, 0, (0, 1))
NORMS: list[tuple[Any, dict[str, Any], int]] = [
    (np.linalg.norm, {"ord": order, "axis": axis, "keepdims": kept}, ndim)
    for order in (None, 1, 2, 4, 0, np.inf, -np.inf, "fro", "nuc")
    for axis in (None, 0, -1, (0, 1))
    for kept in (False, True)
    for ndim in (1, 2)
] + [
    (np.linalg.vector_norm, {"axis": axis, "ord": order}, 2) for axis in SOME_AXES for order in (2, 1, 4, np.inf)
] + [(np.linalg.matrix_norm, {"ord": order, "keepdims": True}, 2) for order in ("fro", 1, 2)]  # fmt: skip


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize(("function", "given", "ndim"), NORMS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_the_code_for_a_norm_computes_it(function: Any, given: dict[str, Any], ndim: int, scheme: str) -> None:
    x = X[scheme].reshape((4,) if ndim == 1 else (2, 2))
    try:
        expected = function(x, **given)
    except (ValueError, IndexError):
        return
    shown = {name: value for name, value in given.items() if value is not None and value is not False}
    with pytest.raises(rs.KernelError) as caught:
        function(tensor_of(x, "x"), **shown)
    codes = remedies.of_norm(function, ndim, shown).codes(REALS if scheme == "ckks" else remedies.INTEGERS)
    for code in codes:
        assert code in str(caught.value)
        ends = (1, 4**8 if "**4" in code else 100) if "rs.approximate" in code else (0, 300)
        known = {"rs": rs, "np": np, "A": ends[0], "B": ends[1]}
        made = rs.kernel(scheme=scheme, x=rs.Encrypted(*x.shape, low=1, high=4))
        found = made(lambda x, c=code, k=known: eval(c, {**k, "x": x})).clear(x)
        wanted = np.rint(expected) if scheme == "bfv" else expected
        assert found.shape == np.shape(expected)
        np.testing.assert_allclose(found, wanted, atol=8 if "**4" in code else 0.6 if "approximate" in code else 1e-9)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_a_correlation_follows_from_the_covariance(scheme: str) -> None:
    x = np.random.default_rng(5).integers(-9, 10, (3, 12))
    words = REMEDIES["corrcoef"]
    with pytest.raises(rs.KernelError, match=re.escape(words)):
        np.corrcoef(tensor_of(x.astype(float), "x"))
    kernel = rs.kernel(scheme=scheme, x=rs.Encrypted(3, 12, bound=9), tolerance=1e-4)(lambda x: np.cov(x))
    found = eval(words.split("decryption: ")[1], {"np": np, "c": kernel(x)})
    np.testing.assert_allclose(found, np.corrcoef(x), atol=1e-3)
