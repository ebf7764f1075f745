# SPDX-License-Identifier: Apache-2.0
"""A batch on a Ray cluster of this machine: one worker against two, each of one core, in processes of their own.

    python bench/cluster.py [--batch 256] [--rounds 3] [--json]

The kernel is BFV with two multiplications, one after the other. Workers are warm: actors started, keys loaded. Rounds
alternate, and the medians are compared. `load` is the machine's load average before: with other work on its cores the
ratio says little.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from typing import Any

import numpy as np

import ringsmith as rs


@rs.kernel(scheme="bfv", x=rs.Encrypted(2048, low=-9, high=9))
def cube(x: Any) -> Any:
    """Two multiplications, one after the other."""
    return x * x * x


def timed(program: rs.Program, client: rs.Client, batch: list[rs.Encryptions], address: str, workers: int) -> float:
    """Return the seconds of a batch."""
    start = time.perf_counter()
    program.evaluate_many(client.evaluation_keys, batch, ray=address, workers=workers)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="One worker of a Ray cluster against two.")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": 500 << 20})
    program = cube.compile()
    client = program.client()
    rng = np.random.default_rng(1)
    batch = [client.encrypt(x=rng.integers(-9, 10, 2048)) for _ in range(options.batch)]
    taken: dict[int, list[float]] = {1: [], 2: []}
    timed(program, client, batch[:16], cluster.address, 2)
    for _ in range(options.rounds):
        for workers, seconds in taken.items():
            seconds.append(timed(program, client, batch, cluster.address, workers))
    medians = {workers: statistics.median(seconds) for workers, seconds in taken.items()}
    found = {
        "batch": options.batch, "load": load, "seconds": medians, "ratio": medians[1] / medians[2],
        "per_second": {workers: options.batch / seconds for workers, seconds in medians.items()},
    }  # fmt: skip
    if options.json:
        print(json.dumps(found))
    else:
        print(f"load average {load:.1f} before")
        for workers, seconds in medians.items():
            print(f"{workers} workers: {seconds:.2f} s, {options.batch / seconds:.1f} a second")
        print(f"ratio {found['ratio']:.2f}")
    cluster.shutdown()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
