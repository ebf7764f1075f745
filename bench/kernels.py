# SPDX-License-Identifier: Apache-2.0
"""What whole kernels cost: ring degree, key switches, keys, compilation and evaluation. One thread.

    python bench/kernels.py [--guarantee probable] [--repeats 5] [--json] [NAME ...]

The layouts are the compiler's (`packing="auto"`). Each result is compared with numpy's: `error` is the largest
difference. Compilation is processor time, evaluation the least of the repeats.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

import ringsmith as rs

WEIGHTS = np.random.default_rng(1)
FIRST, SECOND = WEIGHTS.uniform(-0.05, 0.05, (64, 784)), WEIGHTS.uniform(-0.2, 0.2, (10, 64))
SQUARE = {"x": rs.Encrypted(128, bound=1.0), "a": rs.Plain(128, 128, bound=0.1)}


def kernel(name: str, scheme: str = "ckks", tolerance: float = 1e-3, **arguments: Any) -> Any:
    """Declare a kernel by the name it has in the table."""
    more = {"tolerance": tolerance} if scheme == "ckks" else {}
    return rs.kernel(name=name, scheme=scheme, **more, **arguments)


@kernel("x * (A @ x), 128", **SQUARE)
def scaled(x: Any, a: Any) -> Any:
    """A quadratic form, element by element."""
    return x * (a @ x)


@kernel("A @ (A @ x), 128", **SQUARE)
def twice(x: Any, a: Any) -> Any:
    """Two steps of an iteration."""
    return a @ (a @ x)


@kernel("d @ g, 500 by 500x4, BFV", "bfv", d=rs.Encrypted(500, bound=10), g=rs.Encrypted(500, 4, bound=10))
def vector_matrix(d: Any, g: Any) -> Any:
    """Both encrypted."""
    return d @ g


@kernel("32x32 by 32x32", a=rs.Encrypted(32, 32, bound=1.0), b=rs.Encrypted(32, 32, bound=1.0))
def matrices(a: Any, b: Any) -> Any:
    """Both encrypted."""
    return a @ b


@kernel(
    "32x32 by 32x32, fixed rows",
    a=rs.Encrypted(32, 32, bound=1.0, packing="rows"),
    b=rs.Encrypted(32, 32, bound=1.0, packing="rows"),
)
def matrices_by_rows(a: Any, b: Any) -> Any:
    """In a layout that does not suit it: the longest compilation known."""
    return a @ b


@kernel("distances, 1000x64", tolerance=1e-2, x=rs.Encrypted(1000, 64, bound=1.0), y=rs.Plain(64, bound=1.0))
def distances(x: Any, y: Any) -> Any:
    """Squared distances of rows to a point."""
    return rs.sum(x * x, axis=1) - 2 * (x @ y) + rs.sum(y * y)


@kernel("distances, y encrypted", tolerance=1e-2, x=rs.Encrypted(1000, 64, bound=1.0), y=rs.Encrypted(64, bound=1.0))
def distances_to_secret(x: Any, y: Any) -> Any:
    """The same with the point encrypted too."""
    return rs.sum(x * x, axis=1) - 2 * (x @ y) + rs.sum(y * y)


def network(x: Any) -> Any:
    """Two layers with a square between them."""
    hidden = rs.within(x @ FIRST.T, 4.0)
    return (hidden * hidden) @ SECOND.T


one_row = kernel("MLP 784-64-10", tolerance=1e-2, x=rs.Encrypted(784, low=0.0, high=1.0))(network)
many_rows = kernel("MLP 784-64-10, 32 rows", tolerance=1e-2, x=rs.Encrypted(32, 784, low=0.0, high=1.0))(network)


@kernel("sum(x * x), 1024, BFV", "bfv", x=rs.Encrypted(1024, bound=10))
def sum_of_squares(x: Any) -> Any:
    """One relinearisation."""
    return rs.sum(x * x)


KERNELS = [
    scaled, twice, vector_matrix, matrices, matrices_by_rows, distances, distances_to_secret, one_row, many_rows,
    sum_of_squares,
]  # fmt: skip


def measured(made: Any, repeats: int) -> dict[str, Any]:
    """Compile and run one kernel on random data."""
    start = time.process_time()
    program = made.compile()
    compiled = time.process_time() - start
    rng = np.random.default_rng(3)
    values: dict[str, Any] = {}
    for name, argument in made.arguments.items():
        shape = argument.fix(name, None)
        exact = made.scheme == "bfv"
        low, high = argument.low, argument.high
        values[name] = rng.integers(low, high + 1, shape) if exact else rng.uniform(low, high, shape)
    encrypted = {name: value for name, value in values.items() if made.arguments[name].encrypted}
    plain = {name: value for name, value in values.items() if name not in encrypted}
    client = program.client(sample_data=True)
    server = program.server(client.evaluation_keys, threads=1)
    sent = client.encrypt(**encrypted)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = server.evaluate(sent, **plain)
        times.append(time.perf_counter() - start)
    error = np.abs(np.asarray(client.decrypt(answer), float) - np.asarray(made.function(**values), float)).max()
    return {
        "kernel": made.name, "n": program.params.n, "key switches": program.counts["key_switch"],
        "keys MB": client.evaluation_keys.nbytes / 1e6, "sent MB": sent.nbytes / 1e6, "answer MB": answer.nbytes / 1e6,
        "compile s": compiled, "evaluate ms": min(times) * 1e3, "error": float(error),
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Cost of whole kernels in the compiler's layouts.")
    parser.add_argument("names", nargs="*", help="kernels whose name has one of these in it (default: all)")
    parser.add_argument("--guarantee", choices=["certain", "probable"], default="certain")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    chosen = [made for made in KERNELS if not options.names or any(name in made.name for name in options.names)]
    if not chosen:
        parser.error(f"no kernel has such a name; there are {', '.join(made.name for made in KERNELS)}")
    header = False
    for made in chosen:
        found = measured(made.options(guarantee=options.guarantee), options.repeats)
        if options.json:
            print(json.dumps(found), flush=True)
            continue
        if not header:
            print("| " + " | ".join(found) + " |\n|" + "---|" * len(found))
            header = True
        cells = (f"{value:.3g}" if isinstance(value, float) else str(value) for value in found.values())
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
