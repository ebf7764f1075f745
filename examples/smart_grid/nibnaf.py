# SPDX-License-Identifier: Apache-2.0
"""Real numbers as polynomials by the w-NIBNAF, the non-integral base non-adjacent form with window w.

The base b > 1 is the root of x^(w+1) - x^w - x - 1. A number is a sum of terms +-b^i at distances of w or more; digit i
is the coefficient of X^i, and because X^n = -1, digit -i is that of X^(n-i) with its sign changed. Sums and products of
polynomials modulo X^n + 1 are then those of the numbers, as long as no exponent leaves the n there are and no
coefficient leaves the plaintext modulus.

Source: Cheon, Jeong, Lee and Lee (ePrint 2016/250) have the encoding with a common base, Bonte, Bootland, Bos,
Castryck, Iliashenko and Vercauteren (ePrint 2017/333) the base and the form; w = 950 is theirs for the smart grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import InputError, ParameterError
from ringsmith.specs import shown

#: Larger windows have bases that doubles hardly tell from 1.
MAX_WINDOW = 1 << 16
#: Natural logarithm of the largest and of 1 over the smallest weight of a digit, within those of doubles.
MAX_LOG = 700.0


@dataclass(frozen=True)
class Nibnaf:
    """The form with window `w` (1 to 65536).

    Digits run from `integer_digits` - 1 down to -`fraction_digits`: numbers up to `largest` in magnitude are encoded
    with an error of at most `resolution`, plus doubles' own rounding.
    """

    w: int
    integer_digits: int
    fraction_digits: int = 0

    def __post_init__(self) -> None:
        """Refuse parameters that do not make a form."""
        if not 1 <= self.w <= MAX_WINDOW:
            raise ParameterError(f"w = {shown(self.w)}: a window of the w-NIBNAF is from 1 to {MAX_WINDOW}")
        if self.integer_digits < 1 or self.fraction_digits < 0:
            raise ParameterError(
                f"{self.integer_digits} integer and {self.fraction_digits} fraction digits: at least 1 and 0 are needed"
            )
        most = int(MAX_LOG / math.log(self.base))
        if max(self.integer_digits, self.fraction_digits) > most:
            raise ParameterError(
                f"{self.integer_digits} integer and {self.fraction_digits} fraction digits of w = {self.w}: at most "
                f"{most} have weights within the range of doubles"
            )

    @cached_property
    def base(self) -> float:
        """The root above 1 of x^(w+1) - x^w - x - 1, that is of w log x = log((x + 1) / (x - 1))."""
        low, high = 1.0 + 1e-9, 3.0
        while (middle := (low + high) / 2) not in (low, high):
            below = self.w * math.log(middle) < math.log((middle + 1) / (middle - 1))
            low, high = (middle, high) if below else (low, middle)
        return high

    @property
    def resolution(self) -> float:
        """The weight of the last digit: remainders up to it are dropped."""
        return float(self.base**-self.fraction_digits)

    @property
    def largest(self) -> float:
        """The largest magnitude that the first digit stands for."""
        return float(self.base ** (self.integer_digits - 1) * (self.base + 1) / 2)

    def terms(self, values: ArrayLike) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield exponents and signs of every value's first digit, then of the second, and so on; sign 0 after its last.

        The nearest power is taken off until at most `resolution` is left. What is left of a step from b^i is at most
        b^i (b - 1) / 2 = b^(i-w) (b + 1) / 2: the next exponent is at least w lower.
        """
        rest = np.array(values, np.float64)
        beyond = ~(np.abs(rest) <= self.largest)
        if beyond.any():
            raise InputError(
                f"{float(rest[beyond][0])!r} has no w-NIBNAF of {self.integer_digits} integer digits: "
                f"|value| <= {self.largest:.6g}"
            )
        while (left := np.abs(rest) > self.resolution).any():
            signs = np.where(left, np.sign(rest), 0).astype(np.int64)
            exponents = self._nearest(np.abs(np.where(left, rest, 1.0)))
            yield exponents, signs
            rest -= signs * self.base ** exponents.astype(np.float64)

    def _nearest(self, magnitudes: NDArray[np.float64]) -> NDArray[np.int64]:
        first = np.floor(np.log(magnitudes) / math.log(self.base)) - 1
        tried = first[..., None] + np.arange(4)
        best = np.abs(self.base**tried - magnitudes[..., None]).argmin(axis=-1)
        exponents: NDArray[np.int64] = first.astype(np.int64) + best
        return np.clip(exponents, -self.fraction_digits, self.integer_digits - 1)

    def digits(self, value: float) -> list[tuple[int, int]]:
        """Return exponent and sign (+-1) of every digit of a number that is not 0, the highest first."""
        return [(int(exponents[0]), int(signs[0])) for exponents, signs in self.terms([value])]

    def encode(self, value: float, n: int) -> NDArray[np.int64]:
        """Return the n coefficients, each -1, 0 or 1."""
        if self.integer_digits + self.fraction_digits > n:
            raise ParameterError(
                f"{self.integer_digits} + {self.fraction_digits} digits do not fit the n = {n} coefficients of a "
                "plaintext"
            )
        coefficients = np.zeros(n, np.int64)
        for exponent, sign in self.digits(value):
            coefficients[exponent % n] = sign if exponent >= 0 else -sign
        return coefficients

    def rounded(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the numbers that the encodings of `values` stand for, of the same shape."""
        sums = np.zeros(np.shape(values))
        for exponents, signs in self.terms(values):
            sums += signs * self.base ** exponents.astype(np.float64)
        return sums


def decode(form: Nibnaf, coefficients: ArrayLike, cut: int) -> float:
    """Return the number that n coefficients (centred modulo t) stand for.

    `cut` (0 to n): coefficients below it are integer digits, the others those of fractions. A result of several factors
    has more of both than a number that was just encoded.
    """
    digits: NDArray[Any] = np.asarray(coefficients)
    n = len(digits)
    if not 0 <= cut <= n:
        raise ParameterError(f"cut = {cut}: the first fraction digit of n = {n} coefficients stands at 0 to {n}")
    at = np.flatnonzero(digits)
    signs, exponents = np.where(at < cut, 1, -1), np.where(at < cut, at, at - n)
    terms = zip(digits[at].tolist(), signs.tolist(), exponents.tolist(), strict=True)
    return math.fsum(digit * sign * form.base**exponent for digit, sign, exponent in terms)
