# SPDX-License-Identifier: Apache-2.0
"""Numbers as users give them, as arrays: reals in float64, integers exactly.

Exact integers are int64 where a caller's limit allows, else Python's own in an object array; no integer passes through
a float on the way. What numpy would take with another meaning (masked arrays, matrices) is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError

Array = NDArray[Any]

#: Results below this can be added and subtracted once more in int64.
INT64_LIMIT = 1 << 62
_PLAIN_CLASSES = (np.ndarray, np.memmap)


def as_array(value: Any, name: str) -> Array:
    """Return a value as numpy sees it; refuse ragged lists and types with operators of their own."""
    _refuse_subclasses(value, name)
    try:
        return np.asarray(value)
    except ValueError as error:
        ragged = "rows of different lengths" if "inhomogeneous" in str(error) else str(error)
        raise InputError(f"{name}: {ragged}; an array of one shape is needed") from None
    except (TypeError, OverflowError) as error:
        raise InputError(f"{name}: {error}; numbers are needed") from None


def _refuse_subclasses(value: Any, name: str) -> None:
    """Refuse subclasses of ndarray, in lists too: a mask would be dropped, a matrix multiplies otherwise."""
    if isinstance(value, list | tuple):
        for part in value:
            if isinstance(part, list | tuple | np.ndarray):
                _refuse_subclasses(part, name)
    elif isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name}: a masked array, whose mask would be lost; fill it first: a.filled(0)")
    elif isinstance(value, np.ndarray) and type(value) not in _PLAIN_CLASSES:
        raise InputError(f"{name}: a {type(value).__name__} has operators of its own; use np.asarray(a) first")


def _for_complex(array: Array) -> str:
    if array.dtype.kind != "c":
        return ""
    return "; CKKS takes complex ones where they are declared: rs.Encrypted(..., complex=True)"


def reals(value: Any, name: str) -> Array:
    """Return finite reals as float64."""
    array = as_array(value, name)
    if array.dtype == object and all(isinstance(item, int | float | np.number) for item in array.flat):
        array = _float64(array, name)
    if array.dtype.kind not in "bifu":
        raise InputError(f"{name}: {array.dtype} values; real numbers are needed{_for_complex(array)}")
    array = np.asarray(array, dtype=np.float64, order="C")
    _refuse_infinite(array, name)
    return array


def complexes(value: Any, name: str) -> Array:
    """Return finite complex numbers as complex128; reals have no imaginary part."""
    array = as_array(value, name)
    if array.dtype.kind != "c":
        return reals(value, name).astype(np.complex128)
    array = np.asarray(array, dtype=np.complex128, order="C")
    _refuse_infinite(array, name)
    return array


def _float64(array: Array, name: str) -> Array:
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise InputError(f"{name}: an integer beyond the range of float64") from None


def integers(value: Any, name: str) -> Array:
    """Return integers exactly, as int64 or object array; refuse fractions and floats that may have been rounded."""
    array = as_array(value, name)
    if array.dtype.kind == "f" and not isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value, dtype=object)  # A list that numpy joined to floats still has its integers.
    if array.dtype.kind == "f":
        return _whole(array, name)
    if array.dtype == object:
        return narrowed(_each_whole(array, name))
    if array.dtype.kind not in "biu":
        raise InputError(f"{name}: {array.dtype} values; real numbers are needed{_for_complex(array)}")
    return narrowed(array.astype(object)) if array.dtype == np.uint64 else np.asarray(array, dtype=np.int64, order="C")


def _whole(array: Array, name: str) -> Array:
    """Return floats that are integers, below the size from which floats no longer hold every integer."""
    _refuse_infinite(array, name)
    _refuse(array != np.floor(array), name, "is not an integer; BFV computes on integers")
    limit = 2.0 ** (np.finfo(array.dtype).nmant + 1)
    unsure = f"is so large that {array.dtype} does not hold every integer; give integers (int64, or Python's own)"
    _refuse(np.abs(array) >= min(limit, 2.0**62), name, unsure)
    return np.asarray(array, dtype=np.int64, order="C")


def _each_whole(array: Array, name: str) -> Array:
    """Return an object array of Python integers."""
    whole = np.empty(array.shape, dtype=object)
    for place, item in np.ndenumerate(array):
        where = f"{name}{list(place) if place else ''}"
        if isinstance(item, float | np.floating):
            item = _whole(np.asarray(item), where)
        if not isinstance(item, int | np.integer | np.bool | np.ndarray):
            raise InputError(f"{where}: a {type(item).__name__}; integers are needed")
        whole[place] = int(item)
    return whole


def narrowed(array: Array) -> Array:
    """Return an object array of integers as int64 where all are below the limit."""
    return array.astype(np.int64) if magnitude(array) < INT64_LIMIT else array


def magnitude(array: Array) -> Any:
    """Return the largest magnitude of an array: exact for integers."""
    if array.size == 0:
        return 0
    least, most = array.min(), array.max()
    return max(abs(int(least)), abs(int(most))) if exact(array) else float(max(abs(least), abs(most)))


def exact(array: Array) -> bool:
    """Return whether an array holds exact integers."""
    return array.dtype != np.float64


def residues(array: Array, modulus: int) -> Array:
    """Return integers modulo a modulus below 2^62, centred around 0, as int64."""
    if array.dtype.kind not in "biuO":
        raise AssertionError("BFV plaintexts hold exact integers")
    wide = array.astype(object) if array.dtype == np.uint64 else array
    reduced = np.asarray(np.mod(wide, modulus), dtype=np.int64)
    return np.where(reduced > modulus // 2, reduced - modulus, reduced)


def _refuse_infinite(array: Array, name: str) -> None:
    bad = ~np.isfinite(array)
    if bad.any():
        raise InputError(f"{name}{place_of(bad)} is {array[bad][0]}; every value must be finite")


def _refuse(bad: Array, name: str, reason: str) -> None:
    """Name the place of the first bad value, not the value: it may be a secret, and errors end in logs."""
    if bad.any():
        raise InputError(f"{name}{place_of(bad)} {reason}")


def place_of(mask: Array) -> str:
    """Return `[row, column]` of the first set element."""
    return str([int(i) for i in np.argwhere(mask)[0]]) if mask.ndim else ""
