# SPDX-License-Identifier: Apache-2.0
"""How objects look: one short line, a table in notebooks, and never a key or a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringsmith as rs


@rs.kernel(
    x=rs.Encrypted(4, bound=1.0), w=rs.Plain(4, low=0, high=2, packing="rows"), tolerance=1e-3, encryption="public"
)
def product(x: Any, w: Any) -> Any:
    """Element by element."""
    return x * w * x


@pytest.fixture(scope="module")
def objects() -> list[Any]:
    program = product.compile()
    client = program.client(seed=b"secret seed", sample_data=True)
    sent = client.encrypt(x=np.full(4, 0.123456789))
    keys = client.evaluation_keys
    encryptor = program.encryptor(client.public_key, seed=b"other seed", sample_data=True)
    return [product, program, program.params, client, encryptor, program.server(keys), sent, keys, client.public_key]


def test_every_object_is_one_short_line(objects: list[Any]) -> None:
    for shown in objects:
        text = repr(shown)
        assert text.startswith(f"<{type(shown).__name__}")
        assert len(text) < 120
        assert "\n" not in text
        assert " at 0x" not in text


def test_notebooks_show_facts_and_no_secret(objects: list[Any]) -> None:
    for shown in objects:
        page = shown._repr_html_()
        assert page.startswith("<code>&lt;")
        for secret in ("secret seed", "other seed", "0.1234"):
            assert secret not in page + repr(shown)
    assert "security" in objects[1]._repr_html_()
    assert "Encrypted(4, low=-1.0, high=1.0)" in objects[0]._repr_html_()


def test_declarations_are_shown_as_they_are_written() -> None:
    for declared in (rs.Encrypted(3, 4, low=-1, high=2), rs.Plain(low=0.5, high=1.5, packing="each")):
        again = eval(repr(declared), {"Encrypted": rs.Encrypted, "Plain": rs.Plain})
        assert (again.shape, again.low, again.high, again.packing) == (
            declared.shape, declared.low, declared.high, declared.packing,
        )  # fmt: skip
    assert repr(rs.Output(3, 2)) == "Output(3, 2, packing='rows')"


def test_nothing_private_is_listed() -> None:
    assert set(dir(rs)) == set(rs.__all__)
    assert not [name for name in dir(rs) if name.startswith("_") and name != "__version__"]
