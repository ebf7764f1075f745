# SPDX-License-Identifier: Apache-2.0
"""Trains the ResNet-20 of `bench/resnet20.npz` on scikit-learn's digits, upsampled to 32 x 32 pixels in three channels.

    python bench/resnet20_training.py bench/resnet20.npz [--epochs 6]

All layers are trained, with SiLU and batch normalisation, by Adam on images moved by up to three pixels; about two
minutes an epoch on one core. Normalisations are then folded into the convolutions before them, whose weights are kept
as bytes with a factor for each channel. The last 397 digits, of other writers than most, are the test.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
#: A value, and what takes the gradient of the loss by it to that by what it was made of.
Back = Callable[[Array], Array]

#: Images to train with: the first ones.
TRAINED = 1400
BATCH, RATE, DECAY = 50, 4e-3, 5e-4
#: The share of the running statistics that stays at each step.
STAYS = 0.9
#: Added to variances.
LEAST = 1e-3


@dataclass
class Layer:
    """A convolution and its normalisation: weights (made, given, k, k), factor and shift of each channel."""

    weights: Array
    stride: int
    factor: Array
    shift: Array
    mean: Array
    spread: Array
    gradients: dict[str, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, rng: np.random.Generator, given: int, made: int, size: int, stride: int, factor: float = 1.0) -> Layer:
        """Draw weights."""
        weights = rng.normal(size=(made, given, size, size)) / np.sqrt(given * size * size / 2)
        own = weights.astype(np.float32)
        ones = np.ones(made, np.float32)
        return cls(own, stride, ones * np.float32(factor), ones * 0, ones * 0, ones.copy())

    def __call__(self, x: Array, training: bool) -> tuple[Array, Back]:
        """Return the result of images (count, y, x, channels), and its gradient."""
        made, back = convolved(x, self)
        if not training:
            unit = (made - self.mean) / np.sqrt(self.spread + LEAST)
            return unit * self.factor + self.shift, back
        mean, spread = made.mean(axis=(0, 1, 2)), made.var(axis=(0, 1, 2))
        self.mean += (1 - STAYS) * (mean - self.mean)
        self.spread += (1 - STAYS) * (spread - self.spread)
        root = np.sqrt(spread + LEAST)
        unit = (made - mean) / root

        def backward(g: Array) -> Array:
            self.gradients["factor"] = (g * unit).sum(axis=(0, 1, 2))
            self.gradients["shift"] = g.sum(axis=(0, 1, 2))
            own = g * (self.factor / root)
            own -= own.mean(axis=(0, 1, 2)) + unit * (own * unit).mean(axis=(0, 1, 2))
            return back(own)

        return unit * self.factor + self.shift, backward

    def folded(self) -> tuple[Array, Array]:
        """Return weights and shifts of the convolution with its normalisation."""
        each = self.factor / np.sqrt(self.spread + LEAST)
        return self.weights * each[:, None, None, None], self.shift - self.mean * each


def convolved(x: Array, layer: Layer) -> tuple[Array, Back]:
    """Return a convolution that keeps an image's size but for its stride, by one product of matrices."""
    made, given, size, _ = layer.weights.shape
    edge, stride = size // 2, layer.stride
    padded = np.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (1, 2))[:, ::stride, ::stride]
    count, height, width = windows.shape[:3]
    rows = np.ascontiguousarray(windows).reshape(-1, given * size * size)
    matrix = layer.weights.reshape(made, -1)

    def backward(g: Array) -> Array:
        flat = g.reshape(-1, made)
        layer.gradients["weights"] = (flat.T @ rows).reshape(layer.weights.shape)
        parts = (flat @ matrix).reshape(count, height, width, given, size, size)
        back = np.zeros_like(padded)
        for a in range(size):
            for b in range(size):
                back[:, a : a + stride * height : stride, b : b + stride * width : stride] += parts[..., a, b]
        return back[:, edge : edge + x.shape[1], edge : edge + x.shape[2]]

    return (rows @ matrix.T).reshape(count, height, width, made), backward


def silu(x: Array) -> tuple[Array, Back]:
    """Return x * sigmoid(x)."""
    gate = 1 / (1 + np.exp(-x))
    return x * gate, lambda g: g * (gate * (1 + x * (1 - gate)))


