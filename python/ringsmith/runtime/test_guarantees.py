# SPDX-License-Identifier: Apache-2.0
"""The certain and the probable guarantee: what each takes, and that neither is exceeded by inputs made to that end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native
from ringsmith.compiler.params import noise
from ringsmith.compiler.params.ranges import ranges
from ringsmith.runtime.box import guarantees, promises
from ringsmith.runtime.kernel import Kernel

SIZE = 32
RNG = np.random.default_rng(5)
FIRST, SECOND = RNG.uniform(-1, 1, (SIZE, SIZE)), RNG.uniform(-1, 1, (4, SIZE))


def network(**options: Any) -> Kernel:
    @rs.kernel(tolerance=1e-3, x=rs.Encrypted(SIZE, bound=1.0), w=rs.Plain(SIZE, bound=1.0), **options)
    def layers(x: Any, w: Any) -> Any:
        hidden = FIRST @ (x * w)
        return SECOND @ (hidden * hidden)

    return layers


def clear(x: Any, w: Any) -> Any:
    return SECOND @ (FIRST @ (x * w)) ** 2


def test_the_probable_guarantee_takes_a_smaller_set_and_holds_for_extreme_inputs() -> None:
    certain, probable = network().compile(), network(guarantee="probable").compile()
    assert probable.params.log2_q < certain.params.log2_q - 10
    client = probable.client("guarantees", sample_data=True)
    server = probable.server(client.evaluation_keys)
    ones = np.ones(SIZE)
    # The row that is largest in the end, and signs that make its elements as large as they can be.
    strongest = np.sign(FIRST[np.abs(FIRST).sum(axis=1).argmax()])
    for x, w in [(ones, ones), (strongest, ones), (strongest, strongest * 0.5), (RNG.uniform(-1, 1, SIZE), ones)]:
        found = client.decrypt(server.evaluate(client.encrypt(x=x), w=w))
        error = np.abs(found - clear(x, w)).max()
        assert error <= 2.0**probable.noise_bits <= 1e-3


def test_roundings_made_to_add_up_are_within_the_probable_guarantee() -> None:
    @rs.kernel(tolerance=1e-3, guarantee="probable", x=rs.Encrypted(1024, bound=1.0))
    def copied(x: Any) -> Any:
        return x * 1.0 + 0.0

    program = copied.compile()
    n, scale = program.params.n, 2.0**program.params.log2_scale
    # Coefficients that all lose nearly 1/2 with the signs of the first root: (x -> sum of cos(pi j / n) / 2 there).
    lost = np.where(np.arange(n) < n // 2, 0.499, -0.499) / scale
    angles = np.pi * np.outer(np.power(5, np.arange(1024), dtype=object) % (2 * n), np.arange(n)).astype(float) / n
    x = np.cos(angles) @ lost
    client = program.client("roundings", sample_data=True)
    found = client.decrypt(program.server(client.evaluation_keys).evaluate(client.encrypt(x=x)))
    assert np.abs(x).max() * scale > 0.3 * n / np.pi
    assert np.abs(found - x).max() <= 2.0**program.noise_bits


def test_the_engine_finds_the_same_bounds_as_the_compiler() -> None:
    for kernel in (network(), network(guarantee="probable")):
        program = kernel.compile()
        found = noise.bound(
            program.circuit, program.params, encryption=program.encryption, guarantee=program.signature.guarantee
        )
        assert float(program.native.bound("none")["bits"]) == pytest.approx(found.bits, abs=1e-6)


def test_ranges_hold_for_extreme_inputs() -> None:
    program = network().compile()
    found = ranges(program.circuit)
    assert found.promised == found.everywhere
    most = max(found.promised[output] for output in program.circuit.outputs)
    signs = np.sign(FIRST[np.abs(FIRST).sum(axis=1).argmax()])
    reached = np.abs(clear(signs, np.ones(SIZE))).max()
    # sum |second| (sum |first|)^2 is what the graph's own interval arithmetic says.
    exact = (np.abs(SECOND) @ np.abs(FIRST).sum(axis=1) ** 2).max()
    assert reached <= exact <= most * (1 + 1e-9) <= 2 * exact


@pytest.mark.parametrize("seed", range(3))
def test_promised_errors_go_through_a_matrix_slot_by_slot(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Large weights stand where nothing is read.
    read = rng.uniform(size=SIZE) < 0.3
    weights = rng.uniform(-1, 1, (4, SIZE)) * np.where(read, 1.0, 100.0)
    error = 1e-3

    @rs.kernel(tolerance=10.0, params="seal-ckks-8192", x=rs.Encrypted(SIZE, bound=1.0))
    def layer(x: Any) -> Any:
        # The factor makes the error larger than what is promised of it.
        return weights @ (read * rs.within(x * 2.0**20, 1.0, error=error))

    certain, probable = (layer.options(guarantee=name).compile() for name in ("certain", "probable"))
    possible = float((np.abs(weights * read) @ np.full(SIZE, error)).max())
    assert possible <= 2.0**probable.noise_bits <= possible + 1e-4
    assert 2.0**certain.noise_bits > 1.5 * possible
    found = noise.bound(probable.circuit, probable.params, encryption=probable.encryption, guarantee="probable")
    assert float(probable.native.bound("none")["bits"]) == pytest.approx(found.bits, abs=1e-6)
    ranged = ranges(probable.circuit)
    assert max(ranged.results) == pytest.approx(possible, rel=1e-9)
    again = type(probable).from_bytes(probable.to_bytes())
    assert again.noise_bits == probable.noise_bits


@pytest.mark.parametrize("guarantee", ["certain", "probable"])
def test_a_program_knows_its_guarantee_wherever_it_is(guarantee: str) -> None:
    program = network(guarantee=guarantee).compile()
    again = type(program).from_bytes(program.to_bytes())
    assert again.signature.guarantee == guarantee == again.native.guarantee["strength"]
    assert list(guarantees(again)) == [guarantee]
    both = guarantees(program)
    assert both[guarantee] == program.noise_bits
    assert both["probable"] < both["certain"] - 3
    assert [name for name, text in promises(program) if "wanted" in text] == [guarantee]


def test_bfv_decrypts_rightly_under_either_guarantee() -> None:
    def sums(x: Any, y: Any) -> Any:
        return (x * y + y) * x + np.sum(x)

    arguments: dict[str, Any] = {"x": rs.Encrypted(SIZE, bound=9), "y": rs.Encrypted(SIZE, bound=9)}
    bits = []
    for guarantee in ("certain", "probable"):
        kernel = rs.kernel(scheme="bfv", guarantee=guarantee, **arguments)(sums)
        program = kernel.compile()
        bits.append(program.params.log2_q)
        for x in (np.full(SIZE, 9), RNG.integers(-9, 10, SIZE)):
            client = program.client("bfv", sample_data=True)
            result = program.server(client.evaluation_keys).evaluate(client.encrypt(x=x, y=x[::-1]))
            np.testing.assert_array_equal(client.decrypt(result), sums(x, x[::-1]))
            context = program.open().context
            decryptor = _native.BfvDecryptor(context, _native.SecretKey.from_bytes(context, client.secret_key))
            ciphertext = _native.BfvCiphertext.from_bytes(context, result.ciphertexts[0])
            assert decryptor.noise_budget(ciphertext) >= int(program.noise_bits)
            assert decryptor.noise_bits(ciphertext) < program.params.log2_q
    assert bits[1] <= bits[0]


def test_guarantees_that_are_none_are_refused() -> None:
    with pytest.raises(rs.KernelError, match="guarantee='sure': one of certain, probable"):
        network(guarantee="sure")
    with pytest.raises(rs.KernelError, match='publish=True needs guarantee="certain"'):
        network(guarantee="probable", publish=True)
    with pytest.raises(rs.KernelError, match='publish=True needs guarantee="certain"'):
        network(publish=True).options(guarantee="probable")
