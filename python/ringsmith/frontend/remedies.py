# SPDX-License-Identifier: Apache-2.0
"""Remedies that are code: what computes a refused operation by `rs.approximate`, or at the client by `rs.refresh`.

In the code x and y are the operands, A and B the ends of a range, G the gap; `test_remedies.py` executes every line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Kinds of traced values, as `Refusing._numbers` tells them.
REALS, INTEGERS, COMPLEX, QUOTIENT, MANUAL = "reals", "integers", "complex", "quotient", "manual"

_ELSEWHERE = {
    COMPLEX: "treat z.real and z.imag apart",
    QUOTIENT: "use the sum, and divide after decryption",
    MANUAL: "an automatic kernel has rs.approximate and rs.refresh for it, a manual one sums, products and rotations",
}


@dataclass(frozen=True)
class Remedy:
    """Code that does it: at the client, where BFV's integers may need another line, and for reals by a polynomial."""

    client: str
    approximate: str = ""
    integers: str = ""

    def codes(self, numbers: str) -> tuple[str, ...]:
        """Return the code for reals or integers."""
        if numbers == INTEGERS:
            return (self.integers or self.client,)
        return (self.approximate, self.client) if self.approximate else (self.client,)

    def words(self, numbers: str) -> str:
        """Return the remedy as it stands in a message."""
        if numbers in _ELSEWHERE:
            return _ELSEWHERE[numbers]
        first, *second = self.codes(numbers)
        if second:
            return f"approximate it: {first}, or let the client compute it: {second[0]}"
        return f"let the client compute it: {first}"


def _client(function: str, ends: str = "low=A, high=B", of: str = "x") -> str:
    return f"rs.refresh({of}, {function}, {ends})"


def _rounded(expression: str, approximate: str = "", of: str = "x") -> Remedy:
    """Return the remedy of a function with fractions, which integers round."""
    whole = _client(f"lambda v: np.rint({expression})", of=of)
    return Remedy(_client(f"lambda v: {expression}", of=of), approximate, whole)


_BOTH = "rs.stack([x, y])"
_TRUTH = "low=0, high=1"


def _compared(sign: str, approximate: str = "") -> Remedy:
    return Remedy(_client(f"lambda v: v {sign} 0", _TRUTH, "x - y"), approximate)


def _equal(sign: str, near: str) -> Remedy:
    """Return the remedy of an equality: reals that have been encrypted are equal up to a gap."""
    return Remedy(
        _client(f"lambda v: np.abs(v) {near} G", _TRUTH, "x - y"), "", _client(f"lambda v: v {sign} 0", _TRUTH, "x - y")
    )


_ABOVE = 'rs.approximate("positive", A, B, gap=G)(x - y)'
_BELOW = 'rs.approximate("positive", A, B, gap=G)(y - x)'
COMPARISONS = {
    "==": _equal("==", "<"), "!=": _equal("!=", ">="), "<": _compared("<", _BELOW), "<=": _compared("<=", _BELOW),
    ">": _compared(">", _ABOVE), ">=": _compared(">=", _ABOVE),
}  # fmt: skip
FLOORED = Remedy(_client("lambda v: v[0] // v[1]", of=_BOTH))
REMAINDER = Remedy(_client("lambda v: v[0] % v[1]", of=_BOTH))
DIVMOD = Remedy(_client("lambda v: np.stack(divmod(v[0], v[1]))", of=_BOTH))
DIVIDED = _rounded("v[0] / v[1]", of=_BOTH, approximate='x * rs.approximate("inverse", A, B)(y)')
INVERSE = _rounded("1 / v", 'rs.approximate("inverse", A, B)(x)')
EXPONENT = Remedy(_client("lambda v: 2**v"), "rs.approximate(lambda v: 2**v, A, B)(x)")
ROOT = _rounded("v**0.5", "rs.approximate(lambda v: v**0.5, A, B)(x)")
ABSOLUTE = Remedy(_client("np.abs", "low=0, high=B"), 'rs.approximate("abs", A, B)(x)')
ROUNDED = {name: Remedy(_client(f"np.{name}")) for name in ("round", "trunc", "floor", "ceil", "rint")}
FOUND = Remedy(_client("lambda v: np.any(np.abs(v - 1) < G)", _TRUTH), "", _client("lambda v: np.any(v == 1)", _TRUTH))
LARGER = Remedy(_client("lambda v: v.max(axis=0)", of=_BOTH), 'y + rs.approximate("relu", A, B)(x - y)')
SMALLER = Remedy(_client("lambda v: v.min(axis=0)", of=_BOTH), 'y - rs.approximate("relu", A, B)(y - x)')
NORM = _rounded("np.linalg.norm(v)", "rs.approximate(np.sqrt, A, B)((x**2).sum())")
CLIPPED = Remedy(_client("lambda v: np.clip(v, 0, 1)"), "rs.approximate(lambda v: np.clip(v, 0, 1), A, B)(x)")

