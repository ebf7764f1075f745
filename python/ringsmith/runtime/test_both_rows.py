# SPDX-License-Identifier: Apache-2.0
"""BFV programs on both rows of slots, encrypted: tensors across them, the row swap, manual kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native
from ringsmith.errors import KeyMismatchError

N, T = 1024, 786433
#: Small and insecure: what it checks does not depend on the degree.
SMALL = rs.ParamRequest(n=N, data_bits=(40, 40, 40), special_bits=(42,), plain_modulus=T)
OPTIONS: dict[str, Any] = {"scheme": "bfv", "params": SMALL, "plain_modulus": T, "allow_insecure": True}


def values(length: int = N, bound: int = 9) -> Any:
    return np.random.default_rng(length).integers(-bound, bound + 1, length)


@pytest.mark.parametrize("length", [300, 512, 700, N, 2500])
def test_sums_and_rotations_encrypted(length: int) -> None:
    kernel = rs.kernel(x=rs.Encrypted(length, bound=9, packing="rows"), w=rs.Plain(length, bound=3), **OPTIONS)(
        lambda x, w: rs.rotate(x, 5) * w + x[::-1] - rs.sum(x * x)
    )
    x, w = values(length), values(length, 3)
    program = rs.Program.from_bytes(kernel.compile().to_bytes(), allow_insecure=True)
    assert program.native.slots == N
    assert program.native.required_keys()["swap_rows"] is (length > N // 2)
    client = program.client("rows", sample_data=True)
    sent = client.encrypt(x=x)
    assert len(sent.ciphertexts) == -(-length // N)
    answer = client.decrypt(program.server(client.evaluation_keys).evaluate(sent, w=w))
    expected = kernel.clear(x=x, w=w)
    np.testing.assert_array_equal(answer, expected)
    np.testing.assert_array_equal(program.clear(x=x, w=w), expected)


def test_a_server_without_the_key_of_the_row_swap_says_so() -> None:
    kernel = rs.kernel(x=rs.Encrypted(N, bound=9), **OPTIONS)(lambda x: rs.sum(x))
    program = kernel.compile()
    assert program.counts["swap_rows"] == 1
    assert program.counts["key_switch"] == program.rotation_keys
    client = program.client("rows", sample_data=True)
    secret = client._secret
    generator = _native.KeyGenerator(program.open().context, seed=b"\1" * 32)
    level = program.native.required_keys()["galois"]
    short = generator.galois_keys(secret, program.native.rotations(), level=level).to_bytes()
    sent = client.encrypt(x=values())
    with pytest.raises(KeyMismatchError, match="lack the row swap"):
        program.server(replace(client.evaluation_keys, galois=short)).evaluate(sent)


def manual(function: Any, **more: Any) -> rs.Kernel:
    return rs.kernel(mode="manual", x=rs.Encrypted(N, bound=9), output=rs.Output(N), **(OPTIONS | more))(function)


def test_manual_kernels_have_both_rows() -> None:
    def function(x: Any) -> Any:
        return rs.rotate(x, 3) * 2 + rs.swap_rows(x)

    kernel, x = manual(function), values()
    rows = x.reshape(2, -1)
    expected = (np.roll(rows, -3, axis=1) * 2 + rows[::-1]).reshape(-1)
    np.testing.assert_array_equal(kernel.clear(x=x), expected)
    np.testing.assert_array_equal(kernel(x=x), expected)
    counts = kernel.compile().counts
    assert (counts["rotate"], counts["swap_rows"], counts["key_switch"]) == (1, 1, 2)


def test_manual_swaps_that_cannot_be() -> None:
    with pytest.raises(rs.KernelError, match=r"swap_rows of .*3 polynomials.*rs.relinearize it first"):
        manual(lambda x: rs.swap_rows(x * x)).compile()
    ckks: dict[str, Any] = {"scheme": "ckks", "params": "seal-ckks-8192", "plain_modulus": None}
    with pytest.raises(rs.KernelError, match="a CKKS ciphertext has one row of slots"):
        manual(lambda x: rs.swap_rows(x), **ckks).compile()
    with pytest.raises(rs.InputError, match=r"takes all slots of a ciphertext, not an array of shape \(4,\)"):
        rs.swap_rows(np.arange(4))
