# SPDX-License-Identifier: Apache-2.0
"""The service against the engine alone, on a small job: n = 4096, one multiplication; all parts on this machine.

    python bench/service.py [--jobs 400] [--clients 4] [--rounds 3] [--tcp] [--json]

Client and server talk through a file (`--socket`), or through TCP's loopback with `--tcp`. The engine alone: two
processes at a time, from the bytes of the arguments to those of the result. Through the service, with two workers, from
messages that were encrypted before to those of the results: `run`, a request for each job (`PUT /v1/jobs/ID/run`);
`many`, many jobs a request (`POST /v1/jobs/run`, `evaluate_many`), each kept with its result; `passing`, the same with
`keep=0`.

*Share of rate*: jobs a second through the service over those of the engine alone. *Share of time*: processor time that
the engine takes for a job over that of client, server and workers together: where the machine has other work to do,
this says more. Rounds alternate, and medians are told. *Added latency*: one job at a time, keys warm: from sending the
arguments to having the result, less the time that the worker's run took.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import ringsmith as rs
from ringsmith.remote import steps
from ringsmith.service.harness import Running

#: Processes that evaluate, of the service and of the engine alone.
WORKERS = 2


@rs.kernel(scheme="bfv", x=rs.Encrypted(2048, low=-9, high=9), y=rs.Encrypted(2048, low=-9, high=9))
def product(x: Any, y: Any) -> Any:
    """One multiplication."""
    return x * y


def own_seconds() -> float:
    """Return the processor time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def seconds_of(process: int) -> float:
    """Return the processor time of another process, all its threads."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) * 1e-9


def evaluated(program: bytes, keys: bytes, data: list[bytes]) -> tuple[float, float]:
    """Return processor time and time of one job on the engine alone, one thread."""
    server = rs.Program.from_bytes(program).server(rs.Keys.from_bytes(keys), threads=1)
    server.run(rs.Encryptions.from_bytes(data[0]), {}).result.to_bytes()
    start, used = time.perf_counter(), own_seconds()
    for one in data:
        server.run(rs.Encryptions.from_bytes(one), {}).result.to_bytes()
    return (own_seconds() - used) / len(data), (time.perf_counter() - start) / len(data)


def engine(pool: ProcessPoolExecutor, program: rs.Program, client: rs.Client, data: list[bytes]) -> dict[str, float]:
    """Return ms of processor time for a job, and jobs a second, of as many processes as there are workers."""
    given = program.to_bytes(), client.evaluation_keys.to_bytes(), data
    taken = [one.result() for one in [pool.submit(evaluated, *given) for _ in range(WORKERS)]]
    return {
        "engine_ms": statistics.mean(used for used, _ in taken) * 1e3,
        "jobs_per_second": sum(1 / seconds for _, seconds in taken),
    }


class Served:
    """The program on a server."""

    def __init__(self, server: Running, remote: rs.remote.Remote, place: rs.remote.RemoteProgram, clients: int) -> None:
        """Ask with `clients` threads."""
        self.server, self.remote, self.place, self.clients = server, remote, place, clients
        self.places, self.workers = place.prepare(), server.workers()

    def job(self, body: bytes) -> str:
        """Run one in a request of its own; returns its name."""
        name = steps.new_job()
        self.remote.wire.run(steps.evaluate(*self.places, body, {}, name, None, self.place.program.result_bytes))
        return name

    def run(self, data: list[rs.Encryptions]) -> None:
        """Run all, a request each."""
        with ThreadPoolExecutor(self.clients) as pool:
            deque(pool.map(lambda message: self.job(message.to_bytes()), data), 0)

    def many(self, data: list[rs.Encryptions], keep: float) -> None:
        """Run all, many in a request."""
        deque(self.place.evaluate_many(data, keep=keep), 0)

    def seconds(self) -> dict[str, float]:
        """Return the processor time of each part until now."""
        workers = sum(map(seconds_of, self.workers))
        return {"client": own_seconds(), "server": seconds_of(self.server.process.pid), "workers": workers}

    def measured(self, ask: Callable[[list[rs.Encryptions]], None], data: list[rs.Encryptions]) -> dict[str, float]:
        """Return ms of processor time of each part for a job, and jobs a second."""
        before, start = self.seconds(), time.perf_counter()
        ask(data)
        seconds, after = time.perf_counter() - start, self.seconds()
        parts = {f"{name}_ms": (after[name] - before[name]) / len(data) * 1e3 for name in after}
        return {**parts, "jobs_per_second": len(data) / seconds}

    def added(self, data: list[bytes]) -> dict[str, float]:
        """Return the added latency of one job at a time, in ms."""
        added = []
        for body in data:
            start = time.perf_counter()
            name = self.job(body)
            taken = time.perf_counter() - start
            added.append((taken - self.remote.ask("GET", f"/v1/jobs/{name}")["report"]["run_seconds"]) * 1e3)
        return {"median": statistics.median(added), "least": min(added), "p90": sorted(added)[int(len(added) * 0.9)]}


def shares(rounds: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Return the medians of all rounds, and the engine's share of each way."""
    told = {
        way: {name: statistics.median(one[way][name] for one in rounds) for name in rounds[0][way]} for way in rounds[0]
    }
    for way, figures in told.items():
        if way != "engine":
            ratios = [one[way]["jobs_per_second"] / one["engine"]["jobs_per_second"] for one in rounds]
            parts = [sum(one[way][f"{part}_ms"] for part in ("client", "server", "workers")) for one in rounds]
            times = [one["engine"]["engine_ms"] / part for one, part in zip(rounds, parts, strict=True)]
            figures |= {"share_of_rate": statistics.median(ratios), "share_of_time": statistics.median(times)}
    return told


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=400)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tcp", action="store_true", help="through a port of the network instead of a file")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    program, load = product.compile(), os.getloadavg()[0]
    client = program.client()
    values = np.arange(2048) % 10
    data = [client.encrypt(x=values, y=values).to_bytes() for _ in range(options.jobs)]
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool,
        Running(Path(folder) / "store", workers=WORKERS, socket=None if options.tcp else Path(folder) / "s") as server,
        rs.connect(server.url, server.tenant("bench")) as remote,
    ):
        served = Served(server, remote, remote.program(program, client), options.clients)
        messages = [rs.Encryptions.from_bytes(one) for one in data]
        ways: dict[str, Callable[[list[rs.Encryptions]], None]] = {
            "run": served.run, "many": partial(served.many, keep=3600.0), "passing": partial(served.many, keep=0.0)
        }  # fmt: skip
        engine(pool, program, client, data[:8])
        for ask in ways.values():  # Keys in both workers, connections open.
            ask(messages[:64])
        rounds = [
            {"engine": engine(pool, program, client, data)}
            | {way: served.measured(ask, messages) for way, ask in ways.items()}
            for _ in range(options.rounds)
        ]
        figures = {"added_ms": served.added(data[:100]), **shares(rounds)}
    if options.json:
        print(json.dumps({"n": program.params.n, "bytes_in": len(data[0]), "load": load, **figures}, indent=2))
        return
    print(f"n = {program.params.n}, {len(data[0])} bytes of arguments, load average {load:.1f} before")
    for way, found in figures.items():
        print(f"{way:<10}", ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in found.items()))


if __name__ == "__main__":
    main()
