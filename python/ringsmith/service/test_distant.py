# SPDX-License-Identifier: Apache-2.0
"""A server whose workers are actors of a Ray cluster: the same answers, also when an actor or its node dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

pytest.importorskip("ray", reason="the packages of requirements/service.txt are not installed")

from ray.cluster_utils import Cluster

from ringsmith.service.conftest import Asker, turning, votes
from ringsmith.service.harness import Running

X, W = np.arange(-4, 4), np.arange(8)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of two workers on a cluster of two nodes, processes of their own on this machine."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20})
    cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    try:
        with Running(
            tmp_path_factory.mktemp("distant") / "store", workers=2, ray=cluster.address, inline=1024
        ) as server:
            yield server
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]


def actors() -> list[int]:
    """Return the process numbers of this cluster's actors, which Ray names so: their nodes are our own children."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in listed.splitlines()]
    parent = {int(process): int(above) for process, above, *_ in rows}
    named = [int(process) for process, _, *command in rows if "ray::There" in " ".join(command)]
    return [process for process in named if parent.get(parent[process]) == os.getpid()]


def all_ready(served: Running) -> bool:
    """Whether both workers have their actors: a job that loses one of them then goes to the other at once."""
    return "ringsmith_workers_ready 2.0" in httpx.get(served.url + "/metrics", trust_env=False).text


def both() -> list[int]:
    """Return the process numbers when there are two; the second may still be on its way."""
    deadline = time.monotonic() + 60
    while len(found := actors()) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def test_answers_are_those_of_a_server_of_its_own(served: Running) -> None:
    asker = Asker(served, "alice")
    with asker.remote() as remote:
        kernel = votes.on(remote)
        # Results are longer than what lies in the database: they come through files.
        for shift in range(4):
            assert kernel(X + shift, w=W).tolist() == votes.clear(X + shift, W).tolist()
        warm = [job["report"]["warm_keys"] for job in map(asker_report(asker), remote.jobs())]
        assert any(warm)
    assert len(both()) == 2


def asker_report(asker: Asker) -> Any:
    return lambda job: asker.ask("GET", f"/v1/jobs/{job['id']}", 200)


def test_what_a_dead_actor_had_is_done_again(served: Running) -> None:
    asker = Asker(served, "bob")
    with asker.remote() as remote:
        there = turning.on(remote)
        deadline = time.monotonic() + 120
        while not all_ready(served) and time.monotonic() < deadline:
            time.sleep(0.1)
        job = there.submit(np.full(8, 0.5))
        while job.state()["progress"]["done"] == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        before = both()
        assert len(before) == 2
        for process in before:
            os.kill(process, signal.SIGKILL)
        assert np.abs(job.result() - turning.clear(np.full(8, 0.5))).max() < 1e-2
        # The other worker learns that its actor is dead by the job that it is given.
        assert job.state()["attempts"] == 2
        assert not set(both()) & set(before)


def test_a_cancelled_job_leaves_its_actor(served: Running) -> None:
    asker = Asker(served, "carol")
    with asker.remote() as remote:
        job = turning.on(remote).submit(np.full(8, 0.5))
        while job.state()["state"] == "queued":
            time.sleep(0.02)
        job.cancel()
        deadline = time.monotonic() + 30
        while job.state()["state"] == "running" and time.monotonic() < deadline:
            time.sleep(0.05)
        assert job.state()["state"] == "cancelled"
        assert votes.on(remote)(X, w=W).tolist() == votes.clear(X, W).tolist()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--ray", "127.0.0.1:1"], "--ray needs --workers"),
        (["--ray", "127.0.0.1:1", "--workers", "1"], "no Ray cluster"),
    ],
)
def test_bad_input(tmp_path: Path, options: list[str], words: str) -> None:
    command = [sys.executable, "-m", "ringsmith", "serve", "--store", tmp_path / "store", *options]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr.splitlines()[-1]
