# SPDX-License-Identifier: Apache-2.0
"""Objects that SEAL wrote: read, computed with, decrypted; ours written as SEAL does; damaged ones refused."""

from __future__ import annotations

import hashlib
import random
import struct
import zlib
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xxhash

from ringsmith import _native, bfv, ckks
from ringsmith.errors import FormatError, InputError, RingsmithError
from ringsmith.interchange import seal, seal_objects
from ringsmith.interchange.ring import Ring, owner_of, ring_of
from ringsmith.interchange.seal_container import opened, sealed
from ringsmith.interchange.seal_random import leaves
from ringsmith.interchange.seal_slots import Rotation, slot_sum, to_ours, to_seals

VECTORS = Path(__file__).parents[3] / "spec" / "vectors" / "seal.txt"


def vectors() -> dict[str, dict[str, Any]]:
    """Return the objects of each scheme by their names."""
    found: dict[str, dict[str, Any]] = {}
    for line in VECTORS.read_text().splitlines():
        name, _, value = line.partition(": ")
        if name == "case":
            case = found[value] = {}
        elif value and not name.startswith("#"):
            case[name] = np.array(value.split(), np.int64) if name.startswith("values") else bytes.fromhex(value)
    return found


KNOWN = vectors()
ZSTD = 2


class Case:
    """The objects of one scheme as the engine's, with the secret that SEAL drew."""

    def __init__(self, scheme: str) -> None:
        self.bytes = KNOWN[scheme]
        made = seal.read(self.bytes["parameters none"], allow_insecure=True)
        assert isinstance(made, _native.BfvContext | _native.CkksContext)
        self.context: Any = made
        self.ring = ring_of(made)
        part: Any = bfv if scheme == "bfv" else ckks
        self.encoder: Any = part.Encoder(self.context)
        self.evaluator: Any = part.Evaluator(self.context, threads=1)
        self.decryptor: Any = part.Decryptor(self.context, secret_of(self.bytes["secret"], self.context, self.ring))
        self.encryptor: Callable[[Any], Any] = lambda key: part.Encryptor(self.context, key)
        self.exact = scheme == "bfv"

    def read(self, name: str) -> Any:
        if self.bytes[name][5] == ZSTD:
            pytest.importorskip("zstandard")
        return seal.read(self.bytes[name], self.context)

    def values(self, ciphertext: Any) -> Any:
        plain = self.decryptor.decrypt(ciphertext)
        return self.encoder.decode(plain) if self.exact else to_seals(self.encoder.decode_real(plain))

    def holds(self, ciphertext: Any, wanted: Any) -> None:
        np.testing.assert_allclose(self.values(ciphertext), wanted, atol=0 if self.exact else 1e-3, rtol=0)


