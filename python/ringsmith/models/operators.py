# SPDX-License-Identifier: Apache-2.0
"""What linear operators of ONNX do, by their entries: convolutions, poolings, moves, scalings of elements.

Each map is compared with onnx's reference implementation on random numbers before it is taken; what has no form here,
or one that ONNX reads otherwise, is found from the reference on unit vectors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.graph import Shape
from ringsmith.ir.sparse_map import SparseMap, of_matrix, sparse_map

Array = NDArray[np.float64]
#: The affine function of samples (count, ...) that an operator is, by the reference.
Apply = Callable[[Array], Array]

_MOVES = (
    "Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Pad", "Slice", "Split", "Gather",
    "Tile", "Expand", "DepthToSpace", "SpaceToDepth", "Cast", "Concat",
)  # fmt: skip
_SCALINGS = ("BatchNormalization", "Neg", "Add", "Sub", "Mul", "Div")
_POOLINGS = ("AveragePool", "GlobalAveragePool")
_SUMS = ("ReduceMean", "ReduceSum")
#: Reals that may be scales, of which there is one for each axis.
_FEW = 16
#: Largest relative difference from the reference, which may compute in float32.
_CLOSE = 1e-5


def map_of(
    kind: str, attributes: Mapping[str, Any], constants: Sequence[Any], apply: Apply, given: Shape, shift: Array
) -> SparseMap | None:
    """Return the map of an operator that takes samples of a shape to `apply(x) - shift`; None if it has no form here.

    `constants`: its other inputs in order, None where left out. `shift` (1, ...): what it gives for zeros.
    """
    made = shift.shape[1:]
    found: SparseMap | None
    if kind == "Conv":
        found = _convolution(attributes, np.asarray(constants[0], dtype=np.float64), given, made)
    elif kind in _POOLINGS:
        found = _pooling(attributes, given, made, whole=kind == "GlobalAveragePool")
    elif kind in _MOVES:
        found = _move(apply, given, made, shift)
    elif kind in _SCALINGS and made == given:
        factors = (apply(np.ones((1, *given))) - shift).reshape(-1)
        every = np.arange(len(factors))
        found = sparse_map(given, made, every, every, factors)
    elif kind in _SUMS:
        found = _sum(apply, given, made, shift)
    else:
        return None
    return found if found is not None and agrees(found, apply, shift) else None


def elements_made(onnx: Any, node: Any, inputs: Mapping[str, Any], opsets: Any) -> int:
    """Return how many elements an operator makes of these inputs, the largest of its outputs, without computing it; 0
    where that is not known."""
    helper = onnx.helper
    if node.op_type == "Range":
        start, limit, step = (float(inputs[name]) for name in node.input)
        return math.ceil((limit - start) / step) if step else 0
    # Shapes, repeats and scales say how much is made; of the rest the shape is enough. Reals are of one type, as in the
    # file.
    held, declared = [], []
    for name, value in ((name, np.asarray(given)) for name, given in inputs.items()):
        real = value.dtype.kind == "f"
        if real and value.size > _FEW:
            declared.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, value.shape))
        else:
            held.append(onnx.numpy_helper.from_array(value.astype(np.float32) if real else value, name))
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output]
    model = helper.make_model(helper.make_graph([node], "one", declared, outputs, held), opset_imports=opsets)
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # what cannot be inferred is computed, and refused there
        return 0
    shapes = [[one.dim_value for one in output.type.tensor_type.shape.dim] for output in inferred.graph.output]
    return max((math.prod(shape) for shape in shapes), default=0)


def agrees(found: SparseMap, apply: Apply, shift: Array) -> bool:
    """Return whether a map is what the reference computes, on random numbers: maps that differ do almost everywhere."""
    x = np.random.default_rng(7).uniform(1, 2, (1, *found.given))
    expected = (apply(x) - shift).reshape(-1)
    most = float(np.abs(expected).max(initial=0.0))
    return bool((np.abs(found(x.reshape(-1)) - expected) <= _CLOSE * most).all())


def probed(apply: Apply, given: Shape, shift: Array) -> SparseMap:
    """Return the map of any operator, by the reference's values on unit vectors, all at once where it takes them."""
    size, height = math.prod(given), shift.size
    units = np.eye(size).reshape(size, *given)
    try:
        found = np.asarray(apply(units) - shift)
        matrix = found.reshape(size, height)
    except Exception:  # a shape that holds for one sample alone
        matrix = np.stack([(apply(unit[None]) - shift).reshape(-1) for unit in units])
    made = of_matrix(matrix, given, shift.shape[1:])
    if agrees(made, apply, shift):
        return made
    single = np.stack([(apply(unit[None]) - shift).reshape(-1) for unit in units])
    return of_matrix(single, given, shift.shape[1:])


# ---------------------------------------------------------------------------------------------- windows


def _windows(
    attributes: Mapping[str, Any], kernel: Shape, extents: Shape, made: Shape
) -> Iterator[tuple[Shape, NDArray[np.intp], NDArray[np.intp]]]:
    """Yield, for each place of a kernel, the places of results that see an element there, and those elements' places.

    `extents` and `made` are those of the axes that the kernel moves along.
    """
    axes = len(kernel)
    strides = attributes.get("strides") or [1] * axes
    dilations = attributes.get("dilations") or [1] * axes
    pads = with_pads(attributes, kernel, extents).get("pads") or [0] * axes
    for at in itertools.product(*map(range, kernel)):
        sees, seen = [], []
        for axis in range(axes):
            result = np.arange(made[axis])
            place = result * strides[axis] + at[axis] * dilations[axis] - pads[axis]
            inside = (place >= 0) & (place < extents[axis])
            sees.append(result[inside])
            seen.append(place[inside])
        results = np.ravel_multi_index(np.meshgrid(*sees, indexing="ij"), made).reshape(-1)
        places = np.ravel_multi_index(np.meshgrid(*seen, indexing="ij"), extents).reshape(-1)
        yield at, results, places


