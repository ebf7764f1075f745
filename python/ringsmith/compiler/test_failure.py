# SPDX-License-Identifier: Apache-2.0
"""The probability with which a guarantee fails: 2^-128 unless a kernel says otherwise, and never more if published."""

from __future__ import annotations

from typing import Any

import pytest

import ringsmith as rs
from ringsmith.runtime.box import facts


def cubed(scheme: str, **options: Any) -> rs.Kernel:
    bound: Any = 1.0 if scheme == "ckks" else 3
    return rs.kernel(x=rs.Encrypted(64, bound=bound), scheme=scheme, **options)(lambda x: x * x * x + x)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_a_program_states_its_probability(scheme: str) -> None:
    usual, frequent = cubed(scheme).compile(), cubed(scheme, failure_bits=40).compile()
    assert (usual.native.guarantee["failure_bits"], frequent.native.guarantee["failure_bits"]) == (128, 40)
    assert any("below 2^-128" in text for _, text in facts(usual))
    assert any("below 2^-40" in text for _, text in facts(frequent))
    read = rs.Program.from_bytes(frequent.to_bytes())
    assert read.signature.failure_bits == 40
    assert read.to_bytes() == frequent.to_bytes()


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_a_rarer_failure_takes_a_larger_bound_on_the_same_set(scheme: str) -> None:
    made = cubed(scheme).compile().params
    pinned = rs.ParamRequest(
        n=made.n, moduli=made.moduli, special=made.special, log2_scale=made.log2_scale if scheme == "ckks" else None
    )
    t = {"plain_modulus": made.plain_modulus} if scheme == "bfv" else {}
    bits = {b: cubed(scheme, params=pinned, failure_bits=b, **t).compile().noise_bits for b in (40, 128)}
    gain = bits[128] - bits[40] if scheme == "ckks" else bits[40] - bits[128]
    assert 0.3 < gain < 6.0, bits


@pytest.mark.parametrize("bits", [0, -1, 1025, True, 40.0, None, "40"])
def test_other_values_are_refused(bits: Any) -> None:
    with pytest.raises(rs.KernelError, match=r"failure_bits=.*: a whole number of 1 to 1024"):
        cubed("ckks", failure_bits=bits)


def test_what_is_published_keeps_the_default() -> None:
    with pytest.raises(rs.KernelError, match=r"failure_bits=40: a whole number of 128 to 1024 where results are publ"):
        cubed("bfv", failure_bits=40, publish=True)
