# SPDX-License-Identifier: Apache-2.0
"""Batches on a cluster of separate processes: the same residues as here, also when a node dies."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="the packages of requirements/service.txt are not installed")

from ray.cluster_utils import Cluster  # noqa: E402

import ringsmith as rs  # noqa: E402
from ringsmith.errors import InputError  # noqa: E402
from ringsmith.runtime import cluster as ours  # noqa: E402

SEED = b"\x07" * 32


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, low=-50, high=50), w=rs.Plain(8, low=-9, high=9))
def votes(x: Any, w: Any) -> Any:
    """Exact."""
    return (x * w - 3) * x


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one core each: processes of their own on this machine."""
    # Nothing is told to anybody; and workers are not put behind everything else that a busy machine does.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20})
    made.add_node(num_cpus=1, object_store_memory=100 << 20)
    yield made
    ray.shutdown()
    made.shutdown()  # type: ignore[no-untyped-call]


def processes() -> list[int]:
    """Return the process numbers of the workers that hold keys."""
    actors = next(iter(ours._clusters.values())).actors
    return [ray.get(actor.__ray_call__.remote(lambda _: os.getpid())) for actor in actors]


def test_a_batch_on_a_cluster(cluster: Any) -> None:
    program = votes.compile()
    client = program.client()
    keys, w = client.evaluation_keys, np.arange(8)
    values = [np.arange(n, n + 8) for n in range(-20, 4)]
    batch = [client.encrypt(x=x) for x in values]
    there = program.evaluate_many(keys, batch, ray=cluster.address, seed=SEED, w=w)
    assert [client.decrypt(one).tolist() for one in there] == [((x * w - 3) * x).tolist() for x in values]
    here = program.evaluate_many(keys, batch, seed=SEED, w=w)
    assert [one.digest() for one in there] == [one.digest() for one in here]

    # Two workers in processes of their own; one is killed under its work, again and again, and nothing changes.
    first = processes()
    assert len({os.getpid(), *first}) == 3
    stop = threading.Event()

    def kill() -> None:
        time.sleep(0.05)
        os.kill(first[0], signal.SIGKILL)
        stop.set()

    killer = threading.Thread(target=kill)
    killer.start()
    again = program.evaluate_many(keys, batch * 8, ray=cluster.address, seed=SEED, w=w)
    killer.join()
    assert [one.digest() for one in again] == [one.digest() for one in here] * 8
    assert first[0] not in processes()

    # A worker's refusals are raised here in its own words; so are those of an invalid address.
    with pytest.raises(rs.KeyMismatchError):
        program.evaluate_many(keys, [program.client().encrypt(x=w)], ray=cluster.address, w=w)
    with pytest.raises(InputError, match=r"ray.shutdown\(\) leaves it"):
        program.evaluate_many(keys, batch, ray="127.0.0.1:1", w=w)
    assert program.evaluate_many(keys, [], ray=cluster.address, w=w) == []


def test_a_batch_is_cut_into_long_chunks_first() -> None:
    for count, size, workers in (
        (0, 1, 2),
        (1, 1, 4),
        (256, 86_000, 2),
        (256, 700_000, 2),
        (7, 1 << 30, 3),
        (1000, 1, 16),
    ):
        cut = list(ours.chunks([size] * count, workers))
        assert [place for chunk in cut for place in chunk] == list(range(count))
        lengths = [len(chunk) for chunk in cut]
        assert lengths == sorted(lengths, reverse=True)
        assert all(length == 1 or length * size <= 16 << 20 for length in lengths)
        assert not count or lengths[-1] <= max(1, count // (16 * workers))


def test_a_parcel_is_pickled_without_its_ciphertexts() -> None:
    client = votes.compile().client()
    batch = [client.encrypt(x=np.arange(n, n + 8)) for n in range(5)]
    buffers: list[pickle.PickleBuffer] = []
    parcel = ours.Parcel(batch)
    data = pickle.dumps(parcel, 5, buffer_callback=buffers.append)
    assert len(data) < 10_000 < sum(one.nbytes for one in batch)
    assert [bytes(buffer) for buffer in buffers] == [part for one in batch for part in one.ciphertexts]
    for copied in (pickle.loads(data, buffers=buffers), pickle.loads(pickle.dumps(parcel, 5))):
        assert [one.to_bytes() for one in copied.messages()] == [one.to_bytes() for one in batch]
