# SPDX-License-Identifier: Apache-2.0
"""Timing and reporting shared by the Python peers: one JSON line per operation."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable


def measure(op: Callable[[], object]) -> tuple[float, float]:
    """Median in µs and relative interquartile spread over at least 0.4 s or 400 runs, after a warm-up."""
    op()
    micros: list[float] = []
    begin = time.perf_counter()
    while len(micros) < 7 or (len(micros) < 400 and time.perf_counter() - begin < 0.4):
        start = time.perf_counter()
        op()
        micros.append((time.perf_counter() - start) * 1e6)
    quarters = statistics.quantiles(micros, n=4)
    median = statistics.median(micros)
    return median, (quarters[2] - quarters[0]) / median


def report(
    library: str, operation: str, n: int, moduli_bits: list[int], op: Callable[[], object], correct: Callable[[], bool]
) -> None:
    """Time `op` and print its line; `correct` runs after the timing and checks the last result by decryption."""
    median, spread = measure(op)
    line = {
        "operation": operation,
        "n": n,
        "moduli_bits": moduli_bits,
        "library": library,
        "median_us": median,
        "spread": spread,
        "correct": correct(),
    }
    print(json.dumps(line), flush=True)
