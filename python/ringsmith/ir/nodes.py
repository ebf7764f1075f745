# SPDX-License-Identifier: Apache-2.0
"""Making nodes of the graph: shape, secrecy and bounds of each operation's result, with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, KernelError
from ringsmith.ir import bounds
from ringsmith.ir.bounds import Interval
from ringsmith.ir.clear_function import ClearFunction
from ringsmith.ir.graph import Node, Op, Reals, Shape, frozen
from ringsmith.ir.numbers import integers, magnitude, reals
from ringsmith.location import Location

_ELEMENTWISE = {Op.ADD: bounds.add, Op.SUB: bounds.subtract, Op.MULTIPLY: bounds.multiply}


def constant(value: Any, where: Location, *, exact: bool) -> Node:
    """Return a node of known finite values: exact integers, or reals."""
    try:
        array = (integers if exact else reals)(value, "a constant")
    except InputError as error:
        raise KernelError(str(error), where) from None
    if magnitude(array) >= bounds.CAP:
        raise KernelError("a constant of more than 4096 bits", where)
    return _known(array, where)


def _known(array: Reals, where: Location) -> Node:
    return Node(Op.CONSTANT, (), array.shape, False, array, array, where, frozen({"value": array}))


def unary(op: Op, node: Node, interval: Interval, where: Location, **attributes: Any) -> Node:
    """Make a node of one argument."""
    low, high = interval
    return Node(op, (node,), low.shape, node.encrypted, low, high, where, frozen(attributes))


def elementwise(op: Op, a: Node, b: Node, where: Location) -> Node:
    """Make a sum, difference or product."""
    shape = broadcast(op, a.shape, b.shape, where)
    same = a is b
    if same and op is Op.MULTIPLY:
        low, high = bounds.power(interval(a), 2)
    else:
        low, high = _ELEMENTWISE[op](interval(a), interval(b))
    return Node(op, (a, b), shape, a.encrypted or b.encrypted, low, high, where)


def broadcast(op: Any, a: Shape, b: Shape, where: Location) -> Shape:
    """Return the shape that two shapes broadcast to."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise KernelError(f"{op}: shapes {a} and {b} do not fit together", where) from None


def power(node: Node, exponent: int, where: Location) -> Node:
    """Make an integer power, exponent >= 1."""
    return unary(Op.POWER, node, bounds.power(interval(node), exponent), where, exponent=exponent)


def negate(node: Node, where: Location) -> Node:
    """Make the negative."""
    return unary(Op.NEGATE, node, bounds.negate(interval(node)), where)


def total(node: Node, axis: int | None, where: Location) -> Node:
    """Make a sum along an axis counted from 0, or over everything."""
    return unary(Op.SUM, node, bounds.total(interval(node), axis), where, axis=axis)


def matmul(a: Node, b: Node, where: Location) -> Node:
    """Make a product of matrices or vectors."""
    fits = len(a.shape) in (1, 2) and len(b.shape) in (1, 2) and a.shape[-1] == b.shape[0]
    if not fits:
        raise KernelError(
            f"matmul: shapes {a.shape} and {b.shape}; vectors or matrices with a common inner extent", where
        )
    low, high = bounds.matmul(interval(a), interval(b))
    return Node(Op.MATMUL, (a, b), low.shape, a.encrypted or b.encrypted, low, high, where)


def linear(x: Node, weights: Node, entries: Mapping[str, Any], shape: Shape, where: Location) -> Node:
    """Make a linear map by its entries: element `rows[e]` gets `weights[picks[e]]` times element `columns[e]` of x.

    `entries`: these three, and `stride` (`ringsmith.ir.sparse_map`). Reals only; weights (count,) are plain.
    """
    if x.exact:
        raise KernelError("a linear map by its entries belongs to CKKS; BFV takes a matrix: x @ matrix", where)
    low, high = bounds.linear(interval(x), interval(weights), entries, shape)
    return Node(Op.LINEAR, (x, weights), shape, x.encrypted, low, high, where, frozen(dict(entries)))


def gather(node: Node, picked: NDArray[np.intp], where: Location) -> Node:
    """Make a view: element e of the result is element `picked[e]` (row-major) of the argument."""
    if picked.size == 0:
        raise KernelError(f"a selection from shape {node.shape} leaves no element", where)
    if node.op is Op.CONSTANT:
        return _known(_pick([node.low], picked), where)
    return unary(Op.INDEX, node, (_pick([node.low], picked), _pick([node.high], picked)), where, gather=picked)


def join(parts: Sequence[Node], picked: NDArray[np.intp], where: Location) -> Node:
    """Join tensors: element e of the result is element `picked[e]` of all parts, row-major, end to end."""
    if picked.size == 0:
        raise KernelError("a join leaves no element", where)
    low, high = _pick([node.low for node in parts], picked), _pick([node.high for node in parts], picked)
    encrypted = any(node.encrypted for node in parts)
    return Node(Op.JOIN, tuple(parts), low.shape, encrypted, low, high, where, frozen({"gather": picked}))


def _pick(parts: Sequence[Reals], picked: NDArray[np.intp]) -> Reals:
    """Return elements of arrays laid end to end."""
    flat = parts[0].reshape(-1) if len(parts) == 1 else np.concatenate([part.reshape(-1) for part in parts])
    return np.asarray(flat[picked], dtype=flat.dtype)


def polynomial(node: Node, coefficients: Sequence[Any], where: Location) -> Node:
    """Make a polynomial; constant term first, the last coefficient not zero, degree >= 1."""
    found = bounds.polynomial(interval(node), coefficients)
    return unary(Op.POLYNOMIAL, node, found, where, coefficients=tuple(coefficients))


def chebyshev(node: Node, coefficients: Sequence[float], low: float, high: float, where: Location) -> Node:
    """Make sum_k c_k T_k(u), u = (2 x - low - high) / (high - low): x is promised to lie in low..high; degree >= 1."""
    if (node.low > high).any() or (node.high < low).any():
        raise KernelError(
            f"a polynomial on [{low:g}, {high:g}]: values are sure to lie outside, the argument's range is "
            f"[{node.low.min():g}, {node.high.max():g}]; widen the interval or shift the argument",
            where,
        )
    least, most = bounds.chebyshev(coefficients)
    found = (np.full(node.shape, least), np.full(node.shape, most))
    return unary(Op.CHEBYSHEV, node, found, where, coefficients=tuple(coefficients), low=low, high=high)


def within(
    node: Node, bound: Any, where: Location, *, bootstraps: bool = False, error: float | None = None
) -> Node:  # fmt: skip
    """Make a promise that magnitudes are at most `bound`, and errors at most `error`; one that `bootstraps` is where
    ciphertexts are refreshed."""
    found = bounds.limit(interval(node), bound)
    if found is None:
        raise KernelError(f"within: the promise |value| <= {bound} cannot hold, larger values are sure to occur", where)
    marks: dict[str, Any] = {"bootstraps": True} if bootstraps else {}
    if error is not None:
        marks["error"] = error
    return unary(Op.WITHIN, node, found, where, bound=bound, **marks)


def refresh(node: Node, function: ClearFunction, packing: str, where: Location) -> Node:
    """Make a value that the client computes in the clear and encrypts."""
    ends = (integers if function.exact else reals)([function.low, function.high], function.name)
    low, high = (np.full(function.shape, end, dtype=ends.dtype) for end in ends)
    return unary(Op.REFRESH, node, (low, high), where, function=function, packing=packing)


def interval(node: Node) -> Interval:
    """Return the bounds of a node."""
    return node.low, node.high
