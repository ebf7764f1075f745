# SPDX-License-Identifier: Apache-2.0
"""Train the network on the package's training images and write `model.npz`: `train.py ROOT`, half a minute.

Cross entropy by Adam on straightened images, each in several versions that are turned, stretched and sheared a little,
and moved by up to a pixel.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from model import BEFORE, DIGITS, HIDDEN, PIXELS, SCORE, SHIFT, SIDE, WEIGHT, sampled, straightened
from numpy.typing import NDArray

Array = NDArray[np.float32]
VERSIONS, EPOCHS, BATCH, RATE, DECAY = 10, 100, 100, 2e-3, 1e-2


def bent(images: Array, rng: np.random.Generator) -> Array:
    """The images turned by up to 0.2, stretched by up to a tenth, sheared and moved a little."""
    count, middle = len(images), (SIDE - 1) / 2
    y, x = np.mgrid[0:SIDE, 0:SIDE] - middle
    turn, shear, down, right = rng.uniform(-1, 1, (4, count, 1, 1)) * np.reshape([0.2, 0.15, 1, 1], (4, 1, 1, 1))
    tall, wide = rng.uniform(0.9, 1.1, (2, count, 1, 1))
    from_y = (np.cos(turn) * y + (shear - np.sin(turn)) * x) / tall + down + middle
    from_x = (np.sin(turn) * y + np.cos(turn) * x) / wide + right + middle
    return sampled(images.reshape(-1, SIDE, SIDE), from_y.astype(np.float32), from_x.astype(np.float32))


def gradients(weights: list[Array], images: Array, wanted: Array) -> list[Array]:
    """The gradients of the cross entropy."""
    before = images @ weights[0] + weights[1]
    hidden = before * before
    scores = hidden @ weights[2] + weights[3]
    share = np.exp(scores - scores.max(1, keepdims=True))
    error = (share / share.sum(1, keepdims=True) - wanted) / len(images)
    back = 2 * before * (error @ weights[2].T)
    return [images.T @ back, back.sum(0), hidden.T @ error, error.sum(0)]


def trained(images: Array, labels: NDArray[np.int64], epochs: int = EPOCHS, versions: int = VERSIONS) -> list[Array]:
    """Weights (784, 128), shifts, weights (128, 10), offsets."""
    rng = np.random.default_rng(0)
    square = images.reshape(-1, SIDE, SIDE)
    parts = [square[begin : begin + 500] for begin in range(0, len(square), 500)]
    made = [square, *(np.concatenate([bent(part, rng) for part in parts]) for _ in range(versions - 1))]
    padded = np.pad(np.stack(made), ((0, 0), (0, 0), (1, 1), (1, 1)))
    spreads = [1 / 28, 0, 0.3 / np.sqrt(HIDDEN), 0]
    shapes = [(PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, DIGITS), (DIGITS,)]
    weights = [rng.normal(0, spread, shape).astype(np.float32) for spread, shape in zip(spreads, shapes, strict=True)]
    moments = [(np.zeros_like(weight), np.zeros_like(weight)) for weight in weights]
    batch = min(BATCH, len(images))
    steps, step = epochs * (len(images) // batch), 0
    for _ in range(epochs):
        order = rng.permutation(len(images))
        for begin in range(0, len(order) - batch + 1, batch):
            some = order[begin : begin + batch]
            down, right = rng.integers(0, 3, 2)
            seen = padded[rng.integers(0, versions, batch), some][:, down : down + SIDE, right : right + SIDE]
            slopes = gradients(weights, seen.reshape(batch, PIXELS), np.eye(DIGITS, dtype=np.float32)[labels[some]])
            step += 1
            rate = RATE * (1 + np.cos(np.pi * step / steps)) / 2
            for weight, slope, (first, second) in zip(weights, slopes, moments, strict=True):
                first += 0.1 * (slope - first)
                second += 0.001 * (slope * slope - second)
                move = (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
                weight -= np.float32(rate) * (move + DECAY * weight)
    return weights


def scores_of(weights: list[Array], images: Array) -> Array:
    """What the network says in the clear."""
    return np.asarray((images @ weights[0] + weights[1]) ** 2 @ weights[2] + weights[3])


def main(root: Path) -> None:
    """Train, hold the ranges that the kernel promises, and write the weights with their accuracy on the test images."""
    data = np.load(root / "mnist.npz")
    images, tests = straightened(data["train"]), straightened(data["test"])
    weights = trained(images, data["train_labels"])
    before, scores = images @ weights[0] + weights[1], scores_of(weights, images)
    ranges = [(weights[0], WEIGHT), (weights[2], WEIGHT), (weights[1], SHIFT), (weights[3], SHIFT)]
    for values, bound in [*ranges, (1.25 * before, BEFORE), (1.25 * scores, SCORE)]:
        assert np.abs(values).max() <= bound, "the network's values exceed what the kernel declares"
    accuracy = (scores_of(weights, tests).argmax(1) == data["test_labels"]).mean()
    np.savez(root / "model.part.npz", *weights, accuracy=accuracy)
    (root / "model.part.npz").replace(root / "model.npz")
    print(f"{accuracy:.2%} of {len(tests)} test images are read right in the clear", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
