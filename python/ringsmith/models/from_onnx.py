# SPDX-License-Identifier: Apache-2.0
"""`rs.from_onnx`: networks of ONNX files, those that PyTorch exports among them.

What a linear operator does is asked of onnx's reference implementation, one basis vector after the other: layouts,
paddings and strides mean what ONNX says they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.extras import to_install
from ringsmith.files import reason
from ringsmith.ir.sparse_map import SparseMap
from ringsmith.models.activations import ACTIVATIONS, activation, fused, power_of
from ringsmith.models.calibration import calibrated, data_rows
from ringsmith.models.decision import decision_of
from ringsmith.models.largest import POOLINGS, largest
from ringsmith.models.model import Model
from ringsmith.models.network import Activation, Input, Product, Sum, Value, affine, is_sparse, scaling
from ringsmith.models.operators import elements_made, map_of, probed, with_pads
from ringsmith.models.options import options_of
from ringsmith.models.probing import MOST_POWER, power
from ringsmith.progress import tell, telling

Array = NDArray[np.float64]

#: Linear in their first operand; the others are constants.
_LINEAR = (
    "Gemm", "MatMul", "Conv", "AveragePool", "GlobalAveragePool", "BatchNormalization", "Flatten", "Reshape",
    "Transpose", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Neg", "Pad", "Slice", "Split", "Gather", "Tile",
    "Expand", "DepthToSpace", "SpaceToDepth", "Cast", "ReduceMean", "ReduceSum", "ConvTranspose", "Resize",
)  # fmt: skip
#: Of these, those that may take samples away, or make them one.
_CUTS = ("Slice", "Split", "Gather", "Flatten")
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Pow")
_SUPPORTED = (*_LINEAR, "Concat", *ACTIVATIONS, "PRelu", *_ARITHMETIC)
_REMEDIES = {
    "Softmax": "end the model before it: the largest score is the same",
    "LogSoftmax": "end the model before it: the largest score is the same",
    "MaxPool": "train with AveragePool, or sign=(15, 15, 27) takes it by a composite sign",
    "GlobalMaxPool": "train with GlobalAveragePool, or sign=(15, 15, 27) takes it by a composite sign",
    **dict.fromkeys(
        ("LSTM", "GRU", "RNN"), "its gates are products of activations over time: train a convolution or Gemm"
    ),
}
_DTYPES = {1: np.float32, 10: np.float16, 11: np.float64}
#: Entries of one linear layer.
_MOST_ENTRIES = 1 << 24
#: Elements of what one operator makes; its numbers are bounded before the reference takes memory for them.
_MOST_ELEMENTS = 1 << 25


@telling(None)
def from_onnx(path: Any, data: Any, *, classes: Sequence[Any] | None = None, **options: Any) -> Model:
    """Return the network of an ONNX file (or of its bytes, or an `onnx.ModelProto`) as a kernel over encrypted samples.

    Operators: Gemm, MatMul, Conv, AveragePool, GlobalAveragePool, BatchNormalization, Flatten, Reshape and other moves,
    Slice, Concat, Add, Sub, Mul, Div, Pow; Relu, Sigmoid, Gelu and other functions of one number by approximation over
    the ranges that `data` have, products such as x * sigmoid(x) as one of them. `data` (rows, ...) have the shape of
    the model's input; `classes` name its scores (a regression has none). Options as those of `rs.from_sklearn`. Needs
    the extra `models`.
    """
    tell("from_onnx: read the model")
    found = options_of(options)
    graph = _Graph.of(_loaded(path), poolings=found.sign is not None)
    value = graph.result()
    if classes is not None and len(classes) not in (value.size, 2 if value.size == 1 else -1):
        raise InputError(f"from_onnx: {len(classes)} classes for {value.size} scores")
    rows = data_rows(_shaped(data, graph.shape))
    return calibrated(graph.name, value, rows, decision_of(classes), found)


def _onnx() -> Any:
    try:
        import onnx
        import onnx.reference
    except ImportError:
        raise InputError(f"from_onnx needs the package onnx: {to_install('models')}") from None
    return onnx


def _loaded(path: Any) -> Any:
    """Return the checked model of a file."""
    onnx = _onnx()
    try:
        if isinstance(path, onnx.ModelProto):
            model = path
        elif isinstance(path, bytes):
            model = onnx.load_from_string(path)
        else:
            model = onnx.load(Path(path))
        onnx.checker.check_model(model)
    except OSError as error:
        raise InputError(f"from_onnx: {path}: {error.strerror or error}") from None
    except Exception as error:  # protobuf and onnx raise classes of their own
        name = "the model" if isinstance(path, bytes | onnx.ModelProto) else path
        raise InputError(f"from_onnx: {name} is no valid ONNX model: {str(error).splitlines()[0]}") from None
    return model


def _shaped(data: Any, shape: tuple[int, ...]) -> Any:
    """Refuse calibration data of another shape than the input's."""
    found = np.shape(data)
    flat = (int(np.prod(shape)),)
    if found[1:] not in (shape, flat) or not found or found[0] == 0:
        wanted = ", ".join(map(str, shape))
        raise InputError(f"calibration data of shape {found}: the model's input takes (rows, {wanted})")
    return data