@dataclass
class Residual:
    """The layers of a network, by the names of `bench/resnet20.py`."""

    layers: dict[str, Layer]
    blocks: list[str]
    dense: Array
    shift: Array

    @classmethod
    def of(cls, given: int, widths: tuple[int, ...], blocks: int) -> Residual:
        """Draw a network."""
        rng = np.random.default_rng(20)
        layers, names, before = {"stem": Layer.of(rng, given, widths[0], 3, 1)}, [], widths[0]
        for stage, width in enumerate(widths):
            for number in range(blocks):
                name, stride = f"stage{stage}.{number}", 2 if stage and not number else 1
                names.append(name)
                layers[f"{name}.first"] = Layer.of(rng, before, width, 3, stride)
                layers[f"{name}.second"] = Layer.of(rng, width, width, 3, 1, 0.5)
                if stride > 1:
                    layers[f"{name}.shortcut"] = Layer.of(rng, before, width, 1, stride)
                before = width
        dense = (rng.normal(size=(before, 10)) / np.sqrt(before)).astype(np.float32)
        return cls(layers, names, dense, np.zeros(10, np.float32))

    def forward(self, x: Array, training: bool) -> tuple[Array, Callable[[Array], dict[str, Array]]]:
        """Return scores of images (count, y, x, channels), and what takes their gradient to those of the weights."""
        steps: list[Any] = []
        value, back = self.layers["stem"](x, training)
        value, curve = silu(value)
        steps.append((back, curve))
        for name in self.blocks:
            inner, first = self.layers[f"{name}.first"](value, training)
            inner, middle = silu(inner)
            last, second = self.layers[f"{name}.second"](inner, training)
            short = self.layers.get(f"{name}.shortcut")
            own, beside = short(value, training) if short else (value, lambda g: g)
            value, curve = silu(last + own)
            steps.append((first, middle, second, beside, curve))
        features = value.mean(axis=(1, 2))

        def backward(g: Array) -> dict[str, Array]:
            found = {"dense": features.T @ g, "dense shift": g.sum(axis=0)}
            own = (g @ self.dense.T)[:, None, None] / (value.shape[1] * value.shape[2])
            error = np.broadcast_to(own, value.shape)
            for first, middle, second, beside, curve in reversed(steps[1:]):
                error = curve(error)
                error = first(middle(second(error))) + beside(error)
            stem, curve = steps[0]
            stem(curve(error))
            for name, layer in self.layers.items():
                found |= {f"{name} {what}": own for what, own in layer.gradients.items()}
            return found

        return features @ self.dense + self.shift, backward

    def weights(self) -> Iterator[tuple[str, Array]]:
        """Yield what is trained, by the names of the gradients."""
        yield from (("dense", self.dense), ("dense shift", self.shift))
        for name, layer in self.layers.items():
            for what in ("weights", "factor", "shift"):
                yield f"{name} {what}", getattr(layer, what)


def moved(images: Array, rng: np.random.Generator) -> Array:
    """Return images moved by up to three pixels."""
    side = images.shape[1]
    wide = np.pad(images, ((0, 0), (3, 3), (3, 3), (0, 0)))
    at = rng.integers(0, 7, (len(images), 2))
    return np.stack([image[y : y + side, x : x + side] for image, (y, x) in zip(wide, at, strict=True)])


def trained(network: Residual, images: Array, digits: Array, epochs: int) -> None:
    """Train a network: Adam, with a rate that rises at first and falls to zero."""
    rng = np.random.default_rng(0)
    first = {name: np.zeros_like(own) for name, own in network.weights()}
    second = {name: np.zeros_like(own) for name, own in network.weights()}
    step, last, start = 0, epochs * (len(images) // BATCH), time.perf_counter()
    for epoch in range(epochs):
        order, right = rng.permutation(len(images)), 0
        for at in range(0, len(order) - BATCH + 1, BATCH):
            some = order[at : at + BATCH]
            scores, back = network.forward(moved(images[some], rng), True)
            right += int((scores.argmax(axis=1) == digits[some]).sum())
            share = np.exp(scores - scores.max(axis=1, keepdims=True))
            error = (share / share.sum(axis=1, keepdims=True) - np.eye(10, dtype=np.float32)[digits[some]]) / BATCH
            found, step = back(error.astype(np.float32)), step + 1
            rate = RATE * min(1.0, step / 20) * (1 - step / (last + 1))
            for name, own in network.weights():
                m, v, g = first[name], second[name], found[name]
                m += np.float32(0.1) * (g - m)
                v += np.float32(0.01) * (g * g - v)
                own -= np.float32(rate) * (m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.99**step)) + 1e-8) + DECAY * own)
        share = right / (step // (epoch + 1) * BATCH)
        print(f"epoch {epoch + 1} of {epochs}: {share:.1%}, {time.perf_counter() - start:.0f} s", file=sys.stderr)


def written(network: Residual) -> dict[str, Any]:
    """Return the weights as they are kept."""
    found: dict[str, Any] = {"dense": network.dense, "dense.shift": network.shift}
    for name, layer in network.layers.items():
        weights, shift = layer.folded()
        each = np.abs(weights).max(axis=(1, 2, 3)) / 127
        found |= {
            f"{name}.weight": np.rint(weights / each[:, None, None, None]).astype(np.int8),
            f"{name}.each": each.astype(np.float32),
            f"{name}.bias": shift.astype(np.float32),
        }
    return found


def main() -> None:
    """Train, tell the accuracy, write."""
    from resnet20 import Shape, images_of

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="file of weights to write")
    parser.add_argument("--epochs", type=int, default=6)
    given = parser.parse_args()
    shape = Shape()
    images, digits = images_of(shape)
    images = np.ascontiguousarray(images.transpose(0, 2, 3, 1), dtype=np.float32)
    network = Residual.of(shape.given, shape.widths, shape.blocks)
    trained(network, images[:TRAINED], digits[:TRAINED], given.epochs)
    seen, wanted = images[TRAINED:], digits[TRAINED:]
    scores = np.concatenate([network.forward(seen[at : at + 50], False)[0] for at in range(0, len(seen), 50)])
    print(f"{TRAINED} images to train with, {len(seen)} to test: {np.mean(scores.argmax(axis=1) == wanted):.2%} right")
    np.savez_compressed(given.output, **written(network))


if __name__ == "__main__":
    main()
