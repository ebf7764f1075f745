# SPDX-License-Identifier: Apache-2.0
"""A server from bytes to bytes (`answering`) against the same in steps: equal results, and equal refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.runtime.identity import Role
from ringsmith.runtime.server import Server

W = np.arange(8) - 3


def party(scheme: str, bound: int = 9) -> tuple[rs.Client, Server]:
    def mixed(x: Any, y: Any, w: Any) -> Any:
        return (x * w - y) * y

    options: dict[str, Any] = {"tolerance": 1e-3} if scheme == "ckks" else {}
    given: dict[str, Any] = {
        "x": rs.Encrypted(8, bound=bound),
        "y": rs.Encrypted(8, bound=9),
        "w": rs.Plain(8, bound=9),
    }
    program = rs.kernel(scheme=scheme, **given, **options)(mixed).compile()
    client = program.client()
    return client, program.server(client.evaluation_keys)


def in_steps(server: Server, message: bytes) -> bytes:
    return server.run(rs.Encryptions.from_bytes(message), {"w": W}).result.to_bytes()


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_results_are_those_of_a_run(scheme: str) -> None:
    client, server = party(scheme)
    answer = server.answering({"w": W})
    told: list[tuple[int, int]] = []
    for seed in range(3):
        x, y = np.random.default_rng(seed).integers(-9, 10, (2, 8))
        sent = client.encrypt(x=x, y=y)
        message = sent.to_bytes()
        assert sent.length == len(message)
        result, seconds = answer(memoryview(message), lambda done, total: told.append((done, total)))
        assert result == in_steps(server, message)
        assert told[-1][0] == told[-1][1] > 0
        assert sum(seconds.values()) > 0
        np.testing.assert_allclose(
            client.decrypt(rs.Encryptions.from_bytes(result)), (x * W - y) * y, atol=1e-3 if scheme == "ckks" else 0
        )


def twice(sent: rs.Encryptions) -> bytes:
    return replace(sent, ciphertexts=sent.ciphertexts[:1] * 2, checksums=sent.checksums[:1] * 2).to_bytes()


def one_short(sent: rs.Encryptions) -> bytes:
    return replace(sent, ciphertexts=sent.ciphertexts[:1], checksums=sent.checksums[:1]).to_bytes()


def as_a_result(sent: rs.Encryptions) -> bytes:
    return replace(sent, label=replace(sent.label, role=Role.RESULT)).to_bytes()


def damaged(sent: rs.Encryptions) -> bytes:
    data = bytearray(sent.to_bytes())
    data[len(data) // 2] ^= 1
    return bytes(data)


def cut(sent: rs.Encryptions) -> bytes:
    return sent.to_bytes()[:-9]


def others(sent: rs.Encryptions) -> bytes:
    return party("bfv")[0].encrypt(x=W, y=W).to_bytes()


def of_another_program(sent: rs.Encryptions) -> bytes:
    return party("bfv", bound=5)[0].encrypt(x=W, y=W).to_bytes()


def others_relabelled(sent: rs.Encryptions) -> bytes:
    """Another client's ciphertexts under this one's label."""
    return replace(party("bfv")[0].encrypt(x=W, y=W), label=sent.label).to_bytes()


def nothing(sent: rs.Encryptions) -> bytes:
    return b""


@pytest.mark.parametrize(
    "wrong", [twice, one_short, as_a_result, damaged, cut, others, of_another_program, others_relabelled, nothing]
)
def test_refusals_are_those_of_a_run(wrong: Callable[[rs.Encryptions], bytes]) -> None:
    client, server = party("bfv")
    message = wrong(client.encrypt(x=W, y=W))
    with pytest.raises(rs.RingsmithError) as expected:
        in_steps(server, message)
    with pytest.raises(type(expected.value)) as found:
        server.answering({"w": W})(message, None)
    assert str(found.value) == str(expected.value)
