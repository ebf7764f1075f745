# SPDX-License-Identifier: Apache-2.0
"""Unsupported operations of traced values, and their remedies.

Python falls back to something plausible where an object does not define a protocol: `==` to identity, `in` to a search,
`out[i] = x` to a conversion. `Refusing` defines them all, so that none gives a plain answer about an encrypted value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from ringsmith.errors import KernelError
from ringsmith.frontend.remedies import (
    ABSOLUTE,
    BITS,
    COMPARISONS,
    DIVMOD,
    EXPONENT,
    FLOORED,
    FOUND,
    INVERSE,
    MANUAL,
    REALS,
    REMAINDER,
    ROUNDED,
    SHIFTS,
    WHOLE,
    Remedy,
)
from ringsmith.location import here

_KNOWN = "indices, counts and exponents must be known while tracing"
_INSIDE = "decrypt the result first; inside a kernel keep it a tensor"
_CONVERTED = "join tensors with rs.stack, and convert numbers after decryption"
_BUILD = "tensors are not changed in place; build the result with rs.stack or rs.concatenate"
#: A numpy array cannot hold an encrypted value.
IN_ARRAY = ("a place in a numpy array (np.array, out[i] = x)", "join tensors with rs.stack or rs.concatenate")

_COMPARISONS = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_BIT_OPERATORS = {"and": "&", "or": "|", "xor": "^"}
_SHIFT_OPERATORS = {"lshift": "<<", "rshift": ">>"}
_QUOTIENTS = {
    "floordiv": ("floor division (//)", FLOORED),
    "mod": ("a remainder (%)", REMAINDER),
    "divmod": ("divmod()", DIVMOD),
}
_BRANCH = "compute both sides and combine them by c in {0, 1}: c * x + (1 - c) * y"

#: The meaning of each refused method, and the remedy: words, or code by kind of values.
PROTOCOLS: dict[str, tuple[str, str | Remedy]] = {
    **{name: (f"comparisons ({sign})", COMPARISONS[sign]) for name, sign in _COMPARISONS.items()},
    **{f"__{r}{name}__": (f"a bit operation ({s})", BITS) for name, s in _BIT_OPERATORS.items() for r in ("", "r")},
    **{f"__{r}{name}__": (f"a shift ({s})", SHIFTS) for name, s in _SHIFT_OPERATORS.items() for r in ("", "r")},
    **{f"__{r}{name}__": meant for name, meant in _QUOTIENTS.items() for r in ("", "r")},
    "__invert__": ("a bit operation (~)", BITS),
    "__rtruediv__": ("a division by it (1 / x)", INVERSE),
    "__rpow__": ("a power with it as exponent", EXPONENT),
    "__abs__": ("abs()", ABSOLUTE),
    "__round__": ("round()", ROUNDED["round"]),
    "__trunc__": ("math.trunc()", ROUNDED["trunc"]),
    "__floor__": ("math.floor()", ROUNDED["floor"]),
    "__ceil__": ("math.ceil()", ROUNDED["ceil"]),
    "__bool__": ("a branch (if, while, and, or, not)", _BRANCH),
    "__contains__": ("a search (in)", FOUND),
    "__hash__": ("a place in a dictionary or set", "use a name or a number as the key"),
    "__index__": ("a use as index or count", _KNOWN),
    "__int__": ("int(), or a place in an array (out[i] = x),", _CONVERTED),
    "__float__": ("float(), or a place in an array (out[i] = x),", _CONVERTED),
    "__complex__": ("complex(), or a place in an array (out[i] = x),", _CONVERTED),
    "__bytes__": ("bytes()", _INSIDE),
    "__setitem__": ("an assignment to elements (x[i] = ...)", _BUILD),
    "__delitem__": ("a deletion of elements", _BUILD),
    "__reduce_ex__": ("pickling", "a traced value lives only while its kernel is traced"),
}


#: The remedy where there is no better one.
DEFAULT_REMEDY = "`ringsmith help python` lists what is"
_MASK = "multiply by a mask known while tracing"
_SUMS = "write it with rs.sum and products"

#: Remedies for numpy's functions and methods that are refused, by name.
REMEDIES: dict[str, str] = {
    **dict.fromkeys(("fill_diagonal", "place"), _MASK),
    **dict.fromkeys(("cumprod", "nanprod"), "multiply the parts: (x[0] * x[1]) * (x[2] * x[3])"),
    "cumulative_sum": "use np.cumsum",
    "std": "take the root of x.var(): after decryption, or in CKKS rs.approximate(np.sqrt, A, B)(x.var())",
    **{
        f"{name}{axes}": f"transform one axis after the other: np.fft.{name}(np.fft.{name}(x, axis=-1), axis=-2)"
        for name in ("fft", "ifft")
        for axes in ("2", "n")
    },
    "corrcoef": "take np.cov(x), and divide it after decryption: c / np.sqrt(np.outer(c.diagonal(), c.diagonal()))",
    **dict.fromkeys(("tensordot", "vdot", "einsum_path"), _SUMS),
    **dict.fromkeys(("zeros_like", "ones_like", "full_like", "empty_like"), "use np.zeros(x.shape) and the like"),
    **dict.fromkeys(("fill", "put", "copyto", "putmask", "itemset", "resize", "flat"), _BUILD),
    **dict.fromkeys(("item", "tolist", "tobytes", "tofile", "save", "data"), _INSIDE),
    **dict.fromkeys(("dtype", "astype", "view"), "a traced tensor has no element type; leave conversions out"),
}


def remedy_for(name: str, value: Any, *, default: str = DEFAULT_REMEDY) -> str:
    """Return the remedy for a refused function or method of numpy by name, for a traced value among its operands."""
    return WHOLE[name].words(numbers_of([value])) if name in WHOLE else REMEDIES.get(name, default)


def numbers_of(values: Iterable[Any]) -> str:
    """Return the kind of numbers that the first traced value has."""
    parts = (part for value in values for part in (value if isinstance(value, list | tuple) else (value,)))
    return next((part._numbers for part in parts if isinstance(part, Refusing)), REALS)


def refuse(what: str, remedy: str, *, encrypted: bool) -> NoReturn:
    """Raise the error for something that needs the value."""
    if encrypted:
        raise KernelError(f"{what} cannot be computed on an encrypted value; {remedy}", here())
    raise KernelError(
        f"{what} cannot be traced on a plain argument, which is known only when the program runs; "
        "compute it beforehand and pass the result as an argument of its own",
        here(),
    )


class Refusing:
    """A traced value: refuses every protocol that would need to know it."""

    __slots__ = ()

    @property
    def _is_encrypted(self) -> bool:
        return True

    @property
    def _numbers(self) -> str:
        """The kind of numbers: what a remedy has to fit."""
        return MANUAL

    def __format__(self, spec: str) -> str:
        """Refuse a format for numbers; without one, tell what this is."""
        if spec:
            refuse("formatting", _INSIDE, encrypted=self._is_encrypted)
        return repr(self)

    def __getattr__(self, name: str) -> Any:
        """Refuse what numpy arrays have and traced values lack."""
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise KernelError(f"ndarray.{name} is not supported in kernels; {remedy_for(name, self)}", here())


def refusal(what: str, remedy: str | Remedy) -> Any:
    """Return a method that refuses."""

    def method(self: Refusing, *_args: Any, **_kwargs: Any) -> NoReturn:
        words = remedy.words(self._numbers) if isinstance(remedy, Remedy) else remedy
        refuse(what, words, encrypted=self._is_encrypted)

    return method


for _name, (_what, _remedy) in PROTOCOLS.items():
    setattr(Refusing, _name, refusal(_what, _remedy))
