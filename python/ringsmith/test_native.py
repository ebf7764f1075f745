# SPDX-License-Identifier: Apache-2.0
"""The engine's objects from Python: both schemes end to end, bytes, threads, determinism, and bad input."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ringsmith import _native as native
from ringsmith import bfv, ckks, errors

SEED = bytes(range(32))
N = 2048


@dataclass(frozen=True)
class Bfv:
    """A BFV client and server of one seed."""

    context: bfv.Context
    keys: bfv.KeyGenerator
    secret: bfv.SecretKey
    encoder: bfv.Encoder
    encryptor: bfv.Encryptor
    decryptor: bfv.Decryptor
    evaluator: bfv.Evaluator

    def read(self, ciphertext: bfv.Ciphertext) -> npt.NDArray[np.int64]:
        """Decrypted slots."""
        return self.encoder.decode(self.decryptor.decrypt(ciphertext))


def bfv_set(bits: int, plain_modulus: int = 65537) -> Bfv:
    """n = 2048 and three primes: far too much modulus to be secure, hence the opt-in."""
    first, second, special = native.ntt_primes(N, bits, 3)
    context = bfv.Context(N, [first, second], [special], plain_modulus, allow_insecure=True)
    keys = bfv.KeyGenerator(context, seed=SEED)
    secret = keys.secret_key()
    return Bfv(
        context,
        keys,
        secret,
        bfv.Encoder(context),
        bfv.Encryptor(context, keys.public_key(secret), seed=SEED),
        bfv.Decryptor(context, secret),
        bfv.Evaluator(context),
    )


@dataclass(frozen=True)
class Ckks:
    """A CKKS client and server of one seed."""

    context: ckks.Context
    keys: ckks.KeyGenerator
    secret: ckks.SecretKey
    encoder: ckks.Encoder
    encryptor: ckks.Encryptor
    decryptor: ckks.Decryptor
    evaluator: ckks.Evaluator

    def read(self, ciphertext: ckks.Ciphertext) -> npt.NDArray[np.float64]:
        """Decrypted slots, real parts."""
        return self.encoder.decode_real(self.decryptor.decrypt(ciphertext))


@pytest.fixture(scope="module")
def exact() -> Bfv:
    return bfv_set(50)


@pytest.fixture(scope="module")
def wide() -> Bfv:
    return bfv_set(100)


@pytest.fixture(scope="module")
def approximate() -> Ckks:
    first, special = native.ntt_primes(N, 55, 2)
    context = ckks.Context(
        N, [first, *native.ntt_primes(N, 40, 2)], [special], 2.0**40, security=128, allow_insecure=True
    )
    keys = ckks.KeyGenerator(context, seed=SEED)
    secret = keys.secret_key()
    return Ckks(
        context,
        keys,
        secret,
        ckks.Encoder(context),
        ckks.Encryptor(context, keys.public_key(secret), seed=SEED),
        ckks.Decryptor(context, secret),
        ckks.Evaluator(context),
    )


@pytest.mark.parametrize("name", ["exact", "wide"])
def test_bfv_operations(name: str, request: pytest.FixtureRequest) -> None:
    s: Bfv = request.getfixturevalue(name)
    assert s.context.word_bits == (64 if name == "exact" else 128)
    rng = np.random.default_rng(1)
    x, y = rng.integers(-150, 150, (2, N))
    e = s.evaluator
    a, b = s.encryptor.encrypt_batch(s.encoder.encode_batch(np.stack([x, y])))
    plain = s.encoder.encode(y)
    keys = s.keys.galois_keys(s.secret, [1, -3], conjugate=True)

    def turned(steps: int) -> npt.NDArray[np.int64]:
        return np.roll(x.reshape(2, -1), -steps, axis=1).reshape(-1)

    product = e.multiply(a, b)
    cases = [
        (a, x),
        (e.add(a, b), x + y),
        (e.sub(a, b), x - y),
        (e.negate(a), -x),
        (e.add_plain(a, plain), x + y),
        (e.sub_plain(a, plain), x - y),
        (e.multiply_plain(a, plain), x * y),
        (product, x * y),
        (e.square(a), x * x),
        (e.relinearize(product, s.keys.relin_key(s.secret)), x * y),
        (e.rotate(a, 1, keys), turned(1)),
        (e.rotate(a, -3, keys), turned(-3)),
        *zip(e.rotate_hoisted(a, [1, -3], keys), [turned(1), turned(-3)], strict=True),
        (e.swap_rows(a, keys), np.roll(x, N // 2)),
        (e.mod_switch(a), x),
        (e.trivial(plain), y),
    ]
    for number, (ciphertext, wanted) in enumerate(cases):
        assert np.array_equal(s.read(ciphertext), wanted), number
    assert product.size == 3
    assert e.mod_switch(a).level == s.context.max_level - 1
    assert 0 < s.decryptor.noise_budget(product) < s.decryptor.noise_budget(a)


def test_bfv_without_slots_takes_integers_and_fractions() -> None:
    s = bfv_set(50, plain_modulus=33)
    assert not s.context.batching
    encoder, encryptor, e = s.encoder, s.encryptor, s.evaluator
    a = encryptor.encrypt(encoder.encode_integer(-1234567, base=3))
    b = encryptor.encrypt(encoder.encode_integer(89, base=3))
    assert encoder.decode_integer(s.decryptor.decrypt(e.multiply(a, b)), base=3) == -1234567 * 89
    c = encryptor.encrypt(encoder.encode_fraction(-2.625))
    assert encoder.decode_fraction(s.decryptor.decrypt(e.add(c, c))) == -5.25
    with pytest.raises(errors.ParameterError, match="33 has no slots"):
        encoder.encode(np.arange(3))


def test_ckks_operations(approximate: Ckks) -> None:
    s, e = approximate, approximate.evaluator
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-1, 1, (2, N // 2))
    a, b = s.encryptor.encrypt_batch(s.encoder.encode_batch(np.stack([x, y])))
    plain = s.encoder.encode(y)
    keys = s.keys.galois_keys(s.secret, [1, -3], conjugate=True)
    relin = s.keys.relin_key(s.secret)
    product = e.multiply(a, b)
    cases = [
        (a, x),
        (e.add(a, b), x + y),
        (e.sub(a, b), x - y),
        (e.negate(a), -x),
        (e.add_plain(a, plain), x + y),
        (e.sub_plain(a, plain), x - y),
        (e.multiply_plain(a, plain), x * y),
        (product, x * y),
        (e.square(a), x * x),
        (e.rescale(e.relinearize(product, relin)), x * y),
        (e.rotate(a, 1, keys), np.roll(x, -1)),
        *zip(e.rotate_hoisted(a, [1, -3], keys), [np.roll(x, -1), np.roll(x, 3)], strict=True),
        (e.conjugate(a, keys), x),
        (e.drop_to(a, 0), x),
        (e.add_constant(a, 0.25), x + 0.25),
        (e.rescale(e.multiply_constant(a, -0.5)), -0.5 * x),
        (e.multiply_integer(a, 3), 3 * x),
        (e.polynomial(a, [0.5, 0.0, 1.0, -0.25], relin), 0.5 + x**2 - 0.25 * x**3),
    ]
    for number, (ciphertext, wanted) in enumerate(cases):
        assert np.allclose(s.read(ciphertext), wanted, atol=1e-5), number
    z = x + 1j * y
    turned = e.conjugate(s.encryptor.encrypt(s.encoder.encode(z)), keys)
    assert np.allclose(s.encoder.decode(s.decryptor.decrypt(turned)), z.conj(), atol=1e-5)


def test_publication_hides_the_error(approximate: Ckks) -> None:
    s = approximate
    estimate = ckks.Estimator(s.context.n, s.context.moduli, s.context.special)
    fresh = estimate.encrypt_public(estimate.encode(1.0, s.context.max_level, s.context.scale))
    bound = estimate.slot_error(fresh)
    x = np.linspace(-1, 1, N // 2)
    ciphertext = s.encryptor.encrypt(s.encoder.encode(x))
    exact = np.abs(s.read(ciphertext) - x).max()
    published = s.decryptor.decrypt_for_publication(ciphertext, bound, queries=1, seed=SEED)
    shown = np.abs(s.encoder.decode_real(published) - x).max()
    assert exact < bound < shown


def test_batches_are_loops(exact: Bfv, approximate: Ckks) -> None:
    rows = np.arange(3 * N).reshape(3, N) % 100
    plains = exact.encoder.encode_batch(rows)
    loop = bfv.Encryptor(exact.context, exact.secret, seed=SEED)
    batch = bfv.Encryptor(exact.context, exact.secret, seed=SEED)
    assert [c.to_bytes() for c in batch.encrypt_batch(plains)] == [loop.encrypt(p).to_bytes() for p in plains]
    x = approximate.encoder.encode_batch(rows[:, : N // 2] / 100)
    cts = approximate.encryptor.encrypt_batch(x)
    e = approximate.evaluator
    assert [c.to_bytes() for c in e.multiply_batch(cts, cts)] == [e.multiply(c, c).to_bytes() for c in cts]


def test_the_same_seed_gives_the_same_bytes(exact: Bfv) -> None:
    again = bfv_set(50)
    assert again.secret.to_bytes() == exact.secret.to_bytes()
    assert again.keys.relin_key(again.secret).to_bytes() == exact.keys.relin_key(exact.secret).to_bytes()
    fresh = bfv.KeyGenerator(exact.context).secret_key()
    assert fresh.to_bytes() != exact.secret.to_bytes()


def objects(s: Bfv | Ckks) -> list[Any]:
    """One of each class that has bytes."""
    plain = s.encoder.encode(np.arange(4) if isinstance(s, Bfv) else np.arange(4.0))  # type: ignore[arg-type]
    ciphertext = s.encryptor.encrypt(plain)  # type: ignore[arg-type]
    keys = s.keys
    return [
        s.secret,
        keys.public_key(s.secret),
        keys.relin_key(s.secret, level=0),
        keys.galois_keys(s.secret, [1], level=0),
        plain,
        ciphertext,
    ]


@pytest.mark.parametrize("name", ["exact", "wide", "approximate"])
def test_everything_pickles_and_goes_through_bytes(name: str, request: pytest.FixtureRequest) -> None:
    s = request.getfixturevalue(name)
    assert pickle.loads(pickle.dumps(s.context)) == s.context
    for thing in objects(s):
        copy = pickle.loads(pickle.dumps(thing))
        assert type(copy) is type(thing)
        assert copy.to_bytes() == thing.to_bytes() == type(thing).from_bytes(s.context, thing.to_bytes()).to_bytes()


@pytest.mark.parametrize("name", ["exact", "wide", "approximate"])
def test_damaged_bytes_are_refused(name: str, request: pytest.FixtureRequest) -> None:
    s = request.getfixturevalue(name)
    rng = np.random.default_rng(5)
    for thing in objects(s):
        data = thing.to_bytes()
        damaged = [data[:cut] for cut in (0, 3, 31, 40, len(data) // 2, len(data) - 1)] + [data + b"\0"]
        for position in rng.integers(0, len(data), 20):
            flipped = bytearray(data)
            flipped[position] ^= 1 << int(rng.integers(8))
            damaged.append(bytes(flipped))
        damaged.append(data[:24] + (2**63).to_bytes(8, "little") + data[32:])  # a length beyond any file
        damaged.append(data[:4] + b"\x63\x00" + data[6:])  # another version
        for bad in damaged:
            with pytest.raises((errors.FormatError, errors.KeyMismatchError)):
                type(thing).from_bytes(s.context, bad)


def test_threads_share_one_evaluator(approximate: Ckks) -> None:
    s = approximate
    x = np.linspace(-1, 1, N // 2)
    ciphertext = s.encryptor.encrypt(s.encoder.encode(x))
    relin = s.keys.relin_key(s.secret)

    def work(_: int) -> bytes:
        return s.evaluator.relinearize(s.evaluator.square(ciphertext), relin).to_bytes()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(work, range(16)))) == 1


def test_results_do_not_depend_on_the_threads(exact: Bfv, approximate: Ckks) -> None:
    a = approximate.encryptor.encrypt(approximate.encoder.encode(np.linspace(-1, 1, N // 2)))
    b = exact.encryptor.encrypt(exact.encoder.encode(np.arange(N)))
    relin_a, relin_b = approximate.keys.relin_key(approximate.secret), exact.keys.relin_key(exact.secret)
    seen = set()
    for threads in (1, 2, 3):
        e, f = ckks.Evaluator(approximate.context, threads=threads), bfv.Evaluator(exact.context, threads=threads)
        products = [e.relinearize(e.square(a), relin_a), *e.relinearize_batch([e.square(a)] * 3, relin_a)]
        exact_products = [f.relinearize(f.square(b), relin_b), *f.relinearize_batch([f.square(b)] * 3, relin_b)]
        seen.add((*{c.to_bytes() for c in products}, *{c.to_bytes() for c in exact_products}))
    assert len(seen) == 1
    assert len(seen.pop()) == 2
    with pytest.raises(errors.ParameterError, match="threads is 0"):
        ckks.Evaluator(approximate.context, threads=0)


def test_bad_input_names_the_trouble(exact: Bfv, approximate: Ckks) -> None:
    a, s = approximate, exact
    ct = a.encryptor.encrypt(a.encoder.encode(np.ones(3)))
    low = a.evaluator.drop_to(ct, 0)
    other = ckks.KeyGenerator(a.context, seed=bytes(32))
    stranger = ckks.Encryptor(a.context, other.public_key(other.secret_key())).encrypt(a.encoder.encode(np.ones(3)))
    keys = a.keys.galois_keys(a.secret, [1])
    cases: list[tuple[type[Exception], str, Any]] = [
        (errors.InputError, "NaN", lambda: a.encoder.encode(np.array([0.0, np.nan]))),
        (errors.InputError, "inf", lambda: a.encoder.encode(np.array([np.inf]))),
        (errors.InputError, "1025 values do not fit 1024", lambda: a.encoder.encode(np.ones(1025))),
        (errors.InputError, "1e\\+40|coefficient", lambda: a.encoder.encode(np.array([1e40]))),
        (errors.InputError, "int64 given", lambda: a.encoder.encode(np.arange(3))),  # type: ignore[arg-type]
        (errors.InputError, "list given", lambda: a.encoder.encode([1.0])),  # type: ignore[arg-type]
        (errors.InputError, "one vector", lambda: a.encoder.encode(np.ones((2, 2)))),
        (errors.InputError, "each of its rows", lambda: a.encoder.encode_batch(np.ones(2))),
        (errors.InputError, "rescale", lambda: a.evaluator.rescale(low)),
        (errors.InputError, "batch of 1 against one of 2", lambda: a.evaluator.add_batch([ct], [ct, ct])),
        (errors.InputError, "31 bytes", lambda: ckks.KeyGenerator(a.context, seed=bytes(31))),
        (errors.KeyMismatchError, "no Galois key", lambda: a.evaluator.rotate(ct, 2, keys)),
        (errors.KeyMismatchError, "key set", lambda: a.evaluator.add(ct, stranger)),
        (errors.KeyMismatchError, "key set", lambda: a.decryptor.decrypt(stranger)),
        (errors.KeyMismatchError, "parameter set", lambda: bfv.Decryptor(s.context, a.secret)),
        (errors.InputError, "index 0 is outside", lambda: s.encoder.encode(np.array([40000]))),
        (errors.ParameterError, "insecure", lambda: bfv.Context(N, s.context.moduli, [], 65537)),
        (errors.ParameterError, "no security table", lambda: native.max_log2_qp(4096, table="1999")),
        (errors.ParameterError, "no such prime", lambda: native.ntt_primes(4096, 14, 3)),
        (errors.ParameterError, "distribution", lambda: bfv.Context(N, s.context.moduli, [], 2, error="gauss")),
        (errors.ParameterError, "128", lambda: bfv.Context(N, s.context.moduli, [], 2, word_bits=32)),
    ]
    for kind, words, attempt in cases:
        with pytest.raises(kind, match=words) as caught:
            attempt()
        assert "\n" not in str(caught.value)
        assert isinstance(caught.value, errors.RingsmithError)


def test_the_stated_security_is_that_of_the_table() -> None:
    assert native.max_log2_qp(4096) == 106
    assert native.max_log2_qp(4096, table="2018-classical") == 109
    assert native.max_log2_qp(8192, 192) == 147
    assert "2024/463" in native.security_source()
    moduli = native.ntt_primes(8192, 43, 5)
    assert bfv.Context(8192, moduli[:4], [], 65537).security.level == 128
    assert bfv.Context(8192, moduli[:3], [], 65537).security.level == 192


def test_arrays_may_lie_in_memory_in_any_order(exact: Bfv, approximate: Ckks) -> None:
    numbers = np.arange(64, dtype=np.int64)
    for other in (np.repeat(numbers, 3)[::3], np.flip(numbers).copy()[::-1]):
        np.testing.assert_array_equal(exact.encoder.decode(exact.encoder.encode(other))[:64], numbers)
    encoder = approximate.encoder
    complexes = np.exp(1j * numbers)
    columns = np.stack([complexes, -complexes], axis=1)
    got, want = (encoder.decode(encoder.encode(vector)) for vector in (columns[:, 0], complexes))
    np.testing.assert_array_equal(got, want)
    rows = np.arange(128.0).reshape(2, 64)
    for batch in (np.asfortranarray(rows), np.broadcast_to(rows[1], (2, 64))):
        for row, plaintext in zip(batch, encoder.encode_batch(batch), strict=True):
            want = encoder.decode(encoder.encode(row.copy()))
            np.testing.assert_array_equal(encoder.decode(plaintext), want)
