# SPDX-License-Identifier: Apache-2.0
"""Functions for use inside kernels; each works on traced tensors, on manual ciphertexts and on numpy arrays alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, KernelError
from ringsmith.frontend import promises, tensor
from ringsmith.frontend.clear_slots import slots_held, turned
from ringsmith.frontend.complex_tensor import ComplexTensor
from ringsmith.frontend.partwise import Partwise
from ringsmith.frontend.refusals import Refusing
from ringsmith.frontend.tensor import Tensor
from ringsmith.ir.numbers import integers, narrowed
from ringsmith.location import here
from ringsmith.scalars import is_number, whole


def _clear(x: Any) -> NDArray[Any]:
    """Return known numbers as an array; Python's integers stay exact."""
    return x if isinstance(x, np.ndarray) else np.asarray(x, dtype=object if isinstance(x, int) else None)


def sum(x: Any, axis: int | None = None) -> Any:
    """Sum along one axis, or everything."""
    return x.sum(axis=axis) if isinstance(x, Refusing) else _clear(x).sum(axis=axis)


def rotate(x: Any, steps: int, axis: int = -1) -> Any:
    """Rotate left by `steps`: element i of the result is element i + steps, cyclically.

    A traced tensor or array rotates along `axis`; a manual ciphertext rotates each row of its slots.
    """
    steps = whole("rotate: steps", steps)
    if slots := slots_held(x):
        return turned(x, steps % slots.width, slots)
    return x.rotate(steps, axis) if isinstance(x, Refusing) else np.roll(_clear(x), -steps, axis=axis)


def square(x: Any) -> Any:
    """Square element by element."""
    return x.square() if hasattr(x, "square") else x * x


def abs_squared(x: Any) -> Any:
    """Return |x|^2 element by element: re^2 + im^2 of complex values, the square of real ones."""
    if isinstance(x, ComplexTensor):
        return x.abs_squared()
    return square(x) if isinstance(x, Refusing) else square(np.real(x)) + square(np.imag(x))


def polynomial(x: Any, coefficients: Sequence[Any]) -> Any:
    """Evaluate a polynomial, constant term first; coefficients are complex only where x is."""
    if isinstance(x, Tensor):
        return tensor.polynomial(x, coefficients)
    if isinstance(x, Partwise):
        return x.polynomial(coefficients)
    whole = None if isinstance(x, Refusing) else _whole(x, coefficients)
    if whole is not None:
        return narrowed(np.asarray(_horner(_clear(x).astype(object), whole), dtype=object))
    return _horner(x, coefficients)


def _horner(x: Any, coefficients: Sequence[Any]) -> Any:
    result = x * 0 + coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result


def _whole(x: Any, coefficients: Sequence[float]) -> list[int] | None:
    """Return the coefficients as integers if integers are computed with."""
    if _clear(x).dtype.kind not in "iuO":
        return None
    try:
        return list(integers(list(coefficients), "a coefficient").tolist())
    except InputError:
        return None


def within(
    x: Any, bound: float | None = None, *, low: float | None = None, high: float | None = None,
    error: float | None = None,
) -> Any:  # fmt: skip
    """Promise |x| <= bound, or low <= x <= high, where the analysis of ranges would have to assume more; changes no
    value.

    On known numbers (`Kernel.clear`, `rs.run`) the promise is checked. `error` (CKKS, beside `bound`) promises that
    the encrypted evaluation is off by that much at most there: what follows for an iteration that forgets its errors,
    and what the guarantee, which adds errors up, cannot find. Nothing checks it.
    """
    if error is not None and not (is_number(error) and error > 0):
        raise KernelError(f"within: the error {error!r} must be a positive finite number", here())
    if error is not None and (bound is None or low is not None or high is not None):
        raise KernelError("within: error= stands beside bound=, as in rs.within(x, 1.0, error=1e-3)", here())
    if low is None and high is None and bound is not None:
        if not (is_number(bound) and bound > 0):
            raise KernelError(f"within: the bound {bound!r} must be a positive finite number", here())
        return _within(x, bound, error)
    if bound is not None or not (_end(low) and _end(high) and low < high):  # type: ignore[operator]
        raise KernelError(
            f"within: bound={bound!r}, low={low!r}, high={high!r}; a positive bound, or finite low < high", here()
        )
    middle, reach = _middle(low, high)
    if isinstance(x, Refusing):
        return _within(x - middle, reach) + middle
    shifted = np.asarray(x) - middle
    kept = promises.kept(shifted, reach)
    return x if kept is shifted else kept + middle


def _end(value: Any) -> bool:
    return is_number(value)


def _middle(low: Any, high: Any) -> tuple[Any, Any]:
    """Return middle and reach of a range; whole numbers keep whole ones, the range then at most one wider."""
    if all(isinstance(end, int | np.integer) for end in (low, high)):
        middle = (int(low) + int(high)) // 2
        return middle, int(high) - middle
    return (low + high) / 2, (high - low) / 2


def _within(x: Any, bound: float, error: float | None = None) -> Any:
    if isinstance(x, Tensor):
        return tensor.within(x, bound, error)
    if error is not None and isinstance(x, Refusing):
        raise KernelError(
            "within: error= is for tensors of real numbers, not for complex ones or ciphertexts of manual mode", here()
        )
    return x.within(bound) if isinstance(x, Refusing) else promises.kept(x, bound)


def stack(parts: Sequence[Any], axis: int = 0) -> Any:
    """Join tensors of one shape along a new axis."""
    return np.stack(_held(parts), axis)


def concatenate(parts: Sequence[Any], axis: int = 0) -> Any:
    """Join tensors along an axis they have."""
    return np.concatenate(_held(parts), axis)


def _held(parts: Sequence[Any]) -> list[Any]:
    """Return the parts, manual ciphertexts in object arrays."""
    manual = (isinstance(part, Refusing) and not isinstance(part, Tensor | Partwise) for part in parts)
    return [np.asarray(part, dtype=object) if held else part for part, held in zip(parts, manual, strict=True)]


def swap_rows(x: Any) -> Any:
    """Manual mode, BFV: swap the two rows of slots (one key switch)."""
    if slots := slots_held(x):
        return turned(x, slots.width, slots)
    if isinstance(x, np.ndarray):
        raise InputError(f"swap_rows takes all slots of a ciphertext, not an array of shape {x.shape}")
    return x.swap_rows()


def bootstrap(x: Any) -> Any:
    """Give an encrypted value new levels, without the client: the compiler places refreshes itself, this one is placed
    by hand. CKKS; the parameter set has a bootstrapping. Changes no value but for a small error."""
    if isinstance(x, Tensor):
        return tensor.bootstrap(x)
    if isinstance(x, Partwise):
        raise KernelError("rs.bootstrap takes one tensor: real and imaginary part, sum and divisor go apart", here())
    return x.bootstrap() if isinstance(x, Refusing) else x


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
    return x if isinstance(x, np.ndarray) and whole("mod_drop: levels", levels) >= 0 else x.mod_drop(levels)
