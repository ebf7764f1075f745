# SPDX-License-Identifier: Apache-2.0
"""Times desilofhe's CKKS. Its engine picks n and its own moduli from the level: only the limb count is comparable."""

from __future__ import annotations

import math

import desilofhe
from common import report

LIBRARY = "desilofhe 2.0.0"


def ckks(max_level: int) -> None:
    """Operations of an engine with `max_level` rescalings, on one thread."""
    engine = desilofhe.Engine(max_level=max_level, mode="cpu", thread_count=1)
    n = 2 * engine.slot_count
    bits: list[int] = []  # not disclosed by the library
    secret = engine.create_secret_key()
    public = engine.create_public_key(secret)
    relin = engine.create_relinearization_key(secret)
    rotation = engine.create_fixed_rotation_key(secret, delta=1)
    x = [math.sin(i) for i in range(n // 2)]
    y = [math.cos(i) for i in range(n // 2)]
    product = [a * b for a, b in zip(x, y, strict=True)]
    px = engine.encode(x)
    cx, cy = engine.encrypt(x, public), engine.encrypt(y, public)
    c3 = engine.multiply(cx, cy)
    results: dict[str, object] = {}

    def keep(name: str, value: object) -> None:
        results[name] = value

    def near(ct: object, want: list[float]) -> bool:
        return all(abs(float(a.real) - b) < 1e-3 for a, b in zip(engine.decrypt(ct, secret), want, strict=False))

    report(LIBRARY, "ckks-encode", n, bits, lambda: engine.encode(x), lambda: True)
    report(
        LIBRARY, "ckks-encrypt", n, bits, lambda: keep("e", engine.encrypt(px, public)), lambda: near(results["e"], x)
    )
    report(LIBRARY, "ckks-multiply", n, bits, lambda: keep("m", engine.multiply(cx, cy)), lambda: True)
    report(
        LIBRARY,
        "ckks-relinearize",
        n,
        bits,
        lambda: keep("r", engine.relinearize(c3, relin)),
        lambda: near(results["r"], product),
    )
    report(
        LIBRARY,
        "ckks-rotate",
        n,
        bits,
        lambda: keep("t", engine.rotate(cx, rotation)),
        lambda: near(results["t"], x[1:] + x[:1]) or near(results["t"], x[-1:] + x[:-1]),
    )


if __name__ == "__main__":
    ckks(6)
    ckks(13)
