# SPDX-License-Identifier: Apache-2.0
"""Linear operators of ONNX by their entries: the numbers of onnx's reference implementation, without asking it much."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import ringsmith as rs
from ringsmith.ir.sparse_map import SparseMap
from ringsmith.models.from_onnx import _Graph
from ringsmith.models.network import Activation, Affine, Product, Windows, evaluate, merged, ordered
from ringsmith.models.test_models import IMAGES, network, node, normal

#: A kernel for each of two channels given, four filters.
FILTERS = normal(4, 2, 3, 3)
FLAT = node("Flatten", "a")
NETWORKS = {
    "padding": network(node("Conv", "image k b", "a", pads=[1, 0, 2, 1]), FLAT, k=FILTERS, b=normal(4)),
    "dilation": network(node("Conv", "image k", "a", dilations=[2, 1], pads=[1] * 4), FLAT, k=FILTERS),
    "depthwise": network(node("Conv", "image k", "a", group=2, pads=[1] * 4), FLAT, k=normal(4, 1, 3, 3)),
    "one by one": network(node("Conv", "image k", "a", strides=[2, 2]), FLAT, k=normal(5, 2, 1, 1)),
    "average, padding left out": network(
        node("AveragePool", "image", "a", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), FLAT
    ),
    "average, padding counted": network(
        node("AveragePool", "image", "a", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, count_include_pad=1), FLAT
    ),
    "average, ceiling": network(
        node("AveragePool", "image", "a", kernel_shape=[4, 4], strides=[4, 4], ceil_mode=1), FLAT
    ),
    "average, same": network(
        node("AveragePool", "image", "a", kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER"), FLAT
    ),
    "a slice": network(node("Slice", "image s e x t", "a"), FLAT, s=np.array([1, 4]), e=np.array([6, -9]),
                       x=np.array([2, 3]), t=np.array([2, -1])),
    "parts": network(
        helper.make_node("Split", ["image"], ["p", "q"], axis=2), node("Sub", "q p", "a"), FLAT
    ),
    "gathered": network(node("Gather", "image g", "a", axis=3), FLAT, g=np.array([5, 0, 0])),
    "tiled": network(node("Tile", "image r", "a"), FLAT, r=np.array([1, 2, 1, 2])),
    "depth to space": network(
        node("SpaceToDepth", "image", "b", blocksize=2), node("DepthToSpace", "b", "a", blocksize=2, mode="CRD"), FLAT
    ),
    "a cast": network(node("Cast", "image", "a", to=TensorProto.DOUBLE), FLAT),
    "joined": network(
        node("Conv", "image k", "c", pads=[1] * 4), node("Concat", "image c image", "a", axis=1), FLAT, k=FILTERS
    ),
    "global average": network(node("GlobalAveragePool", "image", "a"), FLAT),
    "mean of rows": network(node("ReduceMean", "image", "a", axes=[2], keepdims=0), FLAT),
    "mean of images": network(node("ReduceMean", "image", axes=[-2, -1], keepdims=0)),
    "sum of channels": network(node("ReduceSum", "image c", "a", keepdims=1), FLAT, c=np.array([1])),
    "normalisation": network(
        node("BatchNormalization", "image s b m v", "a"), FLAT, s=normal(2), b=normal(2), m=normal(2),
        v=np.array([0.5, 2.0]),
    ),
    "moves": network(
        node("Transpose", "image", "t", perm=[0, 2, 1, 3]), node("Pad", "t p c", "a"), FLAT,
        p=np.array([0, 1, 0, 2, 0, 0, 0, 1]), c=np.float32(0.5),
    ),
    "scalings": network(
        node("Mul", "image s", "m"), node("Sub", "o m", "n"), node("Div", "n d", "a"), FLAT, s=normal(2, 1, 1),
        o=normal(6), d=np.array([2.0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(NETWORKS))
def test_an_operator_does_what_the_reference_does(name: str) -> None:
    asked = []

    class Counted(_Graph):
        def _run(self, node: Any, inputs: dict[str, Any]) -> list[Any]:
            asked.append(node.op_type)
            return super()._run(node, inputs)

    result = Counted.of(NETWORKS[name]).result()
    (expected,) = ReferenceEvaluator(NETWORKS[name]).run(None, {"image": IMAGES.astype(np.float32)})
    model = rs.from_onnx(NETWORKS[name], IMAGES)
    np.testing.assert_allclose(model.clear(IMAGES), np.asarray(expected), rtol=1e-4, atol=1e-5)
    # Unit vectors, one by one, would be 72 questions.
    assert len(asked) < 40
    dense = merged(result)
    x = IMAGES.reshape(len(IMAGES), -1)
    assert all(not isinstance(value.matrix, SparseMap) for value in ordered(dense) if isinstance(value, Affine))
    np.testing.assert_allclose(_value(dense, x), _value(result, x), atol=1e-10)


def test_what_is_known_is_joined() -> None:
    given = network(node("Flatten", "image", "f"), node("Concat", "k f l", axis=-1), k=normal(1, 3), l=normal(1, 2))
    model = rs.from_onnx(given, IMAGES)
    for image in IMAGES[:3, None]:
        (expected,) = ReferenceEvaluator(given).run(None, {"image": image.astype(np.float32)})
        np.testing.assert_allclose(model.clear(image), np.asarray(expected), atol=1e-6)


AUTO = {
    "same upper": ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, {"pads": [0, 0, 1, 1], "strides": [2, 2]}, (3, 3)),
    "same lower": ({"auto_pad": "SAME_LOWER", "strides": [2, 1]}, {"pads": [0, 2, 0, 1], "strides": [2, 1]}, (2, 4)),
    "valid": ({"auto_pad": "VALID", "strides": [3, 2]}, {"strides": [3, 2]}, (3, 3)),
    "dilated": ({"auto_pad": "SAME_UPPER", "dilations": [2, 1]}, {"pads": [2, 1, 2, 1], "dilations": [2, 1]}, (3, 3)),
}


@pytest.mark.parametrize("name", list(AUTO))
def test_paddings_by_name_are_those_of_the_standard(name: str) -> None:
    by_name, by_number, size = AUTO[name]
    kernel = normal(3, 2, *size)
    first, second = (network(node("Conv", "image k", "a", **own), FLAT, k=kernel) for own in (by_name, by_number))
    (expected,) = ReferenceEvaluator(second).run(None, {"image": IMAGES.astype(np.float32)})
    np.testing.assert_allclose(rs.from_onnx(first, IMAGES).clear(IMAGES), np.asarray(expected), rtol=1e-4, atol=1e-5)


def constants(**values: float) -> list[Any]:
    return [node("Constant", "", name, value_float=value) for name, value in values.items()]


CURVES = {
    "erf": [node("Erf", "a")],
    "elu": [node("Elu", "a", alpha=0.7)],
    "celu": [node("Celu", "a", alpha=0.4)],
    "selu": [node("Selu", "a")],
    "softsign": [node("Softsign", "a")],
    "absolute": [node("Abs", "a")],
    "sine": [node("Sin", "a")],
    "cosine": [node("Cos", "a")],
    "root": [*constants(c=1.5), node("Add", "a c", "d"), node("Sqrt", "d")],
    "logarithm": [*constants(c=1.5), node("Add", "a c", "d"), node("Log", "d")],
    "inverse": [*constants(c=1.5), node("Add", "a c", "d"), node("Reciprocal", "d")],
    "a quotient": [*constants(c=1.5), node("Add", "a c", "d"), node("Div", "c d")],
    "softsign, by nodes": [*constants(c=1.0), node("Abs", "a", "b"), node("Add", "b c", "d"), node("Div", "a d")],
    "arc tangent": [node("Atan", "a")],
    "a power that is not whole": [*constants(c=1.5), node("Add", "a c", "d"), node("Pow", "d c")],
    "slopes, one": [*constants(c=0.3), node("PRelu", "a c")],
    "gelu": [
        *constants(r=2**0.5, one=1.0, half=0.5),
        node("Div", "a r", "b"),
        node("Erf", "b", "c"),
        node("Add", "c one", "d"),
        node("Mul", "a d", "e"),
        node("Mul", "e half"),
    ],
    "gelu by tanh": [
        *constants(three=3.0, k=0.044715, s=0.7978846, one=1.0, half=0.5),
        node("Pow", "a three", "b"),
        node("Mul", "k b", "c"),
        node("Add", "a c", "d"),
        node("Mul", "s d", "e"),
        node("Tanh", "e", "f"),
        node("Add", "one f", "g"),
        node("Mul", "a half", "h"),
        node("Mul", "h g"),
    ],
    "mish": [node("Softplus", "a", "b"), node("Tanh", "b", "c"), node("Mul", "a c")],
    "relu 6": [node("Clip", "a low high")],
    "clip above": [helper.make_node("Clip", ["a", "", "high"], ["scores"])],
    "leaky": [node("LeakyRelu", "a", alpha=0.1)],
    "hard sigmoid": [node("HardSigmoid", "a", alpha=0.25)],
    "hard swish": [node("HardSwish", "a")],
    "silu": [node("Sigmoid", "a", "gate"), node("Mul", "a gate")],
    "silu, the other way": [node("Sigmoid", "a", "gate"), node("Mul", "gate a")],
}


@pytest.mark.parametrize("name", list(CURVES))
def test_activations_are_those_of_the_reference(name: str) -> None:
    given = network(node("Flatten", "image", "a"), *CURVES[name], low=np.float32(0), high=np.float32(0.4))
    (expected,) = ReferenceEvaluator(given).run(None, {"image": IMAGES.astype(np.float32)})
    model = rs.from_onnx(given, IMAGES, deviation=0.05)
    np.testing.assert_allclose(model.clear(IMAGES), np.asarray(expected), atol=1e-6)
    assert len(model.calibration) == 1
    assert np.abs(model.clear(IMAGES, polynomial=True) - np.asarray(expected)).max() <= 0.1


def test_newer_operators_are_those_of_the_reference() -> None:
    """Operators of later versions of ONNX than those of the other networks."""
    for last in (node("Gelu", "a"), node("Gelu", "a", approximate="tanh"), node("Mish", "a")):
        given = network(node("Flatten", "image", "a"), last)
        given.opset_import[0].version = 20
        (expected,) = ReferenceEvaluator(given).run(None, {"image": IMAGES.astype(np.float32)})
        found = rs.from_onnx(given, IMAGES, deviation=0.05).clear(IMAGES)
        np.testing.assert_allclose(found, np.asarray(expected), atol=1e-6)


#: An affine map before what is looked at: factors that follow are folded into it.
BEFORE = node("Gemm", "f m v", "x")


def scores_of(*nodes: Any) -> Any:
    return network(node("Flatten", "image", "f"), BEFORE, *nodes, m=normal(72, 5) / 4, v=normal(5))


@pytest.mark.parametrize("name", ["gelu", "gelu by tanh", "mish", "silu", "silu, the other way", "softsign, by nodes"])
def test_a_product_of_functions_of_one_value_is_one_activation(name: str) -> None:
    nodes = [node("Identity", "x", "a"), *CURVES[name]]
    result = _Graph.of(scores_of(*nodes)).result()
    (layer,) = [value.layer for value in ordered(result) if isinstance(value, Activation)]
    assert layer.startswith(("the_mul", "the_div"))
    assert not any(isinstance(value, Product) for value in ordered(result))


def test_products_of_other_values_stay_products() -> None:
    other = node("Gemm", "f m w", "y")
    different = [node("Sigmoid", "y", "s"), node("Mul", "x s")]
    squared = [node("Sigmoid", "x", "s"), node("Mul", "s s")]
    cubed = [*constants(three=3.0), node("Pow", "x three")]
    turned = [
        node("Transpose", "x", "t", perm=[0, 1]),
        node("Gemm", "t r", "z"),
        node("Sigmoid", "z", "s"),
        node("Mul", "x s"),
    ]
    for nodes, products in (([other, *different], 1), (squared, 1), (cubed, 2), (turned, 1)):
        given = scores_of(*nodes)
        for name, array in {"w": normal(5) + 1, "r": np.roll(np.eye(5), 1, axis=0)}.items():
            given.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
        result = _Graph.of(given).result()
        assert sum(isinstance(value, Product) for value in ordered(result)) == products
        (expected,) = ReferenceEvaluator(given).run(None, {"image": IMAGES.astype(np.float32)})
        found = rs.from_onnx(given, IMAGES, deviation=None).clear(IMAGES)
        np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-4, atol=1e-5)


def test_slopes_of_channels() -> None:
    given = network(node("PRelu", "image s", "a"), FLAT, s=np.array([[[0.1]], [[0.4]]]))
    (expected,) = ReferenceEvaluator(given).run(None, {"image": IMAGES.astype(np.float32)})
    for options in ({}, {"sign": (15, 15, 27)}):
        model = rs.from_onnx(given, IMAGES, deviation=0.05, **options)
        np.testing.assert_allclose(model.clear(IMAGES), np.asarray(expected), atol=1e-6)


LARGEST = {
    "side by side": node("MaxPool", "image", "a", kernel_shape=[2, 2], strides=[2, 2]),
    "three by two": node("MaxPool", "image", "a", kernel_shape=[3, 2], strides=[1, 2]),
    "padded": node("MaxPool", "image", "a", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    "dilated": node("MaxPool", "image", "a", kernel_shape=[2, 2], dilations=[2, 3]),
    "ceiling": node("MaxPool", "image", "a", kernel_shape=[4, 4], strides=[4, 4], ceil_mode=1),
    "same": node("MaxPool", "image", "a", kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER"),
    "one": node("MaxPool", "image", "a", kernel_shape=[1, 1], strides=[2, 3]),
    "whole": node("GlobalMaxPool", "image", "a"),
}


@pytest.mark.parametrize("name", list(LARGEST))
def test_the_largest_of_windows_is_that_of_the_reference(name: str) -> None:
    given = network(LARGEST[name], FLAT)
    (expected,) = ReferenceEvaluator(given).run(None, {"image": IMAGES.astype(np.float32)})
    model = rs.from_onnx(given, IMAGES, sign=(15, 15, 27))
    np.testing.assert_allclose(model.clear(IMAGES), np.asarray(expected), atol=1e-6)
    near = 0.02 * len(model.calibration)
    np.testing.assert_allclose(model.clear(IMAGES, polynomial=True), np.asarray(expected), atol=near)


def test_relu_and_the_largest_by_the_sign_that_the_deviation_asks_for() -> None:
    given = network(
        node("Conv", "image k", "c"), node("Relu", "c", "r"), node("MaxPool", "r", "a", kernel_shape=[2, 2]), FLAT,
        k=FILTERS,
    )  # fmt: skip
    loose, fine = (rs.from_onnx(given, IMAGES, sign=True, deviation=deviation) for deviation in (0.05, 0.003))
    assert loose.share <= 0.05
    assert fine.share <= 0.003
    levels = [sum(p.depth for p in model.calibration.values()) for model in (loose, fine)]
    assert levels[0] < levels[1]
    assert list(loose.calibration) == ["the_relu", "the_maxpool.0.0", "the_maxpool.1.0"]
    for wrong in ((4,), "wide", 15, ()):
        with pytest.raises(rs.InputError, match=r"degrees .* of a composite sign; one to 6 odd"):
            rs.from_onnx(given, IMAGES, sign=wrong)


def test_the_largest_of_windows_encrypted() -> None:
    given = network(node("MaxPool", "image", "a", kernel_shape=[1, 2], strides=[1, 2]), FLAT)
    model = rs.from_onnx(given, IMAGES, sign=(7,), deviation=None, domain=(-4, 4), tolerance=0.05)
    np.testing.assert_allclose(model(IMAGES[:1]), model.clear(IMAGES[:1], polynomial=True), atol=0.05)


def _value(result: Any, x: Any) -> Any:
    return evaluate(result, x, lambda _, argument: argument)


LENET = network(
    node("Conv", "image k b", "a", pads=[1] * 4), node("Mul", "a a", "c"),
    node("AveragePool", "c", "d", kernel_shape=[2, 2], strides=[2, 2]), node("Conv", "d l", "e"),
    node("Mul", "e e", "f"), node("Flatten", "f", "g"), node("Gemm", "g m"),
    k=normal(4, 2, 3, 3) / 4, b=normal(4) / 4, l=normal(6, 4, 2, 2) / 4, m=normal(24, 3) / 4,
)  # fmt: skip


def test_an_average_before_a_convolution_takes_no_level() -> None:
    result = _Graph.of(LENET).result()
    (pooled,) = [value for value in ordered(result) if isinstance(value, Windows)]
    assert pooled.made == (4, 3, 3)
    assert sum(isinstance(value, Affine) for value in ordered(result)) == 3


def test_a_network_of_convolutions_encrypted() -> None:
    model = rs.from_onnx(LENET, IMAGES, domain=(-1, 1), tolerance=0.05, guarantee="probable")
    np.testing.assert_allclose(model(IMAGES[:1]), model.clear(IMAGES[:1]), atol=0.05)


def test_joined_channels_and_a_gelu_encrypted() -> None:
    given = network(
        node("Conv", "image k", "y", pads=[1] * 4), node("Concat", "image y", "a", axis=1), *CURVES["gelu"][:-1],
        node("Mul", "e half", "g"), node("AveragePool", "g", "h", kernel_shape=[6, 6]), node("Flatten", "h", "i"),
        node("Gemm", "i m"), k=FILTERS / 4, m=normal(6, 3),
    )  # fmt: skip
    model = rs.from_onnx(given, IMAGES, degree=7, domain=(-1, 1), tolerance=0.05, guarantee="probable")
    assert [layer.split("_")[1] for layer in model.calibration] == ["mul"]
    (expected,) = ReferenceEvaluator(given).run(None, {"image": IMAGES[:1].astype(np.float32)})
    np.testing.assert_allclose(model(IMAGES[:1]), np.asarray(expected), atol=0.1)
