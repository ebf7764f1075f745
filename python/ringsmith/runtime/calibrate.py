# SPDX-License-Identifier: Apache-2.0
"""Ranges of a kernel's arguments and inner values, taken from data."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.frontend.declare import Argument
from ringsmith.frontend.measured import measured, widened
from ringsmith.ir.numbers import as_array
from ringsmith.runtime.kernel import Kernel
from ringsmith.scalars import is_number

Array = NDArray[Any]


def calibrate(
    kernel: Kernel, samples: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, margin: float = 0.5
) -> Kernel:
    """Return the kernel with ranges measured on samples in place of wider declared ones: smaller sets, lower bounds.

    `samples`: every argument by name with one axis more in front, an entry a sample; or a list of mappings, one for
    each. `margin` (0 to 10): by what part of their extent the ranges found are widened on each side. Arguments stay
    within their declaration and outside the new range are refused before they are encrypted; inner values are a promise
    as `rs.within` is, which `clear` and `rs.run` hold: beyond it the result may be wrong. InputError for samples of a
    wrong shape, outside the declaration, not finite, or none.
    """
    if not isinstance(kernel, Kernel) or kernel.manual:
        raise InputError("calibrate takes an automatic kernel and samples: rs.calibrate(kernel, {'x': rows})")
    taken = [name for name, argument in kernel.arguments.items() if getattr(argument, "of", None) is not None]
    if taken:
        raise InputError(
            f"calibrate: {taken[0]} is the result of another kernel, whose range it has; calibrate that one"
        )
    if not (is_number(margin) and 0 <= margin <= 10):
        raise InputError(f"calibrate: margin={margin!r}; a number from 0 to 10, a part of the range")
    rows = [kernel.bind((), row) for row in _rows(kernel, samples)]
    shapes = {name: array.shape for name, array in rows[0].items()}
    for number, row in enumerate(rows):
        for name, array in row.items():
            if array.shape != shapes[name]:
                raise InputError(
                    f"calibrate: sample {number} of {name} has shape {array.shape}, the first {shapes[name]}"
                )
    exact = kernel.scheme == "bfv"
    narrow = {n: _narrowed(a, [row[n] for row in rows], margin, exact=exact) for n, a in kernel.arguments.items()}
    tightened = kernel.options(arguments=narrow, measured=None)
    return tightened.options(measured=measured(tightened, shapes, rows, margin))


def _rows(kernel: Kernel, samples: Any) -> list[Mapping[str, Any]]:
    """Return the samples one by one, with every argument."""
    if isinstance(samples, Mapping):
        strange = sorted(set(samples) ^ set(kernel.arguments))
        if strange:
            raise InputError(
                f"calibrate: samples of exactly {', '.join(kernel.arguments)} are needed; see {strange[0]}"
            )
        arrays = {name: as_array(values, f"samples of {name}") for name, values in samples.items()}
        flat = [name for name, array in arrays.items() if array.ndim == 0]
        if flat:
            raise InputError(f"calibrate: samples of {flat[0]} are one number; the first axis counts the samples")
        counts = {name: len(array) for name, array in arrays.items()}
        if len(set(counts.values())) > 1:
            told = ", ".join(f"{count} of {name}" for name, count in counts.items())
            raise InputError(f"calibrate: as many samples of every argument are needed, there are {told}")
        found: list[Mapping[str, Any]] = [
            {name: array[number] for name, array in arrays.items()} for number in range(next(iter(counts.values()), 0))
        ]
    elif isinstance(samples, Sequence) and all(isinstance(row, Mapping) for row in samples):
        found = list(samples)
    else:
        raise InputError("calibrate: samples are a mapping of arrays, {'x': rows}, or a list of mappings")
    if not found:
        raise InputError("calibrate: no samples; give at least one")
    return found


def _narrowed(argument: Argument, values: Sequence[Array], margin: float, *, exact: bool) -> Argument:
    """Return an argument with the range of its values, widened by the margin, inside its own."""
    parts = [part for value in values for part in ((value.real, value.imag) if argument.complex else (value,))]
    low, high = min(part.min() for part in parts), max(part.max() for part in parts)
    ends = widened(low, high, margin, exact=exact)
    made = copy.copy(argument)
    made.low, made.high = max(argument.low, ends[0]), min(argument.high, ends[1])
    return made
