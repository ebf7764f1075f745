# SPDX-License-Identifier: Apache-2.0
"""ReLU and |x| by a composite sign: their errors, their levels, encrypted, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import InputError, KernelError

#: Degrees, and the error of x sign(x) on [-1, 1] that they reach: about 2^-12 for what Orion takes for its ReLU.
REACHED = {(15,): 2.0**-4.8, (7, 7): 2.0**-6, (15, 15): 2.0**-8, (15, 15, 27): 2.0**-12, (31, 31, 31): 2.0**-13}


@pytest.mark.parametrize("degrees", REACHED)
def test_the_error_is_as_stated_everywhere(degrees: tuple[int, ...]) -> None:
    found = rs.approximate("abs", -1, 1, degree=degrees)
    x = np.concatenate([np.linspace(-1, 1, 100_003), np.geomspace(2.0**-40, 1, 20_011)])
    # Extremes lie between the points that an error is found on.
    assert np.abs(found(x) - np.abs(x)).max() <= found.error * 1.01
    assert found.error <= REACHED[degrees]
    assert found.degrees == degrees
    assert found.depth == sum(degree.bit_length() for degree in degrees) + 1


def test_an_error_asks_for_the_fewest_levels() -> None:
    loose, fine = (rs.approximate("relu", -3, 5, degree="composite", error=error) for error in (0.05, 0.001))
    assert loose.error <= 0.05
    assert fine.error <= 0.001
    assert loose.depth < fine.depth < rs.approximate("relu", -3, 5, degree="composite", error=1e-4).depth
    # One polynomial of that error has a degree beyond ten levels.
    with pytest.raises(InputError, match="with degree 1023, the largest"):
        rs.approximate("relu", -3, 5, error=0.001)
    x = np.linspace(-3, 5, 1001)
    np.testing.assert_allclose(fine(x), np.maximum(x, 0), atol=0.001)
    with pytest.raises(KernelError, match="relu: the polynomial stands for its function on"):
        fine(np.array([5.1]))


def test_a_kernel_computes_it() -> None:
    relu = rs.approximate("relu", -2, 4, degree=(7, 7))

    @rs.kernel(x=rs.Encrypted(8, low=-2, high=4), tolerance=1e-3)
    def rectified(x: Any) -> Any:
        return relu(x)

    x = np.linspace(-2, 4, 8)
    np.testing.assert_allclose(rectified(x=x), relu(x), atol=1e-3)
    assert rs.run(rectified, {"x": x}).correct


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(KernelError, match="abs: of reals only"):
        rs.approximate("abs", -1, 1, degree=(7, 7))(np.array([1j]))


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"degree": (15, 4)}, r"degrees \(15, 4\) of a composite sign; one to 6 odd whole numbers from 3 to 63"),
        ({"degree": (15, 65)}, "odd whole numbers from 3 to 63"),
        ({"degree": ()}, "one to 6 odd"),
        ({"degree": (3,) * 7}, "one to 6 odd"),
        ({"degree": (15, True)}, "odd whole numbers"),
        ({"degree": (15.0,)}, "odd whole numbers"),
        ({"degree": (15, 15), "error": 0.1}, "give degree or error, not both"),
        ({"degree": "composite"}, "degree='composite' takes the degrees that error= asks for"),
        ({"degree": "composite", "error": 1e-30}, "error=1e-30 is beyond what 6 polynomials reach"),
        ({"degree": "fine", "error": None}, "degree='fine'; an integer"),
    ],
)
def test_what_is_refused(given: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line) as caught:
        rs.approximate("relu", -1, 1, **given)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="sigmoid: a composite sign serves relu and abs"):
        rs.approximate("sigmoid", -1, 1, degree=(15, 15))
