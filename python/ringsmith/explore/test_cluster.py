# SPDX-License-Identifier: Apache-2.0
"""The search on a cluster of two workers, and with workers that die: the same results."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ringsmith.errors import InputError
from ringsmith.explore.conftest import Searched
from ringsmith.explore.evaluate import Evaluator, predicted
from ringsmith.explore.report import as_json
from ringsmith.explore.search import packed
from ringsmith.explore.space import Hardware, preset_of
from ringsmith.hw.synth import load_board

#: Eight builds.
SMALL = ["lanes=2,8", "butterflies=2,8", "dual_port_slots=4,8", "single_port_slots=0", "moduli_slots=1", "moves=16"]
SMALL += ["wide_port=1"]
BOARD = load_board("zcu102")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one core each: processes of their own on this machine."""
    ray = pytest.importorskip("ray", reason="the packages of requirements/service.txt are not installed")
    from ray.cluster_utils import Cluster

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20})
    made.add_node(num_cpus=1, object_store_memory=100 << 20)
    yield made
    ray.shutdown()
    made.shutdown()  # type: ignore[no-untyped-call]


def test_a_cluster_finds_what_this_process_finds(
    cluster: Any, found: list[Any], searched: Searched, tmp_path: Path
) -> None:
    from ringsmith.explore.cluster import ClusterEvaluator

    with ClusterEvaluator(packed(found), cluster.address) as evaluator:
        there = as_json(searched(tmp_path / "there.sqlite", SMALL, evaluator=evaluator))
    here = as_json(searched(tmp_path / "here.sqlite", SMALL))
    assert there == here
    assert there["evaluated"] > 8


def test_an_address_without_a_cluster_is_refused(found: list[Any]) -> None:
    pytest.importorskip("ray", reason="the packages of requirements/service.txt are not installed")
    from ringsmith.explore.cluster import ClusterEvaluator

    with pytest.raises(InputError, match="no Ray cluster there"):
        ClusterEvaluator(packed(found), "127.0.0.1:1")


def test_points_of_a_worker_that_dies_are_done_again(found: list[Any]) -> None:
    hardware = [Hardware(2, 2, slots, 0, 1, 16, wide_port=True) for slots in (4, 6, 8, 12, 16)]
    able = next(one for one in found if hasattr(one, "compiled"))
    tasks = [(able.name, preset_of(able, one, BOARD), runs) for one in hardware for runs in (1, 3)] * 2
    done: dict[int, Any] = {}
    with Evaluator(packed(found), 2) as evaluator:
        for number, result in evaluator.run(tasks):
            if not done:
                assert evaluator._pool is not None
                os.kill(next(iter(evaluator._pool._processes)), signal.SIGKILL)
            done[number] = result
    with Evaluator(packed(found), 1):
        assert done == {number: predicted(*task) for number, task in enumerate(tasks)}
