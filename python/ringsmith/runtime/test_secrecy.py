# SPDX-License-Identifier: Apache-2.0
"""The printed form of a client, a server and their objects names their kind and never shows a secret."""

from __future__ import annotations

import logging
import pprint
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rich.pretty import pretty_repr

import ringsmith as rs

SEED = "swordfish-4711"
ROW = np.array([0.4711, -0.0815, 0.5])


def objects(scheme: str, encryption: str) -> tuple[rs.Client, list[Any]]:
    """Everything that a client, an encryptor and a server hold or return, their own attributes included."""
    row = np.array([47, 11, 8]) if scheme == "bfv" else ROW
    kernel = rs.kernel(scheme=scheme, encryption=encryption, x=rs.Encrypted(3, bound=50.0))(lambda x: x * x + x[0])
    program = kernel.compile()
    client = program.client(SEED)
    server = program.server(client.evaluation_keys)
    sent = client.encrypt(x=row)
    found = [program, client, server, sent, server.run(sent, {}, SEED), client.evaluation_keys, client.public_key]
    if encryption == "public":
        found.append(program.encryptor(client.public_key, SEED))
    for holder in (client, server):
        found += [value for name, value in vars(holder).items() if name != "_seed"]
    return client, found


def printed(value: Any) -> Iterator[str]:
    yield from (repr(value), str(value), f"{value}", f"{value!r:.100000}", f"{[value]}", f"{ {'a': (value,)} }")
    yield pprint.pformat(value)
    yield pretty_repr(value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("encryption", ["secret", "public"])
@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
def test_nothing_printed_shows_a_secret(
    scheme: str, encryption: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.NOTSET):
        client, found = objects(scheme, encryption)
    key = client.secret_key
    hidden = [SEED, repr(key[60:80])[2:-1], key[60:80].hex(), "0.4711"]
    for value in found:
        for text in printed(value):
            assert len(text) < 1000, f"{type(value).__name__}: {len(text)} characters"
            assert not any(secret in text for secret in hidden), type(value).__name__
    assert not [record for record in caplog.records if record.name.startswith("ringsmith")]
    assert capfd.readouterr() == ("", "")
