# SPDX-License-Identifier: Apache-2.0
"""The harness's side of the inference: random test images, and the right digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from layout import Folders
from numpy.typing import NDArray
from sizes import ACCURACY, IMAGES


def images_of(root: Path) -> Path:
    """The file of images that a run draws from."""
    return root / "mnist.npz"


def generate(folders: Folders, seed: int) -> None:
    """Write pixels and labels of test images, drawn without repetition as far as there are as many."""
    images = np.load(images_of(folders.root))
    count, there = IMAGES[folders.size], len(images["test"])
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([rng.permutation(there) for _ in range(-(-count // there))])[:count]
    place = folders.data / "intermediate"
    place.mkdir(exist_ok=True)
    np.savetxt(place / "test_pixels.txt", images["test"][drawn], fmt="%.6f")
    np.savetxt(place / "test_labels.txt", images["test_labels"][drawn], fmt="%d")


def verdict(folders: Folders) -> tuple[bool, str]:
    """Return whether the digits are right: the one image's, of several at least the accuracy asked for."""
    labels, found = _labels(folders), _found(folders)
    if labels.shape != found.shape:
        return False, f"{len(found)} digits in place of {len(labels)}"
    right = int((labels == found).sum())
    wanted = 1.0 if folders.size == "single" else ACCURACY
    return right >= wanted * len(labels), f"{right} of {len(labels)} digits are right, at least {wanted:.0%} have to be"


def quality(folders: Folders) -> dict[str, Any]:
    """Return the accuracy in the form of the figures."""
    right, count = int((_labels(folders) == _found(folders)).sum()), len(_labels(folders))
    return {
        "Encrypted model quality": {
            "correct_predictions": right,
            "total_samples": count,
            "accuracy": right / count,
        }
    }


def _labels(folders: Folders) -> NDArray[np.int64]:
    return np.loadtxt(folders.data / "intermediate" / "test_labels.txt", np.int64, ndmin=1)


def _found(folders: Folders) -> NDArray[np.int64]:
    return np.loadtxt(folders.io / "encrypted_model_predictions.txt", np.int64, ndmin=1)
