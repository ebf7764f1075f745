# SPDX-License-Identifier: Apache-2.0
"""Expressions of figures: names, numbers, `+ - * /` and brackets, with spaces between them."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

from ringsmith.errors import InputError

_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_OWN = re.compile(r"[-+*/()]|\d+(\.\d+)?")
#: Words of an expression: more than any figure needs, few enough to be parsed safely.
LONGEST = 100


def names_in(expression: str) -> list[str]:
    """Return the names of figures in an expression."""
    return [word for word in expression.split() if not _OWN.fullmatch(word)]


def evaluate(expression: str, value_of: Callable[[str], float]) -> float:
    """Return the value of an expression, its names looked up by `value_of`.

    Raises:
        InputError: it is no sum, difference, product or quotient of figures, or divides by zero.
    """
    words = expression.split()
    if len(words) > LONGEST:
        raise InputError(f"an expression of {len(words)} words; the most are {LONGEST}")
    text = " ".join(word if _OWN.fullmatch(word) else f"({value_of(word)!r})" for word in words)
    try:
        return _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise InputError(f"'{expression}' cannot be read: {error}") from None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    raise InputError("it is no sum, difference, product or quotient of figures")
