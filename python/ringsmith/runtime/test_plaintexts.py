# SPDX-License-Identifier: Apache-2.0
"""Contrived plaintexts: refused, or computed with within the guarantee, never wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ringsmith as rs
from ringsmith import _native
from ringsmith.compiler.params import noise
from ringsmith.errors import InputError
from ringsmith.ir.kinds import Kind
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.program import Program

N, T = 4096, 786433
Array = NDArray[Any]


def request(bits: int) -> rs.ParamRequest:
    return rs.ParamRequest(n=N, data_bits=(bits // 3, bits // 3, bits - 2 * (bits // 3)), plain_modulus=T)


def cubed(bits: int, **options: Any) -> Kernel:
    @rs.kernel(
        scheme="bfv", plain_modulus=T, params=request(bits), allow_insecure=True,
        x=rs.Encrypted(N, low=-9, high=9), w=rs.Plain(N, low=-(T // 2), high=T // 2), **options,
    )  # fmt: skip
    def times(x: Any, w: Any) -> Any:
        return x * w * w * w

    return times


def least_bits(**options: Any) -> int:
    """Return the fewest bits of modulus that a cube of plaintexts is promised to decrypt with."""
    for bits in range(100, 140):
        try:
            cubed(bits, **options).compile()
        except rs.KernelError:
            continue
        return bits
    raise AssertionError("no modulus")


def half_everywhere(program: Program) -> Array:
    """Return the slots of the polynomial of coefficients t/2 and -t/2 whose signs make them add up at one root."""
    signs = np.where(np.arange(N) < N // 2, 1, -1)
    context = program.open().context
    plaintext = _native.BfvPlaintext.from_coefficients(context, [int(s) * (T // 2) for s in signs])
    return np.asarray(_native.BfvEncoder(context).decode(plaintext))


def run(program: Program, x: Array, w: Array) -> Array:
    client = program.client("contrived")
    return client.decrypt(program.server(client.evaluation_keys).evaluate(client.encrypt(x=x), w=w))


def test_bfv_refuses_plaintexts_that_would_decrypt_wrongly() -> None:
    kernel = cubed(least_bits())
    program = kernel.compile()
    x = np.arange(N) % 19 - 9
    ordinary = np.random.default_rng(1).integers(-(T // 2), T // 2, N)
    np.testing.assert_array_equal(run(program, x, ordinary), kernel.clear(x=x, w=ordinary))
    with pytest.raises(InputError, match=r"the values of w multiply noise by up to 2\^2\d.*worst_case=True"):
        run(program, x, half_everywhere(program))


def test_bfv_reckons_with_any_plaintext_if_asked() -> None:
    bits = least_bits(worst_case=True)
    assert 8 < bits - least_bits() < 16
    kernel = cubed(bits, worst_case=True)
    program = kernel.compile()
    x, w = np.arange(N) % 19 - 9, half_everywhere(program)
    np.testing.assert_array_equal(run(program, x, w), kernel.clear(x=x, w=w))
    # A pinned set with as much room makes no difference between plaintexts either.
    np.testing.assert_array_equal(run(cubed(bits).compile(), x, w), kernel.clear(x=x, w=w))


# The larger the values, the more of the error is what their weights lost in rounding.
BOUND, TOLERANCE = 100.0, 0.1


def weighted(**options: Any) -> Kernel:
    @rs.kernel(
        tolerance=TOLERANCE, x=rs.Encrypted(2048, low=-BOUND, high=BOUND), w=rs.Plain(2048, low=-1, high=1), **options
    )
    def weight(x: Any, w: Any) -> Any:
        return x * w

    return weight


def all_lost(program: Program) -> Array:
    """Return weights so small that every coefficient of their encoding rounds to 0."""
    step = next(step for step in program.circuit.steps if step.kind is Kind.MULTIPLY_PLAIN)
    w = np.zeros(2048)
    w[5] = 0.24 * program.params.n / step.plain_scale
    return w


def test_ckks_refuses_weights_lost_in_rounding_and_takes_them_if_asked() -> None:
    x = np.full(2048, BOUND)
    program = weighted().compile()
    with pytest.raises(InputError, match=r"the values of w lose .* worst_case=True"):
        run(program, x, all_lost(program))
    ordinary = np.random.default_rng(1).uniform(-1, 1, 2048)
    assert np.abs(run(program, x, ordinary) - x * ordinary).max() <= 2.0**program.noise_bits
    safe = weighted(worst_case=True).compile()
    w = all_lost(safe)
    assert np.abs(run(safe, x, w) - x * w).max() <= 2.0**safe.noise_bits <= TOLERANCE


def test_ckks_finds_contrived_constants_when_it_compiles() -> None:
    ordinary = weighted().compile()
    w = all_lost(ordinary)

    @rs.kernel(tolerance=TOLERANCE, x=rs.Encrypted(2048, low=-BOUND, high=BOUND))
    def fixed(x: Any) -> Any:
        return x * w

    program = fixed.compile()
    worst = noise.bound(program.circuit, program.params, encryption="secret", assume=noise.Assume.ALL).bits
    assert worst == pytest.approx(program.noise_bits)
    assert program.noise_bits <= np.log2(TOLERANCE)
    client, x = program.client("contrived"), np.full(2048, BOUND)
    result = client.decrypt(program.server(client.evaluation_keys).evaluate(client.encrypt(x=x)))
    assert np.abs(result - x * w).max() <= 2.0**program.noise_bits
