# SPDX-License-Identifier: Apache-2.0
"""The service against the engine alone, on a small job: n = 4096, one multiplication; all parts on this machine.

    python bench/service.py [--jobs 400] [--clients 4] [--json]

*Share*: processor time that the engine takes for a job (arguments' bytes to result's bytes, in a process of its own),
over the processor time of everything for a job through the service: client, server, workers. Where the machine has
other work to do, this says more than jobs a second, which stand beside it. *Added latency*: one job at a time, keys
warm: from sending the arguments to having the result, less the time that the worker's run took.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import ringsmith as rs
from ringsmith.remote import steps
from ringsmith.service.harness import Running


@rs.kernel(scheme="bfv", x=rs.Encrypted(2048, low=-9, high=9), y=rs.Encrypted(2048, low=-9, high=9))
def product(x: Any, y: Any) -> Any:
    """One multiplication."""
    return x * y


def own_seconds() -> float:
    """Return the processor time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def seconds_of(process: int) -> float:
    """Return the processor time of another process."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def engine(program: rs.Program, client: rs.Client, data: list[bytes]) -> tuple[float, float]:
    """Return processor time and time of one job on the engine alone, one thread."""
    server = program.server(client.evaluation_keys, threads=1)
    server.run(rs.Encryptions.from_bytes(data[0]), {}).result.to_bytes()
    start, used = time.perf_counter(), own_seconds()
    for one in data:
        server.run(rs.Encryptions.from_bytes(one), {}).result.to_bytes()
    return (own_seconds() - used) / len(data), (time.perf_counter() - start) / len(data)


def service(program: rs.Program, client: rs.Client, data: list[bytes], clients: int, folder: Path) -> dict[str, float]:
    """Return processor time of each part for a job, jobs a second, latencies in ms."""
    with Running(folder, workers=2) as server, rs.connect(server.url, server.tenant("bench")) as remote:
        places = remote.program(program, client).prepare()

        def job(body: bytes) -> str:
            name = steps.new_job()
            remote.wire.run(steps.evaluate(*places, body, {}, name, None))
            return name

        with ThreadPoolExecutor(clients) as pool:
            list(pool.map(job, data[: 4 * clients]))  # Keys in both workers, connections open.
            processes = {"server": [server.process.pid], "workers": server.workers()}
            before = {name: sum(map(seconds_of, ids)) for name, ids in processes.items()} | {"client": own_seconds()}
            start = time.perf_counter()
            list(pool.map(job, data))
            seconds = time.perf_counter() - start
        after = {name: sum(map(seconds_of, ids)) for name, ids in processes.items()} | {"client": own_seconds()}
        added = []
        for body in data[:100]:
            start = time.perf_counter()
            name = job(body)
            taken = time.perf_counter() - start
            added.append(taken - remote.ask("GET", f"/v1/jobs/{name}")["report"]["run_seconds"])
    parts = {f"{name}_ms": (after[name] - before[name]) / len(data) * 1e3 for name in after}
    return {
        **parts,
        "jobs_per_second": len(data) / seconds,
        "added_ms_median": statistics.median(added) * 1e3,
        "added_ms_least": min(added) * 1e3,
        "added_ms_p90": sorted(added)[int(len(added) * 0.9)] * 1e3,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=400)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    program = product.compile()
    client = program.client()
    values = np.arange(2048) % 10
    data = [client.encrypt(x=values, y=values).to_bytes() for _ in range(options.jobs)]
    alone, alone_seconds = engine(program, client, data)
    with tempfile.TemporaryDirectory() as folder:
        figures = service(program, client, data, options.clients, Path(folder) / "store")
    whole = figures["client_ms"] + figures["server_ms"] + figures["workers_ms"]
    figures = {
        "n": program.params.n, "bytes_in": len(data[0]), "engine_ms": alone * 1e3,
        "engine_elapsed_ms": alone_seconds * 1e3, **figures, "share": alone * 1e3 / whole,
    }  # fmt: skip
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' '):<20} {value:.3g}")


if __name__ == "__main__":
    main()