@pytest.fixture(params=["bfv", "ckks"], scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def secret_of(data: bytes, context: Any, ring: Ring) -> _native.SecretKey:
    """Return SEAL's secret key, of which the values over all primes are in the bytes, as the engine's."""
    n, q = ring.n, ring.moduli[0]
    values = np.frombuffer(opened(data).data[-8 * n * len(ring.moduli) :], "<u8")[:n]
    root = next(z for g in range(2, q) if pow(z := pow(g, (q - 1) // (2 * n), q), n, q) == q - 1)
    root = min(pow(root, k, q) for k in range(1, 2 * n, 2))
    back = [int(f"{j:0{n.bit_length() - 1}b}"[::-1], 2) for j in range(n)]
    sums = [sum(int(v) * pow(root, -(2 * k + 1) * i, q) for v, k in zip(values, back, strict=True)) for i in range(n)]
    small = [(total * pow(n, -1, q) + 1) % q - 1 for total in sums]
    payload = ring.owner + np.array(small, "<i2").tobytes()
    return secret_from(payload, context)


def secret_from(payload: bytes, context: Any) -> _native.SecretKey:
    """Return a secret key of a set: an owner, then n coefficients of 16 bits."""
    # A public key's envelope has the set's fingerprint.
    nothing = np.zeros((2, len(context.moduli), context.n), np.uint64)
    likeness = _native.PublicKey.from_halves(context, payload[:16], nothing).to_bytes()
    body = struct.pack("<4sHH16sQ", b"RSMI", 3, 16, likeness[8:24], len(payload)) + payload
    return _native.SecretKey.from_bytes(context, body + xxhash.xxh3_64_intdigest(body).to_bytes(8, "little"))


def test_parameters_say_the_same_compressed_and_not(case: Case) -> None:
    pytest.importorskip("zstandard")
    assert seal_objects.read_parameters(case.bytes["parameters"]) == case.ring
    assert case.context.error == "binomial:21"


@pytest.mark.parametrize("name", ["x", "x none", "y seeded"])
def test_ciphertexts_hold_what_seal_encrypted(case: Case, name: str) -> None:
    case.holds(case.read(name), case.bytes[f"values {name[0]}"])


@pytest.mark.parametrize("name", ["relin", "relin seeded"])
def test_products_are_relinearised_with_seals_keys(case: Case, name: str) -> None:
    x = case.read("x none")
    product = case.evaluator.relinearize(case.evaluator.square(x), case.read(name))
    assert product.size == 2
    if not case.exact:
        product = case.evaluator.rescale(product)
    case.holds(product, case.bytes["values x"] ** 2)


@pytest.mark.parametrize("name", ["galois", "galois seeded"])
def test_slots_turn_with_seals_keys(case: Case, name: str) -> None:
    x, keys = case.read("x none"), case.read(name)
    turned = case.evaluator.rotate(x, 1, keys) if case.exact else Rotation(case.context, keys, 1)(case.evaluator, x)
    rows = case.bytes["values x"].reshape(2 if case.exact else 1, -1)
    case.holds(turned, np.roll(rows, -1, axis=1).reshape(-1))


@pytest.mark.parametrize("name", ["public", "public seeded"])
def test_seals_public_key_encrypts(case: Case, name: str) -> None:
    key = case.read(name)
    assert key.extended
    values = case.bytes["values y"]
    plain = case.encoder.encode(values if case.exact else to_ours(values * 1.0))
    case.holds(case.encryptor(key).encrypt(plain), values)


def test_what_is_written_is_what_seal_wrote(case: Case) -> None:
    """Apart from SEAL's version: what is written has no correction factor."""

    def older(name: str) -> bytes:
        return bytes(case.bytes[name]).replace(b"\x5e\xa1\x10\x04\x01", b"\x5e\xa1\x10\x03\x07")

    assert seal.write(case.context, case.context) == older("parameters none")
    written, theirs = seal.write(case.read("x none"), case.context), older("x none")
    assert written[16:] == theirs[16:81] + theirs[89:]
    for name in ("public", "relin seeded", "galois seeded"):
        first = case.read(name)
        again: Any = seal.read(seal.write(first, case.context), case.context)
        assert again.to_bytes() == first.to_bytes()


def test_keys_of_ours_without_seeds_are_kept_as_such(case: Case) -> None:
    for name in ("public", "relin seeded", "galois seeded"):
        key = case.read(name)
        assert type(key).from_bytes(case.context, key.to_bytes()).to_bytes() == key.to_bytes()


def test_an_owner_is_taken_from_another_object(case: Case) -> None:
    key = _native.KeyGenerator(case.context).secret_key()
    found: Any = seal.read(case.bytes["x none"], case.context, owner=key)
    assert found.key_id == key.key_id == owner_of(key)[:6].hex()
    with pytest.raises(InputError, match=r"owner: a int; a key, a ciphertext or the 16 bytes"):
        owner_of(3)


def test_secrets_plaintexts_and_objects_of_other_sets_are_refused(case: Case) -> None:
    with pytest.raises(InputError, match="secret key"):
        case.read("secret")
    with pytest.raises(InputError, match="plaintext"):
        case.read("plaintext")
    other = Case("ckks" if case.exact else "bfv")
    with pytest.raises(FormatError, match="an object of other parameters: their hash is"):
        seal.read(case.bytes["x none"], other.context)
    with pytest.raises(InputError, match="name their file as parameters"):
        seal.read(case.bytes["x none"])


def test_damage_is_named(case: Case) -> None:
    whole = case.bytes["x none"]
    for data, words in (
        (whole[:-1], "truncated"),
        (whole + b"\0", "left over"),
        (whole[:3] + b"\x05" + whole[4:], "written by SEAL 5"),
        (whole[:5] + b"\x07" + whole[6:], "compression 7"),
        (whole[:57] + b"\x00" + whole[58:], "primes|degree|kind|secret"),
        (whole[:-8] + b"\xff" * 8, "not below its prime"),
        (case.bytes["x"][:-9] + b"\0" * 9, "damaged zlib"),
    ):
        with pytest.raises(RingsmithError, match=words):
            seal.read(data, case.context)


def test_a_bomb_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = zlib.compress(bytes(1 << 22))
    header = struct.pack("<HBBBBHQ", 0xA15E, 16, 4, 1, 1, 0, 16 + len(packed))
    monkeypatch.setenv("RINGSMITH_MAX_MEMORY", str(1 << 20))
    with pytest.raises(InputError, match="more than the 1048576 bytes that may be taken; raise RINGSMITH_MAX_MEMORY"):
        opened(header + packed)


def test_sets_that_seal_lacks_are_named() -> None:
    primes = _native.ntt_primes(64, 40, 4)
    insecure: dict[str, Any] = {"allow_insecure": True}
    for context, words in (
        (_native.BfvContext(64, primes[:2], primes[2:], 257, dnum=2, **insecure), "2 special primes"),
        (_native.CkksContext(64, primes[:3], primes[3:], 2.0**30, dnum=2, **insecure), "2 digits of 3 primes"),
        (_native.BfvContext(64, _native.ntt_primes(64, 61, 1), [], 257, **insecure), "61 bits"),
    ):
        with pytest.raises(InputError, match=words):
            ring_of(context)


def test_leaves_compress_as_blake2b_does() -> None:
    words = np.arange(24, dtype=np.uint64).reshape(3, 8)
    sequential = (64 | 1 << 16 | 1 << 24, 0, 0, 0, 0, 0, 0, 0)
    assert [row.tobytes() for row in leaves(words, sequential)] == [
        hashlib.blake2b(row.tobytes()).digest() for row in words
    ]


@pytest.mark.parametrize("seed", range(4))
def test_mutated_objects_are_read_or_refused(case: Case, seed: int) -> None:
    for data in mutations(case, random.Random(seed), 300):
        try:
            seal.read(data, case.context)
        except RingsmithError:
            continue


def mutations(case: Case, chance: random.Random, count: int) -> list[bytes]:
    """Return damaged objects: outside and, resealed, inside of the compression."""
    names = [name for name, data in case.bytes.items() if isinstance(data, bytes) and data[5] != ZSTD]
    found = []
    for _ in range(count):
        data = case.bytes[chance.choice(names)]
        inside = chance.random() < 0.7
        bad = bytearray(opened(data).data if inside else data)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(min(len(bad), chance.choice((64, 200, len(bad)))))
            bad[place] = chance.choice((0, 1, 2, 255, bad[place] ^ 1 << chance.randrange(8)))
        if chance.random() < 0.2:
            del bad[chance.randrange(len(bad)) :]
        found.append(sealed(bytes(bad)) if inside else bytes(bad))
    return found


def test_orders_of_slots_are_each_others_inverse() -> None:
    values = np.arange(32) + 1j * np.arange(32)
    np.testing.assert_array_equal(to_seals(to_ours(values)), values)


def test_products_are_relinearised_before_they_are_rotated() -> None:
    case = Case("ckks")
    x = case.read("x none")
    with pytest.raises(InputError, match="relinearize it first"):
        Rotation(case.context, case.read("galois"), 1)(case.evaluator, case.evaluator.square(x))
    with pytest.raises(RingsmithError, match="no Galois key for element 9"):
        Rotation(case.context, case.read("galois"), 2)


def test_the_image_of_a_galois_element_is_the_engines(case: Case) -> None:
    """Natively, for every element of SEAL's keys; one without a key and the trivial one, too."""
    x, keys = case.read("x none"), case.read("galois")
    for g in keys.elements:
        image = case.evaluator.automorphism(x, g, keys)
        values = case.values(x)
        assert image.size == 2
        assert sorted(np.round(case.values(image), 2)) == sorted(np.round(values, 2))
    np.testing.assert_array_equal(case.evaluator.automorphism(x, 1, keys).residues(), x.residues())
    for g in (0, 2, 7, 2 * case.ring.n + 3, 2**64 - 1):
        with pytest.raises(RingsmithError, match=f"no Galois key for element {g}"):
            case.evaluator.automorphism(x, g, keys)


@pytest.mark.parametrize("n", [16, 256])
def test_sums_of_slots_with_the_elements_of_seals_rotations(n: int) -> None:
    """Keys for them are those of BFV's rotations, whose generator is 3, of the same secret."""
    primes, insecure = _native.ntt_primes(n, 50, 3), dict[str, Any](allow_insecure=True)
    context = _native.CkksContext(n, primes[:2], primes[2:], 2.0**40, **insecure)
    exact = _native.BfvContext(n, primes[:2], primes[2:], 257, **insecure)
    generator = _native.KeyGenerator(exact, seed=bytes(32))
    same = generator.secret_key()
    secret = secret_from(same.to_bytes()[32:-8], context)
    made = generator.galois_keys(same, [1 << i for i in range(n.bit_length() - 2)])
    parts = [_native.GaloisKeys.from_halves(context, owner_of(secret), g, made.halves(g)) for g in made.elements]
    keys = reduce(_native.GaloisKeys.united, parts)
    encoder, evaluator = ckks.Encoder(context), ckks.Evaluator(context, threads=1)
    values = np.arange(n // 2) / n
    x = ckks.Encryptor(context, secret).encrypt(encoder.encode(to_ours(values)))
    decrypted = ckks.Decryptor(context, secret).decrypt
    found = to_seals(encoder.decode_real(decrypted(slot_sum(evaluator, x, n, keys))))
    np.testing.assert_allclose(found, np.full(n // 2, values.sum()), atol=1e-4)
    turned = to_seals(encoder.decode_real(decrypted(Rotation(context, keys, 1)(evaluator, x))))
    np.testing.assert_allclose(turned, np.roll(values, -1), atol=1e-4)
    with pytest.raises(RingsmithError, match="no Galois key for element"):
        slot_sum(evaluator, x, n, parts[0])