#: numpy's functions that take a whole tensor.
WHOLE = {
    **{name: Remedy(_client("np.max")) for name in ("max", "amax", "nanmax")},
    **{name: Remedy(_client("np.min")) for name in ("min", "amin", "nanmin")},
    "ptp": Remedy(_client("np.ptp", "low=0, high=2 * B")),
    "median": _rounded("np.median(v)"),
    "sort": Remedy(_client("np.sort")),
    **{name: Remedy(_client(f"np.{name}", "low=0, high=x.size - 1")) for name in ("argmax", "argmin", "argsort")},
    "norm": NORM,
    "clip": CLIPPED,
    "round": ROUNDED["round"],
}
#: Ufuncs that have remedies of their own.
_UFUNCS: dict[str, Remedy] = {
    "equal": COMPARISONS["=="], "not_equal": COMPARISONS["!="], "less": COMPARISONS["<"],
    "less_equal": COMPARISONS["<="], "greater": COMPARISONS[">"], "greater_equal": COMPARISONS[">="],
    "floor_divide": FLOORED, "remainder": REMAINDER, "divmod": DIVMOD, "absolute": ABSOLUTE, "fabs": ABSOLUTE,
    "maximum": LARGER, "fmax": LARGER, "minimum": SMALLER, "fmin": SMALLER,
    **{name: ROUNDED[name] for name in ("rint", "floor", "ceil", "trunc")},
    "sign": Remedy(_client("np.sign", "low=-1, high=1"), 'rs.approximate("sign", A, B, gap=G)(x)'),
    "clip": CLIPPED,
}  # fmt: skip
BITS = "for values 0 and 1, x * y is and, x + y - x * y is or, x + y - 2 * x * y is xor, 1 - x is not"
SHIFTS = "x * 2**k is a shift to the left by k; to the right " + FLOORED.words(INTEGERS)
_FINITE = "every value is a finite number, arguments are checked; leave the question out"
#: Ufuncs with a remedy in words: sums and products compute them, or an encrypted value needs no such question.
TOLD = {
    **dict.fromkeys(("isnan", "isinf", "isfinite", "isnat"), _FINITE),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "invert"), BITS),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "logical_not"), BITS),
    **dict.fromkeys(("left_shift", "right_shift"), SHIFTS),
    "float_power": "use x**2, x**3 and so on",
}
_OF_INTEGERS = ("gcd", "lcm", "ldexp", "bitwise_count")


def of_ufunc(ufunc: Any, numbers: str) -> str:
    """Return the remedy for a refused ufunc."""
    name = ufunc.__name__
    if name in TOLD:
        return TOLD[name]
    if name in _OF_INTEGERS and numbers == REALS:
        return 'it is one of integers: scheme="bfv" computes on those'
    return remedy_of_ufunc(ufunc).words(numbers)


def remedy_of_ufunc(ufunc: np.ufunc) -> Remedy:
    """Return the code that does what a ufunc does."""
    name = ufunc.__name__
    if name in _UFUNCS:
        return _UFUNCS[name]
    own = f"np.{name}(v)" if ufunc.nin == 1 else f"np.{name}(v[0], v[1])"
    if ufunc.nout > 1:
        own = f"np.stack({own})"
    if ufunc.nin > 1 or ufunc.nout > 1:
        return _rounded(own, of="x" if ufunc.nin == 1 else _BOTH)
    return _rounded(own, f"rs.approximate(np.{name}, A, B)(x)")


# ------------------------------------------------------------------------------------------------ norms

#: Norms, and the arguments after the tensor in their order.
NORMS: dict[Any, tuple[str, ...]] = {
    np.linalg.norm: ("ord", "axis", "keepdims"),
    np.linalg.vector_norm: ("axis", "keepdims", "ord"),
    np.linalg.matrix_norm: ("keepdims", "ord"),
}


def of_norm(function: Any, ndim: int, given: dict[str, Any]) -> Remedy:
    """Return the code of a norm of a tensor of `ndim` axes: the root of a sum, where it is one."""
    told = ", ".join(f"{name}={_shown(value)}" for name, value in given.items())
    whole = f"np.linalg.{function.__name__}({', '.join(filter(None, ('v', told)))})"
    return _rounded(whole, _norm_by_sums(function, ndim, given)) if told else NORM


def _norm_by_sums(function: Any, ndim: int, given: dict[str, Any]) -> str:
    """Return the code of a norm by a sum of powers or of absolute values, nothing if it is none."""
    axis, order = given.get("axis"), given.get("ord")
    over = {"axis": (-2, -1) if function is np.linalg.matrix_norm else axis, "keepdims": given.get("keepdims")}
    stated = [f"{name}={value!r}" for name, value in over.items() if value is not None and value is not False]
    summed = f"sum({', '.join(stated)})"
    of_matrices = function is np.linalg.matrix_norm or (
        function is np.linalg.norm and (isinstance(axis, tuple | list) or (axis is None and ndim == 2))
    )
    if order is None or (of_matrices and order == "fro") or (not of_matrices and order == 2):
        return f"rs.approximate(np.sqrt, A, B)((x**2).{summed})"
    if of_matrices or not isinstance(order, int | float) or order not in (1, 4, 6, 8):
        return ""
    if order == 1:
        return f'rs.approximate("abs", A, B)(x).{summed}'
    return f"rs.approximate(lambda v: v ** (1 / {order:.0f}), A, B)((x**{order:.0f}).{summed})"


def _shown(value: Any) -> str:
    return f"{'-' * (value < 0)}np.inf" if isinstance(value, float) and np.isinf(value) else repr(value)
