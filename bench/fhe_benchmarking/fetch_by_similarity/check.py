# SPDX-License-Identifier: Apache-2.0
"""The harness's side of fetch by similarity: clustered unit vectors, a query, and the records that match it."""

from __future__ import annotations

import numpy as np
from layout import Folders
from numpy.typing import NDArray
from sizes import PAYLOAD, PAYLOAD_END, RECORDS, THRESHOLD

Array = NDArray[np.float32]
#: Records of a cluster, on average of those that belong to one, and their distance from its centre.
CLUSTER, SPREAD = 32, 0.3


def unit(points: Array) -> Array:
    """The points as unit vectors."""
    return np.asarray(points / np.linalg.norm(points, axis=-1, keepdims=True))


def around(centres: Array, count: int, rng: np.random.Generator) -> Array:
    """Unit vectors, each with probability one half uniform, else near a random centre."""
    points = unit(rng.standard_normal((count, centres.shape[1]), np.float32))
    near = centres[rng.integers(0, len(centres), count)] + np.float32(SPREAD) * points
    return np.where(rng.integers(0, 2, (count, 1)) == 0, points, unit(near))


def generate(folders: Folders, seed: int) -> None:
    """Write centres, records and payloads."""
    rng = np.random.default_rng(seed)
    count, dimension = RECORDS[folders.size]
    centres = unit(rng.standard_normal((max(1, count // CLUSTER), dimension), np.float32))
    centres.tofile(folders.data / "centers.bin")
    around(centres, count, rng).tofile(folders.data / "db.bin")
    rng.integers(0, PAYLOAD_END, (count, PAYLOAD), np.int16).tofile(folders.data / "payloads.bin")


def ask(folders: Folders, seed: int) -> None:
    """Write a query, drawn as records are."""
    centres = np.fromfile(folders.data / "centers.bin", np.float32).reshape(-1, RECORDS[folders.size][1])
    around(centres, 1, np.random.default_rng(seed)).tofile(folders.data / "query.bin")


def verdict(folders: Folders) -> tuple[bool, str]:
    """Return whether the number of matches, or every payload of one, is right."""
    dimension = RECORDS[folders.size][1]
    records = np.fromfile(folders.data / "db.bin", np.float32).reshape(-1, dimension)
    matches = records @ np.fromfile(folders.data / "query.bin", np.float32) > THRESHOLD
    answer = folders.io / "results.bin"
    if folders.counted:
        found = np.fromfile(answer, np.int64).tolist()
        return found == [matches.sum()], f"{found} matches found, {matches.sum()} are there"
    payloads = np.fromfile(folders.data / "payloads.bin", np.int16).reshape(-1, PAYLOAD)[matches]
    expected = payloads[np.lexsort(payloads.T[::-1])]
    got = np.fromfile(answer, np.int16).reshape(-1, PAYLOAD)
    return np.array_equal(expected, got), f"{len(got)} payloads found, {len(expected)} are there"
