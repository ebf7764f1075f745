# SPDX-License-Identifier: Apache-2.0
"""Security of sets: the weakest distribution in play decides, in Python as in the engine."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from ringsmith import _native
from ringsmith.compiler.params.sets import check, judge, named_sets, table_of
from ringsmith.errors import ParameterError
from ringsmith.frontend.param_request import ParamRequest

STANDARDS = ("2024", "2018")
GAUSSIAN = "gaussian:3.2"


@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("wanted", [128, 192, 256])
def test_a_gaussian_secret_is_granted_what_the_ternary_u_of_public_encryption_is(standard: str, wanted: int) -> None:
    for n in [1 << k for k in range(10, 18)]:
        limit = _native.max_log2_qp(n, wanted, table=table_of(standard))
        judged = judge(n, float(limit or 20), wanted, standard, GAUSSIAN)
        assert judged.limit == limit
        assert judged.enough is (limit is not None)
        if limit is not None:
            assert not judge(n, limit + 0.5, wanted, standard, GAUSSIAN).enough


def test_log2_q_of_108_at_4096_is_not_128_bits_for_a_gaussian_secret() -> None:
    judged = judge(4096, 108.0, 128, "2024", GAUSSIAN)
    assert (judged.limit, judged.enough) == (106, False)
    assert judged.bits < 128


@pytest.mark.parametrize(("secret", "error"), [("binary", "binomial:21"), ("ternary", "binomial:2")])
def test_what_no_table_covers_is_granted_nothing(secret: str, error: str) -> None:
    judged = judge(4096, 60.0, 128, "2024", secret, error)
    assert judged.limit is None
    assert not judged.enough
    assert judged.bits < judge(4096, 60.0, 128, "2024").bits
    request = ParamRequest(n=4096, data_bits=(30, 30), log2_scale=25, secret=secret, error=error)
    with pytest.raises(ParameterError, match=f"{secret} secret, {error} error"):
        check(request, "ckks", security=128, standard="2024", allow_insecure=False)


@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("name", sorted(named_sets()))
def test_named_sets_are_judged_as_the_engine_judges_them(name: str, standard: str) -> None:
    request = named_sets()[name]
    scheme = request.scheme or ("ckks" if request.log2_scale else "bfv")
    for secret in ("ternary", GAUSSIAN, "binary"):
        given = replace(request, secret=secret)
        made = check(given, scheme, security=128, standard=standard, allow_insecure=True, plain_modulus=65537)
        engine = _native.judge_security(made.n, made.log2_qp, table=table_of(standard), secret=secret, error=made.error)
        assert made.security.enough is (engine.level is not None)
        assert (secret != "binary") or not made.security.enough
        ternary = judge(made.n, made.log2_qp, 128, standard, error=made.error)
        assert made.security.bits <= ternary.bits


@pytest.mark.parametrize("secret", ["ternary", "binary", GAUSSIAN])
@pytest.mark.parametrize("error", ["binomial:21", "gaussian:1.0", "binomial:2"])
@pytest.mark.parametrize("n", [4096, 1 << 17])
def test_what_a_refusal_for_security_proposes_is_secure(n: int, secret: str, error: str) -> None:
    request = ParamRequest(
        n=n, data_bits=(50,) * 6, special_bits=(50,), log2_scale=40, scheme="ckks", secret=secret, error=error
    )
    policy: dict[str, Any] = {"security": 128, "standard": "2024", "allow_insecure": False}
    if n == 1 << 17 and secret != "binary" and error == "binomial:21":
        assert check(request, "ckks", **policy).security.enough
        return
    with pytest.raises(ParameterError, match=" would do for primes of these sizes") as refused:
        check(request, "ckks", **policy)
    text = str(refused.value)
    changes: dict[str, Any] = dict(re.findall(r'(secret|error)="(.*?)"', text))
    if degree := re.search(r"; n = (\d+)", text):
        changes["n"] = int(degree[1])
    assert changes
    assert check(replace(request, **changes), "ckks", **policy).security.enough


def test_primes_too_many_for_each_degree_are_told_to_be_fewer() -> None:
    request = ParamRequest(n=4096, data_bits=(50,) * 90, special_bits=(50,), log2_scale=40, scheme="ckks")
    with pytest.raises(ParameterError, match="take fewer or smaller primes, or opt in"):
        check(request, "ckks", security=128, standard="2024", allow_insecure=False)
