# SPDX-License-Identifier: Apache-2.0
"""Numbers that are none, infinite, negative or huge: the engine refuses them or takes them, and never panics."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from contextlib import suppress
from functools import cache

import numpy as np
import pytest

from ringsmith import _native, bfv, ckks
from ringsmith.errors import ParameterError, RingsmithError

N = 256
STRANGE = (float("nan"), float("inf"), float("-inf"), -1.0, 0.0, 5e-324, 1e308)
SEED = bytes(32)


@cache
def primes() -> list[int]:
    return list(_native.ntt_primes(N, 50, 3))


@cache
def exact() -> bfv.Context:
    return bfv.Context(N, primes()[:2], primes()[2:], 7681, allow_insecure=True)


@cache
def approximate() -> ckks.Context:
    return ckks.Context(N, primes()[:2], primes()[2:], 2.0**40, allow_insecure=True)


@cache
def estimator() -> _native.CkksEstimator:
    return _native.CkksEstimator(N, primes()[:2], primes()[2:])


@cache
def estimate() -> _native.CkksEstimate:
    return estimator().encrypt_secret(estimator().encode(1.0, 1, 2.0**40))


@cache
def encryptor() -> ckks.Encryptor:
    return ckks.Encryptor(approximate(), ckks.KeyGenerator(approximate(), seed=SEED).secret_key(), seed=SEED)


@cache
def ciphertext() -> ckks.Ciphertext:
    return encryptor().encrypt(ckks.Encoder(approximate()).encode(np.ones(4)))


def publish_approximate(x: float) -> object:
    secret = ckks.KeyGenerator(approximate(), seed=SEED).secret_key()
    return ckks.Decryptor(approximate(), secret).decrypt_for_publication(ciphertext(), x, seed=SEED)


def publish_exact(x: float) -> object:
    secret = bfv.KeyGenerator(exact(), seed=SEED).secret_key()
    plaintext = bfv.Encoder(exact()).encode(np.ones(4, np.int64))
    sent = bfv.Encryptor(exact(), secret, seed=SEED).encrypt(plaintext)
    return bfv.Decryptor(exact(), secret).decrypt_for_publication(sent, x, seed=SEED)


CALLS: dict[str, Callable[[float], object]] = {
    "judge_security": lambda x: _native.judge_security(4096, x),
    "security_bits": lambda x: _native.security_bits(4096, x),
    "error distribution": lambda x: _native.judge_security(4096, 100.0, error=f"gaussian:{x}"),
    "secret distribution": lambda x: _native.judge_security(4096, 100.0, secret=f"gaussian:{x}"),
    "context's error": lambda x: bfv.Context(N, primes(), [], 17, error=f"gaussian:{x}", allow_insecure=True),
    "context's scale": lambda x: ckks.Context(N, primes(), [], x, allow_insecure=True),
    "fraction": lambda x: bfv.Encoder(exact()).encode_fraction(x),
    "values": lambda x: ckks.Encoder(approximate()).encode(np.full(4, x)),
    "complex values": lambda x: ckks.Encoder(approximate()).encode(np.full(4, complex(1, x))),
    "values' scale": lambda x: ckks.Encoder(approximate()).encode(np.ones(4), scale=x),
    "rounding": lambda x: ckks.Encoder(approximate()).rounding(np.ones(4), x),
    "rounded values": lambda x: ckks.Encoder(approximate()).rounding(np.full(4, x), 2.0**40),
    "scale of a zero": lambda x: encryptor().encrypt_zero(scale=x),
    "constant": lambda x: ckks.Evaluator(approximate()).multiply_constant(ciphertext(), complex(x, 0)),
    "constant's scale": lambda x: ckks.Evaluator(approximate()).multiply_constant(ciphertext(), 1, scale=x),
    "publication, CKKS": publish_approximate,
    "publication, BFV": publish_exact,
    "depth": lambda x: _native.polynomial_depth([1.0, x]),
    "estimate": lambda x: estimator().encode(x, 1, 2.0**40),
    "estimate's scale": lambda x: estimator().encode(1.0, 1, x),
    "estimate's rounding": lambda x: estimator().encode(1.0, 1, 2.0**40, rounding=x),
    "estimated constant": lambda x: estimator().multiply_constant(estimate(), x, 2.0**40),
    "estimated constant's scale": lambda x: estimator().multiply_constant(estimate(), 1.0, x),
    "estimated sum": lambda x: estimator().add_constant(estimate(), x),
    "estimated polynomial": lambda x: estimator().polynomial(estimate(), [1.0, x]),
    "estimated polynomial's scale": lambda x: estimator().polynomial(estimate(), [1.0, 2.0], scale=x),
    "limit": lambda x: estimator().limit(estimate(), x),
}


@pytest.mark.parametrize(("name", "x"), list(itertools.product(CALLS, STRANGE)))
def test_no_number_makes_the_engine_panic(name: str, x: float) -> None:
    with suppress(RingsmithError):  # A panic is none of these.
        CALLS[name](x)


@pytest.mark.parametrize("x", [float("nan"), float("inf"), float("-inf"), -1.0])
def test_the_size_of_a_modulus_is_a_size(x: float) -> None:
    for judge in (_native.judge_security, _native.security_bits):
        with pytest.raises(ParameterError, match=r"log2_qp, .*finite and not negative"):
            judge(4096, x)
    assert operator.gt(_native.judge_security(4096, 0.0).estimated_bits, 256)
