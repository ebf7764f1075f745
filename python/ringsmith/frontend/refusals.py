# SPDX-License-Identifier: Apache-2.0
"""Unsupported operations of traced values, and their remedies.

Python falls back to something plausible where an object does not define a protocol: `==` to identity, `in` to a search,
`out[i] = x` to a conversion. `Refusing` defines them all, so that none gives a plain answer about an encrypted value.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ringsmith.errors import KernelError
from ringsmith.location import here

APPROXIMATE = "approximate it: rs.approximate(function, low, high, degree=15)(x)"
_BITS = "for values 0 and 1, a * b is and, a + b - a * b is or, 1 - a is not"
_KNOWN = "indices, counts and exponents must be known while tracing"
_INSIDE = "decrypt the result first; inside a kernel keep it a tensor"
_CONVERTED = "join tensors with rs.stack, and convert numbers after decryption"
_BUILD = "tensors are not changed in place; build the result with rs.stack or rs.concatenate"
#: A numpy array cannot hold an encrypted value.
IN_ARRAY = ("a place in a numpy array (np.array, out[i] = x)", "join tensors with rs.stack or rs.concatenate")

_COMPARISONS = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_BIT_OPERATORS = {"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}
_QUOTIENTS = {"floordiv": "floor division (//)", "mod": "a remainder (%)", "divmod": "divmod()"}

#: The meaning of each refused method, and the remedy.
PROTOCOLS: dict[str, tuple[str, str]] = {
    **{name: (f"comparisons ({sign})", APPROXIMATE) for name, sign in _COMPARISONS.items()},
    **{f"__{r}{name}__": (f"a bit operation ({s})", _BITS) for name, s in _BIT_OPERATORS.items() for r in ("", "r")},
    **{f"__{r}{name}__": (what, APPROXIMATE) for name, what in _QUOTIENTS.items() for r in ("", "r")},
    "__invert__": ("a bit operation (~)", _BITS),
    "__rtruediv__": (
        "a division by it (1 / x)",
        'approximate its inverse: rs.approximate("inverse", low, high, degree=15)(x)',
    ),
    "__rpow__": ("a power with it as exponent", APPROXIMATE),
    "__abs__": ("abs()", "use rs.abs_squared(x), or " + APPROXIMATE),
    "__round__": ("round()", APPROXIMATE),
    "__trunc__": ("math.trunc()", APPROXIMATE),
    "__floor__": ("math.floor()", APPROXIMATE),
    "__ceil__": ("math.ceil()", APPROXIMATE),
    "__bool__": ("a branch (if, while, and, or, not)", "compute both sides and combine them"),
    "__contains__": ("a search (in)", APPROXIMATE),
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
    **dict.fromkeys(("tril", "triu", "diag", "diagflat", "fill_diagonal", "insert", "place"), _MASK),
    **dict.fromkeys(("prod", "cumprod", "nanprod"), "multiply the parts: (x[0] * x[1]) * (x[2] * x[3])"),
    "cumulative_sum": "use np.cumsum",
    "std": 'take an approximate root of the variance: rs.approximate("sqrt", low, high, degree=15)(x.var())',
    **dict.fromkeys(("einsum", "tensordot", "vdot", "kron", "convolve", "correlate"), _SUMS),
    **dict.fromkeys(("max", "min", "amax", "amin", "sort", "argmax", "argmin", "argsort", "clip"), APPROXIMATE),
    **dict.fromkeys(("zeros_like", "ones_like", "full_like", "empty_like"), "use np.zeros(x.shape) and the like"),
    **dict.fromkeys(("fill", "put", "copyto", "putmask", "itemset", "resize", "flat"), _BUILD),
    **dict.fromkeys(("item", "tolist", "tobytes", "tofile", "save", "data"), _INSIDE),
    **dict.fromkeys(("dtype", "astype", "view"), "a traced tensor has no element type; leave conversions out"),
}


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

    def __format__(self, spec: str) -> str:
        """Refuse a format for numbers; without one, tell what this is."""
        if spec:
            refuse("formatting", _INSIDE, encrypted=self._is_encrypted)
        return repr(self)

    def __getattr__(self, name: str) -> Any:
        """Refuse what numpy arrays have and traced values lack."""
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise KernelError(f"ndarray.{name} is not supported in kernels; {REMEDIES.get(name, DEFAULT_REMEDY)}", here())


def refusal(what: str, remedy: str) -> Any:
    """Return a method that refuses."""

    def method(self: Refusing, *_args: Any, **_kwargs: Any) -> NoReturn:
        refuse(what, remedy, encrypted=self._is_encrypted)

    return method


for _name, (_what, _remedy) in PROTOCOLS.items():
    setattr(Refusing, _name, refusal(_what, _remedy))