@dataclass
class _Graph:
    """An ONNX graph; `values` has what was computed so far by name: arrays, or values of a sample with their shapes."""

    model: Any
    name: str
    input: str
    shape: tuple[int, ...]
    #: Whether the largest of windows is taken.
    poolings: bool = False
    known: dict[str, Array] = field(default_factory=dict)
    values: dict[str, tuple[Value, tuple[int, ...]]] = field(default_factory=dict)
    evaluators: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any, *, poolings: bool = False) -> _Graph:
        graph = model.graph
        known = {one.name: _array(one) for one in graph.initializer}
        inputs = [one for one in graph.input if one.name not in known]
        if len(inputs) != 1 or len(graph.output) != 1:
            raise InputError(
                f"from_onnx: {len(inputs)} inputs and {len(graph.output)} outputs; a model of one of each is needed"
            )
        kind = inputs[0].type.tensor_type
        if kind.elem_type not in _DTYPES:
            dtype = _onnx().TensorProto.DataType.Name(kind.elem_type).lower()
            raise InputError(
                f"from_onnx: input {inputs[0].name} is of dtype {dtype}; float32, float16 or float64 is supported"
            )
        extents = [one.dim_value for one in kind.shape.dim]
        if len(extents) < 2 or not all(extent > 0 for extent in extents[1:]):
            raise InputError(
                f"from_onnx: input {inputs[0].name} has shape ({_dims(kind)}); a batch and fixed extents are needed"
            )
        name = "".join(c if c.isalnum() or c in "-_" else "-" for c in graph.name) or "network"
        return cls(model, name, inputs[0].name, tuple(extents[1:]), poolings, known)

    @property
    def features(self) -> int:
        return int(np.prod(self.shape))

    def result(self) -> Value:
        """Return the output's value."""
        self.values[self.input] = (Input(self.features), self.shape)
        nodes, taken = self.model.graph.node, set[str]()
        for number, node in enumerate(nodes):
            # Calibrated ranges go by names, which ONNX lets nodes share.
            name = node.name if node.name and node.name not in taken else f"{node.name or node.op_type}_{number}"
            taken.add(name)
            tell(f"{self.name}: node {number + 1} of {len(nodes)}, {name} ({node.op_type})")
            self._guarded(node, name)
        output = self.model.graph.output[0].name
        if output not in self.values:
            raise InputError(f"from_onnx: output {output} does not depend on input {self.input}")
        return self.values[output][0]

    def _guarded(self, node: Any, name: str) -> None:
        """Take a node up; whatever onnx's reference implementation raises names the node."""
        try:
            self._node(node, name)
        except InputError:
            raise
        except Exception as error:
            said = reason(error)
            remedy = _REMEDIES.get(node.op_type, "check the model in onnxruntime, and export it with constant shapes")
            raise InputError(f"from_onnx: node {name} ({node.op_type}): {said}; {remedy}") from None

    def _node(self, node: Any, name: str) -> None:
        if node.op_type == "Constant" or all(given in self.known or not given for given in node.input):
            outputs = self._run(node, {given: self.known[given] for given in node.input if given})
            self.known |= dict(zip(node.output, map(_in_float64, outputs), strict=False))
            return
        if node.op_type == "Shape" and node.input[0] in self.values:
            # A batch of one; what PyTorch writes for x.view(x.size(0), -1).
            like = np.zeros((1, *self.values[node.input[0]][1]))
            self.known[node.output[0]] = self._run(node, {node.input[0]: like})[0]
            return
        if node.op_type not in (*_SUPPORTED, *(POOLINGS if self.poolings else ())) or node.domain not in (
            "",
            "ai.onnx",
        ):
            remedy = _REMEDIES.get(node.op_type, f"supported are {', '.join(_SUPPORTED)}")
            raise InputError(f"from_onnx: operator {node.op_type} of node {name} is not supported; {remedy}")
        if node.op_type == "Split":
            parts = [self._linear(node, name, node.input[0], part) for part in range(len(node.output))]
            self.values |= dict(zip(node.output, parts, strict=True))
            return
        self.values[node.output[0]] = self._value(node, name)

    def _value(self, node: Any, name: str) -> tuple[Value, tuple[int, ...]]:
        secret = [given for given in node.input if given in self.values]
        if node.op_type in (*ACTIVATIONS, "PRelu", "Pow"):
            return self._activation(node, name)
        if node.op_type == "Concat":
            return self._joined(node, name)
        if node.op_type in POOLINGS:
            return self._largest(node, name)
        if len(secret) > 1:
            return self._of_two(node, name, *(self.values[given] for given in secret))
        if node.op_type == "Div" and node.input[0] != secret[0]:
            argument, shape = self.values[secret[0]]
            known = np.broadcast_to(self.known[node.input[0]], (1, *shape)).reshape(-1)
            return affine(Activation(argument, "inverse", name), scaling(known), np.zeros(len(known))), shape
        return self._linear(node, name, secret[0])

    def _activation(self, node: Any, name: str) -> tuple[Value, tuple[int, ...]]:
        """Return a function of each element."""
        if node.input[0] not in self.values or any(one in self.values for one in node.input[1:]):
            raise InputError(f"from_onnx: node {name}: {node.op_type} with a parameter that depends on the input")
        argument, shape = self.values[node.input[0]]
        if node.op_type == "Pow":
            return self._power(argument, np.unique(self.known[node.input[1]]), name), shape
        if node.op_type == "PRelu":
            ones = np.ones((1, *shape))
            slopes = -self._run(node, {node.input[0]: -ones, node.input[1]: self.known[node.input[1]]})[0].reshape(-1)
            # s x + (1 - s) relu(x).
            bent = affine(Activation(argument, "relu", name), scaling(1 - slopes), np.zeros(len(slopes)))
            return Sum(affine(argument, scaling(slopes), np.zeros(len(slopes))), bent), shape
        others = [self.known.get(one) for one in node.input[1:]]
        attributes = _attributes(node)
        return Activation(argument, activation(node.op_type, attributes, others), name), shape

    def _power(self, argument: Value, exponents: Array, name: str) -> Value:
        if len(exponents) != 1:
            raise InputError(f"from_onnx: node {name}: {len(exponents)} exponents; one for all elements is supported")
        exponent = float(exponents[0])
        if exponent.is_integer() and 1 <= exponent <= MOST_POWER:
            return power(argument, int(exponent), name)
        return Activation(argument, power_of(exponent), name)

    def _joined(self, node: Any, name: str) -> tuple[Value, tuple[int, ...]]:
        """Return a Concat: each operand, moved to its place, and their sum."""
        names = [f"operand_{number}" for number in range(len(node.input))]
        attributes = _attributes(node)
        node, inputs = _onnx().helper.make_node("Concat", names, list(node.output), name, **attributes), node.input
        zeros = {
            own: np.zeros((1, *self.values[one][1])) if one in self.values else self.known[one]
            for own, one in zip(names, inputs, strict=True)
        }
        shift = _of_a_sample(self._run(node, zeros)[0], node, name)
        found: Value | None = None
        for own, one in zip(names, inputs, strict=True):
            if one not in self.values:
                continue

            def apply(x: Array, own: str = own) -> Array:
                return np.asarray(self._run(node, {**zeros, own: x})[0], dtype=np.float64)

            argument, shape = self.values[one]
            made = map_of("Concat", {}, [], apply, shape, shift)
            assert made is not None
            part = _mapped(argument, made, np.zeros(shift.size) if found else shift.reshape(-1), shape)
            found = Sum(found, part) if found else part
        assert found is not None
        return found, shift.shape[1:]

    def _largest(self, node: Any, name: str) -> tuple[Value, tuple[int, ...]]:
        argument, shape = self.values[node.input[0]]
        if len(node.output) > 1 and node.output[1]:
            raise InputError(f"from_onnx: node {name}: the places of largest values are not computed; use its values")
        attributes = _attributes(node)
        made = self._run(node, {node.input[0]: np.zeros((1, *shape))})[0].shape[1:]
        return largest(node.op_type, attributes, argument, shape, made, name), made

    def _of_two(
        self, node: Any, name: str, a: tuple[Value, tuple[int, ...]], b: tuple[Value, tuple[int, ...]]
    ) -> tuple[Value, tuple[int, ...]]:
        one = fused(node.op_type, a[0], b[0], name) if node.op_type in ("Mul", "Div") and a[1] == b[1] else None
        if one is not None:
            return one, a[1]
        if node.op_type not in ("Add", "Sub", "Mul"):
            raise InputError(
                f"from_onnx: node {name}: {node.op_type} of two encrypted values; Add, Sub or Mul is supported"
            )
        if a[1] != b[1]:
            raise InputError(
                f"from_onnx: node {name}: {node.op_type} of shapes {a[1]} and {b[1]}; equal shapes are needed"
            )
        if node.op_type == "Mul":
            return Product(a[0], b[0], name if a[0] is b[0] else ""), a[1]
        size = b[0].size
        second = b[0] if node.op_type == "Add" else affine(b[0], scaling(-np.ones(size)), np.zeros(size))
        return Sum(a[0], second), a[1]

    def _linear(self, node: Any, name: str, given: str, output: int = 0) -> tuple[Value, tuple[int, ...]]:
        """Return an operator that is linear in `given`, applied; of several outputs one."""
        argument, shape = self.values[given]
        constants = {one: self.known[one] for one in node.input if one and one != given}
        if node.op_type == "Conv":
            node = _explicit(node, self.known[node.input[1]].shape[2:], shape[1:])

        def apply(x: Array) -> Array:
            return np.asarray(self._run(node, {**constants, given: x})[output], dtype=np.float64)

        shift = _of_a_sample(apply(np.zeros((1, *shape))), node, name)
        if node.op_type in _CUTS and (samples := len(apply(np.zeros((2, *shape))))) != 2:
            raise InputError(
                f"from_onnx: node {name} ({node.op_type}) changes the batch axis: two samples become {samples}"
            )
        attributes = _attributes(node)
        if node.op_type == "Cast" and attributes["to"] not in _DTYPES:
            raise InputError(
                f"from_onnx: node {name} (Cast) rounds to integers; float32, float16 or float64 is supported"
            )
        others = [self.known.get(one) for one in node.input if one != given]
        made = map_of(node.op_type, attributes, others, apply, shape, shift)
        if made is None:
            size = int(np.prod(shape))
            if size * shift.size > _MOST_ENTRIES:
                raise InputError(
                    f"from_onnx: node {name} ({node.op_type}): a matrix of {size} x {shift.size} is too large"
                )
            made = probed(apply, shape, shift)
        if made.size > _MOST_ENTRIES:
            raise InputError(
                f"from_onnx: node {name} ({node.op_type}): {made.size} entries are too many; fewer filters do"
            )
        if made.is_identity and not shift.any():
            return argument, shift.shape[1:]
        return _mapped(argument, made, shift.reshape(-1), shape), shift.shape[1:]

    def _run(self, node: Any, inputs: dict[str, Array]) -> list[Array]:
        """Run one node by the reference implementation."""
        key = node.output[0]
        if key not in self.evaluators:
            onnx = _onnx()
            helper = onnx.helper
            made = elements_made(onnx, node, inputs, self.model.opset_import)
            if made > _MOST_ELEMENTS:
                raise InputError(
                    f"from_onnx: node {node.name or key} ({node.op_type}) makes {made} elements of a sample; at most "
                    f"{_MOST_ELEMENTS} are taken"
                )
            declared = [helper.make_tensor_value_info(name, 1, None) for name in inputs]
            outputs = [helper.make_tensor_value_info(name, 1, None) for name in node.output]
            graph = helper.make_graph([node], "one", declared, outputs)
            model = helper.make_model(graph, opset_imports=self.model.opset_import)
            self.evaluators[key] = onnx.reference.ReferenceEvaluator(model)
        return list(self.evaluators[key].run(None, inputs))


