# SPDX-License-Identifier: Apache-2.0
"""The w-NIBNAF against decimal arithmetic of sixty digits, and sums and products of numbers as those of polynomials."""

from __future__ import annotations

import itertools
import math
import re
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from smart_grid.nibnaf import Nibnaf, decode

from ringsmith.errors import InputError, ParameterError

N = 4096
INPUTS, COEFFICIENTS = Nibnaf(950, 515), Nibnaf(950, 165, 639)
FINE = Nibnaf(5, 30, 70)


def exact_base(w: int) -> Decimal:
    """The base to sixty digits, by halving an interval of the defining polynomial."""
    getcontext().prec = 60
    low, high = Decimal(1), Decimal(3)
    for _ in range(200):
        middle = (low + high) / 2
        negative = middle ** (w + 1) - middle**w - middle - 1 < 0
        low, high = (middle, high) if negative else (low, middle)
    return low


BASES = {w: exact_base(w) for w in (1, 2, 5, 950)}


def exact_value(form: Nibnaf, coefficients: np.ndarray) -> Decimal:
    """The value that n coefficients encode, digit by digit, those of the upper half being fractions."""
    terms = (
        int(c) * BASES[form.w] ** int(i) if i < N // 2 else -int(c) * BASES[form.w] ** (int(i) - N)
        for i, c in enumerate(coefficients)
        if c
    )
    return sum(terms, Decimal(0))


@pytest.mark.parametrize("w", BASES)
def test_the_base_is_the_root(w: int) -> None:
    assert abs(Decimal(Nibnaf(w, 1).base) - BASES[w]) < Decimal(2) ** -51


def test_published_bases() -> None:
    assert Nibnaf(950, 1).base == pytest.approx(1.00611649039984, abs=1e-13)
    assert Nibnaf(2, 1).base == pytest.approx(1.8393, abs=1e-4)


@pytest.mark.parametrize(("form", "error"), [(INPUTS, 1.0), (COEFFICIENTS, 0.0204), (FINE, 2.3e-11)])
def test_round_trip_keeps_the_published_errors(form: Nibnaf, error: float) -> None:
    """1.0 for inputs and 0.0204 for coefficients, as measured in the published program."""
    values = np.random.default_rng(1).uniform(-1, 1, 400) * form.largest
    values[:4] = [0.0, form.largest, -form.largest, form.resolution]
    for value in values:
        coefficients = form.encode(float(value), N)
        exact = exact_value(form, coefficients)
        assert abs(exact - Decimal(float(value))) <= Decimal(error) + abs(Decimal(float(value))) * Decimal(2) ** -48
        assert decode(form, coefficients, N // 2) == pytest.approx(float(exact), rel=1e-12)
        assert form.rounded(value) == pytest.approx(float(exact), rel=1e-12)


@given(st.floats(-1e5, 1e5), st.sampled_from([1, 2, 5, 950]))
def test_digits_stand_at_least_w_apart(value: float, w: int) -> None:
    form = Nibnaf(w, math.ceil(math.log(1e5) / math.log(Nibnaf(w, 1).base)) + 1, 700)
    exponents = [exponent for exponent, _ in form.digits(value)]
    assert all(high - low >= w for high, low in itertools.pairwise(exponents))
    assert all(-700 <= exponent < form.integer_digits for exponent in exponents)


def test_polynomials_compute_what_the_numbers_do() -> None:
    """(a x + c) y: full products of Python's integers, reduced by X^n = -1."""
    a, x, c, y = (FINE.encode(v, N) for v in (0.37, -11.25, 3.141, 0.0625))

    def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        full = [0] * (2 * N)
        for i in np.flatnonzero(p):
            for j in np.flatnonzero(q):
                full[i + j] += int(p[i]) * int(q[j])
        return np.array([low - high for low, high in zip(full[:N], full[N:], strict=True)])

    result = product(product(a, x) + c, y)
    assert decode(FINE, result, N // 2) == pytest.approx((0.37 * -11.25 + 3.141) * 0.0625, abs=1e-9)
    exact = (exact_value(FINE, a) * exact_value(FINE, x) + exact_value(FINE, c)) * exact_value(FINE, y)
    assert abs(exact_value(FINE, result) - exact) < Decimal("1e-50")


@pytest.mark.parametrize(
    ("value", "form"), [(23.5, INPUTS), (-24.0, INPUTS), (2.8, COEFFICIENTS), (float("nan"), INPUTS)]
)
def test_a_number_beyond_the_digits_is_refused(value: float, form: Nibnaf) -> None:
    with pytest.raises(InputError, match=re.escape(f"integer digits: |value| <= {form.largest:.6g}")):
        form.encode(value, N)


def test_forms_and_cuts_that_are_none_are_refused() -> None:
    for form in ((0, 1, 0), (70000, 1, 0), (950, 0, 0), (950, 1, -1), (1, 1, 900)):
        with pytest.raises(ParameterError):
            Nibnaf(*form)
    with pytest.raises(ParameterError, match="do not fit the n = 512"):
        INPUTS.encode(2.0, 512)
    with pytest.raises(ParameterError, match="cut = 17"):
        decode(INPUTS, np.zeros(16, np.int64), 17)
