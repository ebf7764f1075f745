# SPDX-License-Identifier: Apache-2.0
"""A batch on a Ray cluster of this machine: one worker against two, each of one core, in processes of their own.

    python bench/cluster.py [--batch 256] [--rounds 3] [--json]

Two kernels: `cube`, BFV with two multiplications one after the other, half a millisecond of work for 86 kB sent; and
`score`, 285 rows of 30 values through a polynomial of degree 7, four milliseconds for 0.7 MB. Workers are warm: actors
started, keys loaded. Rounds alternate, and the medians are compared. `load` is the machine's load average before: with
other work on its cores the ratio says little. So processor time is told beside it, ms an item: of the workers, of the
driver, and of Ray's own processes. On two cores with nothing else to do one worker takes its own time an item while the
rest happens beside it, two take half of all: `by time` is the ratio of these, which other work moves less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import ringsmith as rs


@rs.kernel(scheme="bfv", x=rs.Encrypted(2048, low=-9, high=9))
def cube(x: Any) -> Any:
    """Two multiplications, one after the other."""
    return x * x * x


ODD = [0.5, 1.2, 0.0, -1.1, 0.0, 0.8, 0.0, -0.2]


@rs.kernel(scheme="ckks", x=rs.Encrypted(285, 30, bound=4.0), tolerance=1e-3)
def score(x: Any) -> Any:
    """Rows times weights, through a polynomial."""
    return rs.polynomial(rs.within(x @ np.linspace(-0.1, 0.1, 30), 1.0), ODD)


def timed(program: rs.Program, client: rs.Client, batch: list[rs.Encryptions], address: str, workers: int) -> float:
    """Return the seconds of a batch."""
    start = time.perf_counter()
    program.evaluate_many(client.evaluation_keys, batch, ray=address, workers=workers)
    return time.perf_counter() - start


def used() -> dict[str, float]:
    """Return the seconds of processor time of the workers, of this process, and of Ray's own, until now."""
    found = {"workers": 0.0, "driver": 0.0, "ray": 0.0}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            line, fields = (place / "cmdline").read_bytes(), (place / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # It has just ended.
        part = "workers" if b"ray::Holder" in line else "ray" if b"raylet" in line or b"gcs_server" in line else ""
        part = "driver" if place.name == str(os.getpid()) else part
        if part:
            found[part] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


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

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": 1 << 30, "include_dashboard": False}
    )
    rng = np.random.default_rng(1)
    arguments = {cube: lambda: rng.integers(-9, 10, 2048), score: lambda: rng.uniform(-4, 4, (285, 30))}
    if not options.json:
        print(f"load average {load:.1f} before, batches of {options.batch}")
    for kernel, values in arguments.items():
        program = kernel.compile()
        client = program.client()
        batch = [client.encrypt(x=values()) for _ in range(options.batch)]
        medians, parts = measured(program, client, batch, cluster.address, options.rounds)
        found = {
            "kernel": kernel.name, "batch": options.batch, "load": load, "seconds": medians,
            "ratio": medians[1] / medians[2], "ms_of_time": parts,
            "ratio_by_time": parts[1]["workers"] / (sum(parts[2].values()) / 2),
        }  # fmt: skip
        if options.json:
            print(json.dumps(found), flush=True)
            continue
        rates = ", ".join(f"{workers} workers {options.batch / seconds:.0f}" for workers, seconds in medians.items())
        print(f"{kernel.name}: {rates} a second; ratio {found['ratio']:.2f}")
        for workers, one in parts.items():
            listed = ", ".join(f"{name} {ms:.3f}" for name, ms in one.items())
            print(f"  {workers} workers, ms of processor time an item: {listed}")
        print(f"  by time {found['ratio_by_time']:.2f}", flush=True)


def measured(
    program: rs.Program, client: rs.Client, batch: list[rs.Encryptions], address: str, rounds: int
) -> tuple[dict[int, float], dict[int, dict[str, float]]]:
    """Return, for one worker and for two, the median seconds of the batch, and ms of processor time of an item."""
    taken: dict[int, list[float]] = {1: [], 2: []}
    parts: dict[int, dict[str, float]] = {1: {}, 2: {}}
    timed(program, client, batch, address, 2)
    for _ in range(rounds):
        for workers, seconds in taken.items():
            before = used()
            seconds.append(timed(program, client, batch, address, workers))
            for name, value in used().items():
                ms = (value - before[name]) / len(batch) / rounds * 1e3
                parts[workers][name] = parts[workers].get(name, 0.0) + ms
    return {workers: statistics.median(seconds) for workers, seconds in taken.items()}, parts


if __name__ == "__main__":
    main()
