# SPDX-License-Identifier: Apache-2.0
"""The answer that a run is compared with, and how near its polynomials are to the functions they stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import RingsmithError
from ringsmith.frontend.fidelity import Use, functions_themselves, watching
from ringsmith.runtime.kernel import Kernel

Array = NDArray[Any]


@dataclass(frozen=True)
class Expected:
    """The clear answer, with polynomials in place of functions; `themselves` with the functions, None without any.

    `uses` tells of each polynomial how far it is from its function on the values of this run.
    """

    values: Array
    themselves: Array | None = None
    uses: Sequence[Use] = ()

    @property
    def holds(self) -> bool:
        """Return whether each polynomial is as near to its function as it states."""
        return all(use.holds for use in self.uses)

    def function_error(self, output: Array) -> float | None:
        """Return how far an output is from the functions' own answer."""
        return None if self.themselves is None else deviation(output, self.themselves)


def expected_of(kernel: Kernel, arrays: Mapping[str, Array]) -> Expected:
    """Compute a kernel in the clear, watching its polynomials; a kernel with a `reference` is held to that alone."""
    if kernel.reference is not None:
        return Expected(kernel.expected(arrays))
    with watching() as uses:
        values = kernel.expected(arrays)
    if not uses:
        return Expected(values)
    try:
        with functions_themselves():
            return Expected(values, kernel.expected(arrays), tuple(uses))
    except RingsmithError:
        # A promise that the polynomials keep and the functions break, by less than their difference.
        return Expected(values, None, tuple(uses))


def deviation(output: Array, expected: Array) -> float:
    """Return the largest difference of two arrays: integers are compared exactly, complex numbers part by part;
    infinite if the shapes differ."""
    if output.shape != expected.shape:
        return math.inf
    if "c" in (output.dtype.kind, expected.dtype.kind):
        return max(deviation(part(output), part(expected)) for part in (np.real, np.imag))
    if output.dtype.kind in "iu":
        # A reference may give floats: as fractions they keep what a subtraction of floats would round away.
        pairs = zip(output.reshape(-1).tolist(), expected.reshape(-1).tolist(), strict=True)
        return max((float(abs(a - Fraction(b))) if math.isfinite(b) else math.inf for a, b in pairs), default=0.0)
    return float(np.max(np.abs(output.astype(np.float64) - expected.astype(np.float64)), initial=0.0))
