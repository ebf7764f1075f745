# SPDX-License-Identifier: Apache-2.0
"""Whole kernels beside Lattigo: the compiler's program, and what a user of Lattigo writes for the same numbers.

    python bench/beside_lattigo.py [--rounds 3] [--repeats 5] [--json]

Lattigo (built here, where Go is installed) has the lengths of the primes that our compiler chose, its own linear
transformation by baby steps and giant steps and its own polynomial evaluator. A special prime that is shorter than a
data prime, which it cannot use, is as long as the longest; its ring is the smallest of 128 bits for that. Its matrices
are encoded before, ours in the time shown. Both take one thread and turns; of each the least time counts. Every result
is compared with numpy's.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from degree31 import SIGMOID, polynomial
from kernels import scaled, twice
from numpy.polynomial.chebyshev import chebval

HERE = Path(__file__).resolve().parent
SOURCE, BINARY = HERE / "peers" / "lattigo", HERE.parent / "target" / "peers" / "lattigo"
# Longest product of all primes of a ring, in bits, by log2 n: 128 bits by the Homomorphic Encryption Standard.
SECURE = {12: 109, 13: 218, 14: 438, 15: 881}
KERNELS = {"scaled": scaled, "twice": twice, "polynomial": polynomial}


def build() -> None:
    """Build Lattigo's program; leaves with status 2 where there is no Go."""
    if not shutil.which("go"):
        sys.exit("error: Lattigo's program is built by Go, which is not installed (Debian package golang-go)")
    BINARY.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["go", "build", "-o", str(BINARY), "."], cwd=SOURCE, check=True)


def expected(kind: str, x: Any, matrix: Any) -> Any:
    """Return what numpy says."""
    if kind == "polynomial":
        return chebval(x, SIGMOID.coefficients)
    return x * (matrix @ x) if kind == "scaled" else matrix @ (matrix @ x)


def compared(kind: str, rounds: int, repeats: int) -> dict[str, Any]:
    """Run both in turns."""
    rng, program = np.random.default_rng(5), KERNELS[kind].compile()
    params = program.params
    x = rng.uniform(-1, 1, 4096 if kind == "polynomial" else 128)
    matrix = rng.uniform(-0.1, 0.1, (128, 128))
    client = program.client()
    server, sent = program.server(client.evaluation_keys, threads=1), client.encrypt(x=x)
    plain = {} if kind == "polynomial" else {"a": matrix}
    log_q = [q.bit_length() for q in params.moduli]
    log_p = [max(p.bit_length(), *log_q) for p in params.special]
    log_n = next(log_n for log_n, bits in SECURE.items() if sum(log_q + log_p) <= bits)
    asked = {
        "kind": kind, "log_n": log_n, "log_q": log_q, "log_p": log_p, "log_scale": params.log2_scale, "x": x.tolist(),
        "matrix": matrix.tolist(), "coefficients": list(map(float, SIGMOID.coefficients)), "repeats": repeats,
    }  # fmt: skip
    one_thread = {**os.environ, "GOMAXPROCS": "1"}
    wanted, ours, theirs = expected(kind, x, matrix), [], []
    for _ in range(rounds):
        for _ in range(repeats):
            start = time.perf_counter()
            answer = server.evaluate(sent, **plain)
            ours.append((time.perf_counter() - start) * 1e3)
        command = [str(BINARY), "kernels"]
        run = subprocess.run(
            command, input=json.dumps(asked), stdout=subprocess.PIPE, text=True, check=True, env=one_thread
        )
        theirs.append(json.loads(run.stdout))
    least = min(found["least_ms"] for found in theirs)
    return {
        "kernel": KERNELS[kind].name, "our n": params.n, "their n": 1 << log_n,
        "ours ms": min(ours), "Lattigo ms": least, "ratio": least / min(ours),
        "our keys": program.rotation_keys + any("relinearize" in step for step in program.counts),
        "their keys": theirs[0]["keys"], "our keys MB": client.evaluation_keys.nbytes / 1e6,
        "their keys MB": theirs[0]["keys_mb"],
        "our error": float(np.abs(client.decrypt(answer) - wanted).max()),
        "their error": float(max(np.abs(np.asarray(found["result"]) - wanted).max() for found in theirs)),
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Whole kernels beside Lattigo.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    build()
    for number, kind in enumerate(KERNELS):
        found = compared(kind, options.rounds, options.repeats)
        if options.json:
            print(json.dumps(found), flush=True)
            continue
        if number == 0:
            print("| " + " | ".join(found) + " |\n|" + "---|" * len(found))
        cells = (f"{value:.3g}" if isinstance(value, float) else str(value) for value in found.values())
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
