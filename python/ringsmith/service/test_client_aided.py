# SPDX-License-Identifier: Apache-2.0
"""Client-aided kernels on a server: the rounds are jobs there, functions and values stay here."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import InputError
from ringsmith.remote.steps import address
from ringsmith.service.conftest import Asker

X = np.array([3, -7, 10, 0, -1, 9, -10, 5])
W = np.arange(64).reshape(8, 8) % 19 - 9

KERNEL = """
import numpy as np
import ringsmith as rs


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=10), w=rs.Plain(8, 8, bound=10))
def largest(x, w):
    hidden = rs.refresh(w @ x, lambda values: np.maximum(values, 0) // 10, low=0, high=80)
    return rs.refresh(w @ hidden, np.argmax, low=0, high=7)
"""


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=10), w=rs.Plain(8, 8, bound=10))
def network(x: Any, w: Any) -> Any:
    """Two layers with an exact ReLU between them."""
    return w @ rs.refresh(w @ x, lambda values: np.maximum(values, 0), low=0, high=800)


def test_a_client_aided_kernel_on_a_server_is_the_kernel(alice: Asker) -> None:
    with alice.remote() as remote:
        there = network.on(remote)
        for _ in range(2):
            np.testing.assert_array_equal(there(X, W), network.clear(X, W))
        # Two rounds each time; programs and keys went there once.
        assert len(remote.jobs()) == 4
        assert len(alice.ask("GET", "/v1/blobs?kind=keys", 200)["blobs"]) == 2
        with pytest.raises(InputError, match="needs its client in every round"):
            there.submit(X, W)
        file = network.rounds().to_bytes()
        refused = alice.refused("PUT", f"/v1/blobs/{address(file)}", "wrong_kind", content=file)
        assert "the client-aided program" in refused["message"]


def test_rounds_on_asyncio(alice: Asker) -> None:
    async def both() -> tuple[Any, Any]:
        async with rs.connect_async(alice.url, alice.key) as remote:
            there = network.on(remote)
            await there(X, W)
            return await asyncio.gather(there(X, W), there(-X, W))

    first, second = asyncio.run(both())
    np.testing.assert_array_equal(first, network.clear(X, W))
    np.testing.assert_array_equal(second, network.clear(-X, W))


def test_rounds_from_the_shell(alice: Asker, tmp_path: Path) -> None:
    file, key = tmp_path / "kernel.py", tmp_path / "key"
    file.write_text(KERNEL)
    key.write_text(alice.key)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "ringsmith",
        "run",
        file,
        "--at",
        alice.url,
        "--api-key-file",
        key,
    ]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["engine"] == alice.url
    assert [one["sent"] for one in report["rounds"]] == [1, 1]
    # The server's own time is told apart from the wire's.
    assert all(one["wire_ms"] > 0 and one["server_ms"] > 0 for one in report["rounds"])
    owner: list[str | Path] = ["--client", tmp_path / "mine.rsc"]
    for more in (owner, [*owner, "--detach"]):
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=120)
        assert done.returncode == 2, done.stdout
        assert "client" in done.stderr
        assert not (tmp_path / "mine.rsc").exists()
