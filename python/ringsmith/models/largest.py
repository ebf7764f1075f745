# SPDX-License-Identifier: Apache-2.0
"""The largest value of windows (`MaxPool`, `GlobalMaxPool`) by max(a, b) = (a + b)/2 + |a - b|/2.

Axis by axis, and along an axis pair by pair: k places take as many rounds one after the other as k - 1 has bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.graph import Shape
from ringsmith.ir.sparse_map import SparseMap, sparse_map
from ringsmith.models.network import Activation, Sum, Value, affine, scaling
from ringsmith.models.operators import with_pads

POOLINGS = ("MaxPool", "GlobalMaxPool")


def largest(kind: str, attributes: Mapping[str, Any], argument: Value, given: Shape, made: Shape, layer: str) -> Value:
    """Return the largest values of an operator's windows; padding counts as smaller than any value."""
    kernel: Shape = given[1:] if kind == "GlobalMaxPool" else tuple(attributes["kernel_shape"])
    axes = len(kernel)
    facts: dict[str, Any] = {} if kind == "GlobalMaxPool" else with_pads(attributes, kernel, given[1:])
    strides, dilations = (facts.get(name) or [1] * axes for name in ("strides", "dilations"))
    pads = facts.get("pads") or [0] * axes
    value, shape = argument, given
    for axis in range(axes):
        place = np.arange(made[axis + 1])[None] * strides[axis] + np.arange(kernel[axis])[:, None] * dilations[axis]
        places = _inside(place - pads[axis], given[axis + 1])
        after = (*shape[: axis + 1], made[axis + 1], *shape[axis + 2 :])
        if len(places) == 1 and after == shape:
            continue
        value = _along(value, [_selection(shape, after, axis + 1, one) for one in places], f"{layer}.{axis}")
        shape = after
    return value


def _inside(places: NDArray[np.intp], extent: int) -> list[NDArray[np.intp]]:
    """Return the places of each step of a kernel, one that sticks out replaced by one of its window that does not;
    steps that bring nothing new left out."""
    inside = (places >= 0) & (places < extent)
    first = np.take_along_axis(places, inside.argmax(axis=0)[None], axis=0)
    held = np.where(inside, places, first)
    return list({one.tobytes(): one for one in held}.values())


def _selection(given: Shape, made: Shape, axis: int, places: NDArray[np.intp]) -> SparseMap:
    """Return the map that picks some places of an axis."""
    columns = np.take(np.arange(math.prod(given)).reshape(given), places, axis=axis).reshape(-1)
    strides = np.unique(np.diff(places))
    step = int(strides[0]) if len(strides) == 1 and strides[0] > 0 else 1
    images = len(given) == 3
    stride = (step if images and axis == 1 else 1, step if images and axis == 2 else 1)
    return sparse_map(given, made, np.arange(len(columns)), columns, np.ones(len(columns)), stride)


def _along(value: Value, selections: list[SparseMap], layer: str) -> Value:
    """Return the largest of some selections of a value."""
    parts: list[Value] = [affine(value, one, np.zeros(one.height)) for one in selections]
    number = 0
    while len(parts) > 1:
        pairs, rest = list(zip(parts[::2], parts[1::2], strict=False)), parts[len(parts) // 2 * 2 :]
        own = []
        for a, b in pairs:
            own.append(_larger(a, b, f"{layer}.{number}"))
            number += 1
        parts = own + rest
    return parts[0]


def _larger(a: Value, b: Value, layer: str) -> Value:
    """Return the larger of each two elements."""
    half, less, none = scaling(np.full(a.size, 0.5)), scaling(np.full(b.size, -0.5)), np.zeros(a.size)
    middle = Sum(affine(a, half, none), affine(b, half, none))
    return Sum(middle, Activation(Sum(affine(a, half, none), affine(b, less, none)), "abs", layer))