def _of_a_sample(made: Array, node: Any, name: str) -> Array:
    """Return what an operator makes of one sample, (1, ...)."""
    if len(made) != 1:
        raise InputError(f"from_onnx: node {name} ({node.op_type}) changes the batch axis: shape {made.shape}")
    return made


def _mapped(argument: Value, made: SparseMap, shift: Array, shape: tuple[int, ...]) -> Value:
    """Return a map of a value of a shape: by its entries of an image and of what is held so, else as a matrix."""
    image = len(shape) == 3 or is_sparse(argument)
    return affine(argument, made if image else made.dense(), shift)


def _attributes(node: Any) -> dict[str, Any]:
    """Return a node's attributes by name."""
    helper = _onnx().helper
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}


def _explicit(node: Any, kernel: tuple[int, ...], extents: tuple[int, ...]) -> Any:
    """Return a convolution with its padding in numbers."""
    helper = _onnx().helper
    attributes = with_pads(_attributes(node), kernel, extents)
    return helper.make_node(node.op_type, list(node.input), list(node.output), node.name, **attributes)


def _array(initializer: Any) -> Any:
    return _in_float64(_onnx().numpy_helper.to_array(initializer))


def _in_float64(array: Any) -> Any:
    """Return a constant; reals in float64, so that matrices are what the weights say."""
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _dims(kind: Any) -> str:
    return ", ".join(str(one.dim_value or one.dim_param or "?") for one in kind.shape.dim)
