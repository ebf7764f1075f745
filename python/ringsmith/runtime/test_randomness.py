# SPDX-License-Identifier: Apache-2.0
"""Seeds: bound to all they serve, never twice, loud on data of one's own."""

from __future__ import annotations

import copy
import os
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.runtime.randomness import Randomness, derive_seed
from ringsmith.runtime.test_fork import in_child


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3, publish=True)
def squared(x: Any) -> Any:
    """Squares."""
    return x * x


VALUES = {"x": np.linspace(-1, 1, 8)}


@pytest.fixture(scope="module")
def program() -> rs.Program:
    return squared.compile()


def test_a_derivation_differs_by_each_of_its_parts() -> None:
    found = [
        derive_seed("s", b"p", "role", 1, b"about"),
        derive_seed("t", b"p", "role", 1, b"about"),
        derive_seed("s", b"q", "role", 1, b"about"),
        derive_seed("s", b"p", "rol", 1, b"about"),
        derive_seed("s", b"p", "role", 2, b"about"),
        derive_seed("s", b"p", "role", 1, b""),
        derive_seed("sp", b"", "role", 1, b"about"),
        derive_seed(None, b"p", "role"),
        derive_seed(None, b"p", "role"),
    ]
    assert len(set(found)) == len(found)
    assert derive_seed("s", b"p", "role", 1, b"about") == derive_seed(b"s", b"p", "role", 1, b"about") == found[0]


def test_owners_and_roles_count_apart() -> None:
    client, encryptor = Randomness("s", b"p", "client"), Randomness("s", b"p", "encryptor")
    found = [source.take(role) for source in (client, encryptor) for role in ("encrypt", "publish", "encrypt")]
    assert len(set(found)) == 6


def test_threads_never_draw_the_same() -> None:
    source = Randomness("s", b"p", "client")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: source.take("encrypt"), range(2000)))
    assert len(set(found)) == 2000


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_copies_of_a_seeded_client_refuse_to_repeat_it(program: rs.Program, copied: Any) -> None:
    client = program.client("s")
    original = client.encrypt(**VALUES)
    other = copied(client)
    np.testing.assert_allclose(other.decrypt(other.program.server(other.evaluation_keys).evaluate(original)),
                               VALUES["x"] ** 2, atol=1e-3)  # fmt: skip
    with pytest.raises(rs.SeedError, match=r"client\.reseed\(\)"):
        other.encrypt(**VALUES)
    again = copied(client)
    other.reseed("t")
    again.reseed()
    digests = {side.encrypt(**VALUES).digest() for side in (client, other, again)} | {original.digest()}
    assert len(digests) == 4


def test_the_old_seed_in_a_copy_draws_something_new(program: rs.Program) -> None:
    client = program.client("s")
    other = pickle.loads(pickle.dumps(client))
    other.reseed("s")
    assert client.encrypt(**VALUES) != other.encrypt(**VALUES)


def test_a_shallow_copy_shares_the_numbers(program: rs.Program) -> None:
    client = program.client("s")
    assert client.encrypt(**VALUES) != copy.copy(client).encrypt(**VALUES)


def test_pickles_of_a_seeded_client_hold_no_seed(program: rs.Program) -> None:
    assert b"tell nobody" not in pickle.dumps(program.client("tell nobody"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forks_of_seeded_sides_refuse_to_repeat_them() -> None:
    kernel = squared.options(encryption="public", publish=False)
    program = kernel.compile()
    client = program.client("s")
    encryptor = program.encryptor(client.public_key, "s")

    def child() -> bytes:
        for side in (client, encryptor):
            with pytest.raises(rs.SeedError, match="is a copy"):
                side.encrypt(**VALUES)
            side.reseed("child")
        return client.encrypt(**VALUES).ciphertexts[0]

    assert in_child(child) != client.encrypt(**VALUES).ciphertexts[0]


def test_a_seeded_client_publishes_only_when_told_and_never_with_the_same_noise(program: rs.Program) -> None:
    client = program.client("s")
    server = program.server(client.evaluation_keys)
    answer = server.evaluate(client.encrypt(**VALUES))
    with pytest.raises(rs.SeedError, match="allow_seeded_publish=True"):
        client.decrypt(answer, publish=True)
    told = program.client("s", allow_seeded_publish=True)
    exact = told.decrypt(answer)
    noises = [told.decrypt(answer, publish=True) - exact for _ in range(2)]
    assert not np.any(noises[0] == noises[1])


def test_published_noise_follows_from_the_ciphertext_as_well() -> None:
    """The engine's own function, one seed for two results: their noises do not cancel."""
    from ringsmith import _native, ckks

    primes = _native.ntt_primes(1024, 50, 2)
    context = ckks.Context(1024, primes, [], 2.0**40, allow_insecure=True)
    secret = ckks.KeyGenerator(context).secret_key()
    encoder, decryptor = ckks.Encoder(context), ckks.Decryptor(context, secret)
    message, encryptor = encoder.encode(np.zeros(8)), ckks.Encryptor(context, secret)
    results = [encryptor.encrypt(message) for _ in range(2)]

    def noise(ciphertext: Any, error: float) -> Any:
        flooded = decryptor.decrypt_for_publication(ciphertext, error, queries=1, seed=bytes(32))
        return np.asarray(encoder.decode_real(flooded))

    assert np.array_equal(noise(results[0], 1e-9), noise(results[0], 1e-9))
    first, second = (noise(result, 1e-9) for result in results)
    assert np.abs(first - second).max() > np.abs(first).max() / 4
    wider = noise(results[0], 2e-9)
    assert np.abs(wider - 2 * first).max() > np.abs(first).max() / 4


def test_a_seed_on_data_of_ones_own_warns_once(program: rs.Program) -> None:
    client = program.client("s")
    with pytest.warns(rs.SeedWarning, match="sample_data=True") as seen:
        client.encrypt(**VALUES)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        client.encrypt(**VALUES)
        program.client().encrypt(**VALUES)
        program.client("s", sample_data=True).encrypt(**VALUES)
        rs.run(squared, seed="s")
    with pytest.warns(rs.SeedWarning):
        rs.run(squared, VALUES, seed="s")


def test_zeros_of_one_server_seed_differ_by_what_they_are_added_to() -> None:
    @rs.kernel(
        mode="manual", params="seal-ckks-8192", x=rs.Encrypted(4, bound=1.0), output=rs.Output(4), tolerance=1e-3
    )
    def padded(x: Any) -> Any:
        return rs.encrypt_zero(x) + (x - x)

    program = padded.compile()
    client = program.client()
    server = program.server(client.evaluation_keys)
    first, second = (client.encrypt(x=np.zeros(4)) for _ in range(2))
    assert server.evaluate(first, seed="s") == server.evaluate(first, seed="s")
    assert server.evaluate(first, seed="s") != server.evaluate(second, seed="s")
