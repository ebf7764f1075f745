# SPDX-License-Identifier: Apache-2.0
"""6. A convolutional network reads encrypted digits.

A network of one convolution, a ReLU and a dense layer is trained in the clear on half of scikit-learn's 1797 digits of
8 x 8 pixels, and written as an ONNX file, as PyTorch would export it. `rs.from_onnx` makes a kernel of the file: what
is linear becomes matrices, the ReLU a polynomial on the range that the training images have. Images of the other half
are then read encrypted, beside the same network in the clear.

    .venv/bin/python examples/06_digits.py                # 8 encrypted images
    .venv/bin/python examples/06_digits.py --images 899   # the whole second half
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

import ringsmith as rs

Array = npt.NDArray[np.float64]
FILTERS, SIZE, STRIDE, CLASSES = 6, 3, 2, 10
EPOCHS, BATCH, RATE = 40, 32, 6e-3


def patches(images: Array) -> Array:
    """The 3 x 3 patches that a convolution of stride 2 sees: (images, 16, 9), with a border of zeros."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (SIZE, SIZE), (1, 2))[:, ::STRIDE, ::STRIDE]
    return windows.reshape(len(images), -1, SIZE * SIZE)


def trained(images: Array, digits: Array) -> list[Array]:
    """Filters (9, 6), their shifts, weights (96, 10), their shifts: cross entropy minimised by Adam."""
    rng = np.random.default_rng(0)
    places = patches(images).shape[1]
    shapes = [(SIZE * SIZE, FILTERS), (FILTERS,), (FILTERS * places, CLASSES), (CLASSES,)]
    weights = [rng.normal(0, 0.3 if len(shape) > 1 else 0.0, shape) for shape in shapes]
    first, second = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    seen, wanted, step = patches(images), np.eye(CLASSES)[digits], 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            step += 1
            for w, g, m, v in zip(weights, gradients(weights, seen[some], wanted[some]), first, second, strict=True):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                w -= RATE * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return weights


def gradients(weights: list[Array], seen: Array, wanted: Array) -> list[Array]:
    """The gradients of the cross entropy."""
    filters, shift, dense, bias = weights
    before = seen @ filters + shift
    # ONNX lays a convolution's result out as (filters, places).
    hidden = np.maximum(before, 0).transpose(0, 2, 1).reshape(len(seen), -1)
    scores = hidden @ dense + bias
    share = np.exp(scores - scores.max(axis=1, keepdims=True))
    error = (share / share.sum(axis=1, keepdims=True) - wanted) / len(seen)
    back = (error @ dense.T).reshape(len(seen), FILTERS, -1).transpose(0, 2, 1) * (before > 0)
    return [
        np.einsum("bpi,bpf->if", seen, back),
        back.sum(axis=(0, 1)),
        hidden.T @ error + 1e-4 * dense,
        error.sum(axis=0),
    ]


def exported(weights: list[Array], file: Path) -> None:
    """Write the network as ONNX."""
    filters, shift, dense, bias = weights
    constants = {
        "filters": filters.T.reshape(FILTERS, 1, SIZE, SIZE), "shift": shift, "dense": dense, "bias": bias,
    }  # fmt: skip
    nodes = [
        helper.make_node(
            "Conv", ["image", "filters", "shift"], ["seen"], name="conv", strides=[2, 2], pads=[1, 1, 1, 1]
        ),
        helper.make_node("Relu", ["seen"], ["active"], name="relu"),
        helper.make_node("Flatten", ["active"], ["flat"], name="flatten"),
        helper.make_node("Gemm", ["flat", "dense", "bias"], ["scores"], name="dense"),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", CLASSES])
    held = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "digits", [image], [scores], held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)


def network(images: Array, digits: Array) -> Any:
    """Train on images (rows, 8, 8) with values in [0, 1], export, read."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "digits.onnx"
        exported(trained(images, digits), file)
        # Pixels of the border are 0 in most training images: the range of each is that of all.
        corners = np.stack([np.zeros((8, 8)), np.ones((8, 8))])
        data = np.concatenate([images, corners])
        return rs.from_onnx(
            file, data[:, None], classes=range(CLASSES), degree=5, deviation=0.1, tolerance=0.01, margin=0.0
        )


def main() -> int:
    """Train, export, read, compare."""
    parser = argparse.ArgumentParser(description="A convolutional network reads encrypted digits.")
    parser.add_argument("--images", type=int, default=8, help="encrypted images (8)")
    count = parser.parse_args().images
    images, digits = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8) / 16
    train, test = slice(0, None, 2), slice(1, None, 2)
    model = network(images[train], digits[train])
    print(model)
    clear = np.mean(model.labels(model.clear(images[test])) == digits[test])
    fitted = np.mean(model.labels(model.clear(images[test], polynomial=True)) == digits[test])
    print(f"accuracy on {len(digits[test])} images: clear {clear:.2%}, with the polynomial {fitted:.2%}")
    found = model.compare(images[test][:, None], digits[test], rows=count)
    print(found)
    agrees = found.difference < 0.01 and clear - fitted <= 0.005
    print(f"{found.rows} encrypted images read: {'correct' if agrees else 'WRONG'}")
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
