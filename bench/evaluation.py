# SPDX-License-Identifier: Apache-2.0
"""Overhead of a program around the engine, and the evaluation of whole programs. One thread; least and median.

    .venv/bin/python bench/evaluation.py [--repeats 200]

outside      `server.evaluate` of one square with relinearisation, less the time of the engine's steps: reading and
             checking the request, the calls, writing the answer
square       4096 exact integers squared, which fill both rows of the slots
classifier   285 rows of 30 measurements times weights, then a polynomial of degree 7, as in `make run`
bytes        what crosses to `model:cofhee` and back for the square, keys included
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import ringsmith as rs
from ringsmith.runtime.devices import open_device

VALUES, ROWS, FEATURES = 4096, 285, 30
#: Kinds of time that are not the engine's arithmetic.
AROUND = ("read", "write")
ODD = [0.5, 1.2, 0.0, -1.1, 0.0, 0.8, 0.0, -0.2]


@rs.kernel(scheme="bfv", x=rs.Encrypted(VALUES, bound=250))
def square(x: Any) -> Any:
    """One square with relinearisation."""
    return x * x


@rs.kernel(
    scheme="ckks",
    x=rs.Encrypted(None, FEATURES, bound=4.0),
    weights=rs.Plain(FEATURES, bound=0.1),
    tolerance=1e-3,
)
def classifier(x: Any, weights: Any) -> Any:
    """A score for each row, through a polynomial."""
    return rs.polynomial(rs.within(x @ weights, 1.0), ODD)


def timed(repeats: int, call: Callable[[], float]) -> str:
    """Least and median of the seconds that `call` returns, in milliseconds."""
    found = [call() * 1e3 for _ in range(repeats)]
    return f"least {min(found):9.3f} ms   median {statistics.median(found):9.3f} ms"


def runs(program: Any, plain: dict[str, Any], **encrypted: Any) -> tuple[Callable[[], float], Callable[[], float]]:
    """One evaluation on one thread: the seconds of all of it, and of what is around the engine's steps."""
    client = program.client(sample_data=True)
    server = program.server(client.evaluation_keys, threads=1)
    sent = client.encrypt(**encrypted)

    def once(steps_count: bool) -> float:
        begin = time.perf_counter()
        execution = server.run(sent, plain)
        took = time.perf_counter() - begin
        steps = sum(seconds for kind, seconds in execution.seconds.items() if kind not in AROUND)
        return took if steps_count else took - steps

    return lambda: once(True), lambda: once(False)


def moved() -> str:
    """Bytes to `model:cofhee` and from it."""
    device = open_device("model", "cofhee").native
    program = replace(square.compile(), device=device)
    client = program.client(sample_data=True)
    sent = client.encrypt(x=np.arange(VALUES) % 250)
    server = program.server(client.evaluation_keys)
    device.take_usage()
    server.evaluate(sent)
    usage = device.take_usage()
    return "sent {bytes:,}".format(**usage["send"]) + ", received {bytes:,}".format(**usage["receive"])


def main() -> None:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200, help="evaluations of each (default: %(default)s)")
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(0)
    whole, outside = runs(square.compile(), {}, x=np.arange(VALUES) % 250)
    print(f"outside     {timed(repeats, outside)}")
    print(f"square      {timed(repeats, whole)}")
    rows, weights = rng.uniform(-1, 1, (ROWS, FEATURES)), rng.uniform(-0.03, 0.03, FEATURES)
    whole, _ = runs(classifier.compile(x=rows.shape), {"weights": weights}, x=rows)
    print(f"classifier  {timed(max(1, repeats // 10), whole)}")
    print(f"bytes       {moved()}")


if __name__ == "__main__":
    main()
