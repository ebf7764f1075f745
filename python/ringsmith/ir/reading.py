# SPDX-License-Identifier: Apache-2.0
"""Reading of a result's numbers after decryption: complex ones, and exact integers with a divisor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.numbers import magnitude

Array = NDArray[Any]

#: Integers up to here are doubles, and a quotient of two of them is rounded once.
_EXACT_FLOATS = 1 << 53


class HasReading(Protocol):
    """A program as the engine has it."""

    @property
    def complex(self) -> bool:
        """Whether the first axis of the result holds real and imaginary parts."""

    @property
    def divisor(self) -> int:
        """The number that the result is to be divided by."""


@dataclass(frozen=True)
class Reading:
    """`complex` (CKKS): the first axis, of extent 2, holds real and imaginary parts. `divisor` (BFV): the answer is the
    result divided by it."""

    complex: bool = False
    divisor: int = 1

    @classmethod
    def of(cls, program: HasReading) -> Reading:
        """Return that of a program."""
        return cls(program.complex, program.divisor)

    def read(self, values: Array) -> Array:
        """Return the answer: complex128 without the first axis; quotients as float64, each rounded once."""
        if self.complex:
            return np.asarray(values[0] + 1j * values[1])
        if self.divisor == 1:
            return values
        if max(magnitude(values), self.divisor) <= _EXACT_FLOATS:
            return np.asarray(values / self.divisor)
        # Python divides integers of any size with one rounding.
        quotients = [int(value) / self.divisor for value in values.reshape(-1)]
        return np.asarray(quotients, dtype=np.float64).reshape(values.shape)

    def tolerance(self, expected: Array) -> float:
        """Return by how much an exact answer may differ from one computed in floats: nothing, or a few roundings."""
        return 0.0 if self.divisor == 1 else 4 * float(np.spacing(np.max(np.abs(expected), initial=1.0)))
