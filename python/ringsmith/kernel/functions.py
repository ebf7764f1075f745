# SPDX-License-Identifier: Apache-2.0
"""Functions for use inside kernels; each works on traced tensors, on manual ciphertexts and on numpy arrays alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ringsmith.kernel import tensor
from ringsmith.kernel.tensor import Tensor


def sum(x: Any, axis: int | None = None) -> Any:
    """Sum along one axis, or everything."""
    return x.sum(axis=axis)


def rotate(x: Any, steps: int, axis: int = -1) -> Any:
    """Rotate left by `steps`: element i of the result is element i + steps, cyclically.

    A traced tensor or array rotates along `axis`; a manual ciphertext rotates all its slots.
    """
    return np.roll(x, -steps, axis=axis) if isinstance(x, np.ndarray) else x.rotate(steps, axis)


def square(x: Any) -> Any:
    """Square element by element."""
    return x.square() if hasattr(x, "square") else x * x


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Evaluate a polynomial with real coefficients, constant term first."""
    if isinstance(x, Tensor):
        return tensor.polynomial(x, coefficients)
    result = x * 0.0 + coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result


def within(x: Any, bound: float) -> Any:
    """Promise |x| <= bound, where the analysis of ranges would have to assume more; changes no value."""
    if isinstance(x, Tensor):
        return tensor.within(x, bound)
    return x if isinstance(x, np.ndarray) else x.within(bound)


def stack(parts: Sequence[Any], axis: int = 0) -> Any:
    """Join tensors of one shape along a new axis."""
    traced = any(isinstance(part, Tensor) for part in parts)
    return tensor.stack(parts, axis) if traced else np.stack(parts, axis)


def concatenate(parts: Sequence[Any], axis: int = 0) -> Any:
    """Join tensors along an axis they have."""
    traced = any(isinstance(part, Tensor) for part in parts)
    return tensor.concatenate(parts, axis) if traced else np.concatenate(parts, axis)


def relinearize(x: Any) -> Any:
    """Manual mode: bring a product of three polynomials back to two (one key switch)."""
    return x if isinstance(x, np.ndarray) else x.relinearize()


def encrypt_zero(like: Any) -> Any:
    """Manual mode: a fresh public-key encryption of zero at the level and scale of `like`, made by the evaluator."""
    return np.zeros_like(like) if isinstance(like, np.ndarray) else like.encrypt_zero()


def rescale(x: Any) -> Any:
    """Manual mode, CKKS: divide value and scale by the last prime, which is dropped."""
    return x if isinstance(x, np.ndarray) else x.rescale()


def mod_drop(x: Any, levels: int = 1) -> Any:
    """Manual mode: drop the last primes without changing value or scale."""
    return x if isinstance(x, np.ndarray) else x.mod_drop(levels)
