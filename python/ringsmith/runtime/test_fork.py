# SPDX-License-Identifier: Apache-2.0
"""Forked processes: no randomness twice, no waiting for threads that stayed behind."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import select
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native, bfv, ckks
from ringsmith.errors import SeedError

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]
SECONDS = 120
N = 4096


def in_child(work: Callable[[], Any]) -> Any:
    """Return what `work` returns in a forked process; fail if it raises or takes too long."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            data = pickle.dumps(work())
        except BaseException:
            data = pickle.dumps(AssertionError(traceback.format_exc()))
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(data)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        ready, _, _ = select.select([pipe], [], [], SECONDS)
        if not ready:
            os.kill(child, signal.SIGKILL)
        answer = pipe.read()
    os.waitpid(child, 0)
    assert ready, "the child hung"
    found = pickle.loads(answer)
    if isinstance(found, AssertionError):
        raise found
    return found


def context(scheme: str) -> Any:
    moduli = _native.ntt_primes(N, 36, 3)
    if scheme == "bfv":
        return bfv.Context(N, moduli[:2], moduli[2:], _native.ntt_primes(N, 20, 1)[0], allow_insecure=True)
    return ckks.Context(N, moduli[:2], moduli[2:], 2.0**30, allow_insecure=True)


def message(made: Any, scheme: str) -> Any:
    return module(scheme).Encoder(made).encode(np.arange(8, dtype=np.int64 if scheme == "bfv" else np.float64))


def module(scheme: str) -> Any:
    return {"bfv": bfv, "ckks": ckks}[scheme]


@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
@pytest.mark.parametrize("key", ["public", "secret"])
def test_an_encryptor_never_repeats_itself_in_a_child(scheme: str, key: str) -> None:
    made, names = context(scheme), module(scheme)
    generator = names.KeyGenerator(made)
    secret = generator.secret_key()
    under = generator.public_key(secret) if key == "public" else secret
    encryptor, plain = names.Encryptor(made, under), message(made, scheme)

    def bodies() -> list[bytes]:
        # The envelope, with the same parameters and key, is no part of the comparison; residues are.
        one, many, zero = encryptor.encrypt(plain), encryptor.encrypt_batch([plain] * 2), encryptor.encrypt_zero()
        return [bytes(ciphertext.to_bytes())[-64:] for ciphertext in (one, *many, zero)]

    child = in_child(bodies)
    assert len({*child, *bodies()}) == 8


@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
def test_a_key_generator_never_repeats_itself_in_a_child(scheme: str) -> None:
    made = context(scheme)
    generator = module(scheme).KeyGenerator(made)
    assert in_child(lambda: generator.secret_key().key_id) != generator.secret_key().key_id


@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
def test_a_given_seed_is_refused_in_a_child_and_serves_on_in_the_parent(scheme: str) -> None:
    made, names = context(scheme), module(scheme)
    generator = names.KeyGenerator(made, seed=bytes(32))
    secret = generator.secret_key()
    encryptor = names.Encryptor(made, secret, seed=bytes(32))
    plain = message(made, scheme)

    def child() -> str:
        for call in (
            generator.secret_key,
            lambda: generator.public_key(secret),
            lambda: generator.relin_key(secret),
            lambda: generator.galois_keys(secret, [1]),
            lambda: encryptor.encrypt(plain),
            lambda: encryptor.encrypt_batch([plain, plain]),
            encryptor.encrypt_zero,
        ):
            with pytest.raises(SeedError, match="make a new one here"):
                call()
        names.Encryptor(made, secret, seed=bytes(31) + b"\1").encrypt(plain)
        return "refused"

    assert in_child(child) == "refused"
    encryptor.encrypt(plain)


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=3), w=rs.Plain(8, bound=3))
def wide(x: Any, w: Any) -> Any:
    """Products and rotations that run side by side."""
    return rs.sum(x * x * w) + rs.sum(x * w) + x * 3


def answered(client: rs.Client, server: rs.Server) -> list[int]:
    x, w = np.arange(8) % 4, np.arange(8) % 3
    answer = server.evaluate(client.encrypt(x=x), w=w)
    found = client.decrypt(answer)
    assert np.array_equal(found, wide.clear(x=x, w=w))
    return [int(value) for value in found]


@pytest.fixture(scope="module")
def warmed() -> tuple[rs.Client, rs.Server]:
    program = wide.compile()
    client = program.client()
    server = program.server(client.evaluation_keys)
    answered(client, server)
    return client, server


def test_warmed_pools_serve_a_fork_and_its_fork(warmed: tuple[rs.Client, rs.Server]) -> None:
    here = answered(*warmed)
    assert in_child(lambda: in_child(lambda: answered(*warmed))) == here
    assert answered(*warmed) == here


def _work(queue: Any, warmed: tuple[rs.Client, rs.Server]) -> None:
    queue.put(answered(*warmed))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(warmed: tuple[rs.Client, rs.Server], method: Any) -> None:
    how = multiprocessing.get_context(method)
    queue = how.SimpleQueue()
    process = how.Process(target=_work, args=(queue, warmed), daemon=True)
    process.start()
    process.join(SECONDS)
    hung = process.is_alive()
    process.kill()
    assert not hung
    assert queue.get() == answered(*warmed)


def test_evaluators_with_threads_end_in_a_child() -> None:
    """The pool of a dropped evaluator is not told to end where its threads never were."""
    made = context("bfv")
    secret = bfv.KeyGenerator(made).secret_key()
    ciphertext = bfv.Encryptor(made, secret).encrypt(message(made, "bfv"))
    evaluators = [bfv.Evaluator(made, threads=4)]
    evaluators[0].add_batch([ciphertext] * 16, [ciphertext] * 16)

    def child() -> int:
        evaluators.pop()
        return len(bfv.Evaluator(made, threads=4).add_batch([ciphertext] * 16, [ciphertext] * 16))

    assert in_child(child) == 16


@contextmanager
def at_work(work: Callable[[], Any], threads: int) -> Iterator[None]:
    """Repeat `work` in threads meanwhile."""
    stop = threading.Event()

    def loop() -> None:
        while not stop.is_set():
            work()

    running = [threading.Thread(target=loop) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in running:
            thread.join()


def test_forks_while_other_threads_work(warmed: tuple[rs.Client, rs.Server]) -> None:
    client, server = warmed
    with at_work(lambda: answered(client, server), threads=2):
        for _ in range(5):
            in_child(lambda: answered(client, server))