def with_pads(attributes: Mapping[str, Any], kernel: Shape, extents: Shape) -> dict[str, Any]:
    """Return a convolution's attributes with its padding in numbers.

    onnx's reference implementation reads `auto_pad` of a convolution by the extents of batch and channels.
    """
    found = {name: value for name, value in attributes.items() if name != "auto_pad"}
    auto = attributes.get("auto_pad", b"NOTSET")
    auto = auto.decode() if isinstance(auto, bytes) else auto
    if auto in ("NOTSET", ""):
        return found
    axes = len(kernel)
    strides = attributes.get("strides") or [1] * axes
    dilations = attributes.get("dilations") or [1] * axes
    before, after = [0] * axes, [0] * axes
    if auto != "VALID":
        for axis, (extent, stride) in enumerate(zip(extents, strides, strict=True)):
            reach = (-(-extent // stride) - 1) * stride + (kernel[axis] - 1) * dilations[axis] + 1
            total = max(reach - extent, 0)
            before[axis] = total // 2 if auto == "SAME_UPPER" else total - total // 2
            after[axis] = total - before[axis]
    return {**found, "pads": [*before, *after]}


def _convolution(attributes: Mapping[str, Any], kernel: Array, given: Shape, made: Shape) -> SparseMap:
    """Return a convolution with a kernel (made channels, given channels of a group, ...)."""
    groups = int(attributes.get("group", 1))
    outer, inner = kernel.shape[0], kernel.shape[1]
    own = outer // groups
    rows, columns, values = [], [], []
    result, source = math.prod(made[1:]), math.prod(given[1:])
    o, i = (axis.reshape(-1) for axis in np.indices((outer, inner)))
    channel = o // own * inner + i
    for at, results, places in _windows(attributes, kernel.shape[2:], given[1:], made[1:]):
        weights = kernel.reshape(outer, inner, -1)[..., np.ravel_multi_index(at, kernel.shape[2:])].reshape(-1)
        rows.append((o[:, None] * result + results).reshape(-1))
        columns.append((channel[:, None] * source + places).reshape(-1))
        values.append(np.repeat(weights, len(results)))
    stride = _stride(attributes, len(kernel.shape) - 2)
    return sparse_map(given, made, np.concatenate(rows), np.concatenate(columns), np.concatenate(values), stride)


def _pooling(attributes: Mapping[str, Any], given: Shape, made: Shape, *, whole: bool) -> SparseMap:
    """Return an average of windows; of those that stick out, over all places or over those inside."""
    kernel = given[1:] if whole else tuple(attributes["kernel_shape"])
    facts = {} if whole else attributes
    channels, result, source = given[0], math.prod(made[1:]), math.prod(given[1:])
    count = np.zeros(result)
    rows, columns = [], []
    for _, results, places in _windows(facts, kernel, given[1:], made[1:]):
        count[results] += 1
        rows.append(results)
        columns.append(places)
    row, column = np.concatenate(rows), np.concatenate(columns)
    if facts.get("count_include_pad"):
        count[:] = math.prod(kernel)
    channel = np.arange(channels)[:, None]
    share: Array = np.asarray(1.0 / np.maximum(count[row], 1), dtype=np.float64)
    every = np.tile(share, channels)
    stride = given[1:] if whole and len(given) == 3 else _stride(facts, len(kernel))
    own = (int(stride[0]), int(stride[1])) if len(kernel) == 2 else (1, 1)
    return sparse_map(
        given, made, (channel * result + row).reshape(-1), (channel * source + column).reshape(-1), every, own
    )


def _stride(attributes: Mapping[str, Any], axes: int) -> tuple[int, int]:
    found = attributes.get("strides") or [1] * axes
    return (int(found[0]), int(found[1])) if axes == 2 else (1, 1)


def _move(apply: Apply, given: Shape, made: Shape, shift: Array) -> SparseMap:
    """Return a selection of elements: where the numbers from 1 on come out."""
    size = math.prod(given)
    found = (apply(np.arange(1, size + 1).astype(np.float64).reshape(1, *given)) - shift).reshape(-1)
    held = np.flatnonzero(found)
    columns = np.rint(found[held]).astype(np.int64) - 1
    if len(held) and (columns.min() < 0 or columns.max() >= size):
        return sparse_map(given, made, [], [], [])
    return sparse_map(given, made, held, columns, np.ones(len(held)))


def _sum(apply: Apply, given: Shape, made: Shape, shift: Array) -> SparseMap | None:
    """Return a sum or mean along axes: all elements of a sum weigh the same, and which are in one is asked for."""
    size, height = math.prod(given), shift.size
    ones = (apply(np.ones((1, *given))) - shift).reshape(-1)
    kept = [extent for extent in made if extent > 1]
    # The axes of the result are some of the operand's, in order.
    for axes in itertools.combinations(range(len(given)), len(kept)):
        if [given[axis] for axis in axes] != kept:
            continue
        number = np.arange(height).reshape([given[axis] if axis in axes else 1 for axis in range(len(given))])
        rows = np.broadcast_to(number, given).reshape(-1)
        found = sparse_map(given, made, rows, np.arange(size), ones[rows] * height / size)
        if agrees(found, apply, shift):
            return found
    return None
