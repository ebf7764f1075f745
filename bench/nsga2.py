# SPDX-License-Identifier: Apache-2.0
"""A search by NSGA-II beside the exhaustive one, on spaces where both run: what it finds, by points evaluated.

The front of the exhaustive search is the whole space's. `front found` is how much of it NSGA-II has, `volume` how much
of the area that it dominates of latency (its logarithm) and share of the board, within the worst of both on it.

    .venv/bin/python bench/nsga2.py [KERNEL.py] [--board zcu104] [--seeds 3]
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path

from ringsmith.cli.common import load_kernels
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.evolve import evolve
from ringsmith.explore.parameters import candidates
from ringsmith.explore.point import Point
from ringsmith.explore.search import explore, packed
from ringsmith.explore.space import values_with
from ringsmith.explore.store import Results
from ringsmith.hw.synth import load_board
from ringsmith.parallel import workers
from ringsmith.runtime.runner import complete_inputs

KERNEL = Path(__file__).parents[1] / "examples" / "kernels" / "matmul-plain-100x10.py"
EVALUATIONS = (128, 256, 512, 1024, 2048)


def area(front: Sequence[Point], worst: tuple[float, float]) -> float:
    """Return the area that a front dominates, of log latency and share of the board, within the worst of both."""
    points = sorted((math.log(point.latency_ms or math.inf), point.share) for point in front)
    total, lowest = 0.0, worst[1]
    for latency, share in points:
        if latency < worst[0] and share < lowest:
            total += (worst[0] - latency) * (lowest - share)
            lowest = share
    return total


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", nargs="?", type=Path, default=KERNEL)
    parser.add_argument("--board", default="zcu104")
    parser.add_argument("--variant", default="ours")
    parser.add_argument("--seeds", type=int, default=3)
    wanted = parser.parse_args()
    kernel = load_kernels(wanted.kernel).pick(None, wanted.variant)
    shapes = {name: array.shape for name, array in complete_inputs(kernel, {}, None).items()}
    found, board, values = candidates(kernel, shapes), load_board(wanted.board), values_with([])
    with Evaluator(packed(found), workers()) as evaluator:
        began = time.perf_counter()
        whole = explore(found, values, board, Results(Path(":memory:")), evaluator)
        seconds = time.perf_counter() - began
        best = {point.objectives() for point in whole.front}
        worst = (
            max(math.log(point.latency_ms or math.inf) for point in whole.front) + 1e-9,
            max(point.share for point in whole.front) + 1e-9,
        )
        most = area(whole.front, worst)
        print(f"{kernel.name} on {board.name}: exhaustive: {whole.total:,} points, {len(whole.points):,} evaluated, ")
        print(f"{len(best)} results on the front, {seconds:.1f} s\n")
        print("| evaluated | front found | volume | s |\n|---|---|---|---|")
        for evaluations in EVALUATIONS:
            shares, volumes, times = [], [], []
            for seed in range(wanted.seeds):
                began, results = time.perf_counter(), Results(Path(":memory:"))
                front = evolve(found, values, board, results, evaluator, evaluations, seed=seed).front
                times.append(time.perf_counter() - began)
                shares.append(len({point.objectives() for point in front} & best) / len(best))
                volumes.append(area(front, worst) / most)
            cells = (f"{100 * min(each):.0f} to {100 * max(each):.0f} %" for each in (shares, volumes))
            print(f"| {evaluations:,} | {' | '.join(cells)} | {max(times):.1f} |", flush=True)


if __name__ == "__main__":
    main()
