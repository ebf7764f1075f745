# SPDX-License-Identifier: Apache-2.0
"""The steps that the matrix kernels share: inner products of packed rows as coxHE counts them."""

from __future__ import annotations

from typing import Any

import ringsmith as rs


def slot_sum(value: Any, width: int) -> Any:
    """Sum of `width` neighbouring slots, in the first of them: ceil(log2 width) rotations and additions."""
    step = 1
    while step < width:
        value = value + rs.rotate(value, step)
        step *= 2
    return value


def plain_inner_product(row: Any, column: Any, width: int) -> Any:
    """Encrypted row times plain column: multiply, rescale, sum the slots, add to a fresh encryption of zero."""
    total = slot_sum(rs.rescale(row * column), width)
    return total + rs.encrypt_zero(total)


def cipher_inner_product(row: Any, column: Any, width: int) -> Any:
    """The same with an encrypted column: one more key switch, for the relinearisation."""
    total = slot_sum(rs.rescale(rs.relinearize(row * column)), width)
    return total + rs.encrypt_zero(total)
