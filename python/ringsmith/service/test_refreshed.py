# SPDX-License-Identifier: Apache-2.0
"""Programs with refreshes on a server: keys that a worker has no room for are grown at each use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import ringsmith as rs
from ringsmith.runtime.test_refreshes import X, by_hand, refreshing
from ringsmith.service import cost, kinds
from ringsmith.service.conftest import Asker, no_defects
from ringsmith.service.harness import Running


def test_keys_without_room_are_grown_at_each_use(tmp_path: Path) -> None:
    program = by_hand.compile()
    client = program.client("7", sample_data=True)
    size = len(client.evaluation_keys.to_bytes())
    facts = kinds.inspect(program.to_bytes(), allow_insecure=True)[1]
    least, whole = refreshing(program).key_memory
    all_of_it = sum(cost.held(facts, size, 1, 1 << 40))
    assert sum(cost.held(facts, size, 1, 0)) == all_of_it - (whole - least)
    limit = all_of_it - (whole - least) // 2
    assert sum(cost.held(facts, size, 1, limit)) == limit
    settings: dict[str, Any] = {"workers": 1, "key_memory": limit, "allow_insecure": True}
    with Running(tmp_path / "store", **settings) as server:
        asker = Asker(server, "a")
        with rs.connect(server.url, asker.key) as remote:
            found = remote.program(program, client)(x=X)
        told = asker.ask("GET", "/v1/status", 200)
        no_defects(server)
    assert np.abs(found - program.clear(x=X)).max() < 2**program.noise_bits
    assert told["used"]["jobs"] == 0
