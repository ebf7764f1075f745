# SPDX-License-Identifier: Apache-2.0
"""The circuits whose answers are compared between libraries, and their inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

PLAIN_MODULUS = 65537
SCALE = 2.0**40
#: Degrees with the bits of the primes, the last one special.
BFV = [(8192, [43, 43, 44, 44, 44]), (16384, [48, 48, 48, 48, 48, 49])]
CKKS = [(8192, [60, 40, 40, 60]), (16384, [60, 40, 40, 40, 40, 60])]


def inputs(scheme: str, n: int) -> list[np.ndarray]:
    """Three vectors, the same for every library: integers below the plaintext modulus, or reals within ±1."""
    random = np.random.default_rng(n)
    if scheme == "bfv":
        return [random.integers(0, PLAIN_MODULUS, n) for _ in range(3)]
    return [random.uniform(-1, 1, n // 2) for _ in range(3)]


def wanted(scheme: str, values: list[np.ndarray]) -> dict[str, np.ndarray]:
    """What the steps of `walk` give, by numpy."""
    x, y, z = (v.astype(object) if scheme == "bfv" else v for v in values)
    rows = (2, -1) if scheme == "bfv" else (1, -1)
    steps = {"encrypted": x, "sum": x + y, "product": x * y, "product with a plaintext": x * z}
    steps["rotated"] = np.roll(x.reshape(rows), -1, axis=1).reshape(-1)
    steps["product of two products"] = (x * y) * (x * y)
    if scheme == "bfv":
        steps = {name: value % PLAIN_MODULUS for name, value in steps.items()}
    return {name: value.astype(np.int64 if scheme == "bfv" else float) for name, value in steps.items()}


def walk(library: Any, values: list[np.ndarray], promised: dict[str, float] | None = None) -> dict[str, dict[str, Any]]:
    """Run the steps: BFV the number of wrong slots and the noise budget, CKKS the largest error of a slot.

    `promised` receives what the library is sure of, if it says so.
    """
    x, y, z = values
    a, b = library.encrypt(x), library.encrypt(y)
    product = library.multiply(a, b)
    made = {
        "encrypted": a, "sum": library.add(a, b), "product": product,
        "product with a plaintext": library.multiply_plain(a, z), "rotated": library.rotate(a),
        "product of two products": library.multiply(product, product),
    }  # fmt: skip
    scheme = "bfv" if library.exact else "ckks"
    right = wanted(scheme, values)
    found: dict[str, dict[str, Any]] = {}
    for name, ciphertext in made.items():
        answer = library.decrypt(ciphertext)
        if promised is not None:
            promised[name] = library.promised(ciphertext)
        if library.exact:
            found[name] = {"wrong": int((answer != right[name]).sum()), "budget": library.budget(ciphertext)}
        else:
            found[name] = {"error": float(np.abs(answer - right[name]).max())}
    return found


def tell(made: Callable[[str, int, list[int]], Any], primes: str) -> None:
    """Print a JSON object a set: what a library that `made` makes finds, and its primes under a name."""
    for scheme, sets in (("bfv", BFV), ("ckks", CKKS)):
        for n, bits in sets:
            library = made(scheme, n, bits)
            found = walk(library, inputs(scheme, n))
            print(json.dumps({"scheme": scheme, "n": n, primes: library.primes, "steps": found}), flush=True)
