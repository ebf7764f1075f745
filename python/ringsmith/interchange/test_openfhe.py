# SPDX-License-Identifier: Apache-2.0
"""Objects that OpenFHE wrote: read, computed with, decrypted; ours written as OpenFHE does; damaged ones refused."""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import _native, bfv, ckks
from ringsmith.errors import FormatError, InputError, RingsmithError
from ringsmith.interchange import openfhe
from ringsmith.interchange.cereal import BinarySource, JsonSource, Pointer, Record, Target
from ringsmith.interchange.openfhe_schema import FILES, KEY, POLYNOMIAL
from ringsmith.interchange.openfhe_set import Set, context_tree, set_of, special_primes
from ringsmith.interchange.openfhe_slots import rotated, to_openfhes, to_ours
from ringsmith.interchange.ring import owner_of
from ringsmith.interchange.test_seal import secret_from

VECTORS = Path(__file__).parents[3] / "spec" / "vectors" / "openfhe.txt"
_PRIVATE_KEY = Pointer(Record("private key", 0, {"value0": KEY, "s": POLYNOMIAL}))
INSECURE: dict[str, Any] = {"allow_insecure": True}


def vectors() -> dict[str, dict[str, Any]]:
    """Return the objects of each case by their names."""
    found: dict[str, dict[str, Any]] = {}
    for line in VECTORS.read_text().splitlines():
        name, _, value = line.partition(": ")
        if name == "case":
            case = found[value] = {}
        elif value and not name.startswith("#"):
            numbers = name.startswith("values")
            case[name] = np.array(value.split(), np.int64) if numbers else zlib.decompress(bytes.fromhex(value))
    return found


KNOWN = vectors()


class Case:
    """The objects of one set as the engine's, with the secret that OpenFHE drew."""

    def __init__(self, name: str) -> None:
        self.bytes = KNOWN[name]
        self.context: Any = openfhe.read(self.bytes["parameters"], **INSECURE)
        self.exact = name != "ckks"
        part: Any = bfv if self.exact else ckks
        self.encoder: Any = part.Encoder(self.context)
        self.evaluator: Any = part.Evaluator(self.context, threads=1)
        self.secret = self.read_secret()
        self.decryptor: Any = part.Decryptor(self.context, self.secret)
        self.encryptor: Any = lambda key: part.Encryptor(self.context, key)

    def read(self, name: str) -> Any:
        return openfhe.read(self.bytes[name], self.context)

    def read_secret(self) -> _native.SecretKey:
        """Return the secret by the values modulo its first prime, transformed back in Python integers."""
        tree = _PRIVATE_KEY.read(BinarySource(self.bytes["secret"], "OpenFHE"), "value0")
        limb, n = tree["s"]["v"][0], self.context.n
        q, root = limb["v"]["m"]["v"], limb["p"]["value0"]["ru"]["v"]
        back = [int(f"{j:0{n.bit_length() - 1}b}"[::-1], 2) for j in range(n)]
        powers = [[pow(root, -(2 * k + 1) * i, q) for k in back] for i in range(n)]
        sums = [sum(int(v) * w for v, w in zip(limb["v"]["v"], row, strict=True)) for row in powers]
        small = [(total * pow(n, -1, q) + 1) % q - 1 for total in sums]
        assert set(small) <= {-1, 0, 1}
        return secret_from(owner_of(self.read("x")) + np.array(small, "<i2").tobytes(), self.context)

    def values(self, ciphertext: Any) -> Any:
        plain = self.decryptor.decrypt(ciphertext)
        return to_openfhes(self.encoder.decode(plain)) if self.exact else self.encoder.decode_real(plain)

    def holds(self, ciphertext: Any, wanted: Any) -> None:
        np.testing.assert_allclose(self.values(ciphertext), wanted, atol=0 if self.exact else 1e-5, rtol=0)


@pytest.fixture(params=list(KNOWN), scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def test_every_object_tells_its_set(case: Case) -> None:
    for name in ("parameters", "x", "public", "relin", "galois"):
        assert openfhe.read_set(case.bytes[name], **INSECURE) == case.context


def test_ciphertexts_hold_what_openfhe_encrypted(case: Case) -> None:
    for name in "xy":
        case.holds(case.read(name), case.bytes[f"values {name}"])
    product = case.bytes["values x"] * case.bytes["values y"]
    case.holds(case.read("product"), product)
    case.holds(case.evaluator.relinearize(case.read("unswitched"), case.read("relin")), product)


def test_products_and_rotations_with_openfhes_keys(case: Case) -> None:
    x, y, keys = case.read("x"), case.read("y"), case.read("galois")
    product = case.evaluator.relinearize(case.evaluator.multiply(x, y), case.read("relin"))
    values = case.bytes["values x"]
    case.holds(product, values * case.bytes["values y"])
    for steps in (1, -2):
        turned = (
            rotated(case.evaluator, x, case.context.n, steps, keys)
            if case.exact
            else case.evaluator.rotate(x, steps, keys)
        )
        rows = values.reshape(2 if case.exact else 1, -1)
        case.holds(turned, np.roll(rows, -steps, axis=1).reshape(-1))


def test_openfhes_public_key_encrypts(case: Case) -> None:
    values = case.bytes["values y"]
    plain = case.encoder.encode(to_ours(values) if case.exact else values * 1.0)
    case.holds(case.encryptor(case.read("public")).encrypt(plain), values)


def test_what_is_written_is_what_openfhe_wrote(case: Case) -> None:
    """To the byte; keys over special primes share fewer parameters of rings, and are read as what they were."""
    assert openfhe.write(case.context, case.context, case.bytes["x"]) == case.bytes["parameters"]
    for name in ("x", "y", "public"):
        assert openfhe.write(case.read(name), case.context, case.bytes["parameters"]) == case.bytes[name]
    for name in ("relin", "galois", "unswitched", "product"):
        for form in openfhe.SERIALISATIONS:
            written = openfhe.write(case.read(name), case.context, case.bytes["relin"], form)
            assert openfhe.is_openfhe(written)
            again: Any = openfhe.read(written, case.context)
            assert again.to_bytes() == case.read(name).to_bytes()


def test_a_set_of_ours_is_written_with_openfhes_defaults(case: Case) -> None:
    written = openfhe.write(case.context, case.context)
    assert openfhe.read(written, **INSECURE) == case.context
    if case.exact:  # whose depth is no fact of the set in CKKS
        assert len(written) == len(case.bytes["parameters"])


def test_json_says_the_same() -> None:
    case = Case("ckks")
    for name in ("parameters", "public", "x", "relin", "galois"):
        text = case.bytes[f"{name} json"]
        assert openfhe.read_set(text, **INSECURE) == case.context
        if name != "parameters":
            assert openfhe.read(text, case.context).to_bytes() == case.read(name).to_bytes()
    written = openfhe.write(case.read("x"), case.context, case.bytes["parameters"], "json")
    assert json.loads(written) == json.loads(case.bytes["x json"])


def test_special_primes_are_the_largest_that_are_no_data_primes() -> None:
    primes = _native.ntt_primes(1024, 60, 6)
    assert special_primes(1024, primes[:2], 2, 60) == tuple(primes[2:4])
    assert special_primes(1024, [_native.ntt_primes(1024, 56, 1)[0]], 1, 60) == (primes[0],)
    assert special_primes(1024, [_native.ntt_primes(1024, 57, 1)[0]], 1, 60) == tuple(primes[:2])
    with pytest.raises(InputError, match="auxiliary primes of 61 bits"):
        special_primes(1024, primes[:2], 2, 61)


def test_secrets_and_objects_of_other_sets_are_refused(case: Case) -> None:
    with pytest.raises(RingsmithError):
        case.read("secret")
    other = Case("ckks" if case.exact else "bfv")
    with pytest.raises(FormatError, match="an object of other parameters than those named"):
        openfhe.read(case.bytes["x"], other.context)
    with pytest.raises(InputError, match="name the file of its context, or of its keys, as parameters"):
        openfhe.read(case.bytes["x"])
    with pytest.raises(InputError, match="a scale and a policy of security go with parameters"):
        openfhe.read(case.bytes["x"], case.context, scale=2.0**30)
    with pytest.raises(InputError, match="serialisation 'xml': binary, json"):
        openfhe.write(case.context, case.context, None, "xml")


def test_ours_that_openfhe_lacks_are_named(case: Case) -> None:
    generator = _native.KeyGenerator(case.context)
    secret = generator.secret_key()
    if case.context.special:
        with pytest.raises(InputError, match="a public key over Q·P; OpenFHE's is over Q"):
            openfhe.write(generator.public_key(secret, extended=True), case.context)
    if case.context.max_level:
        with pytest.raises(InputError, match="keys for level 0 and below; OpenFHE's serve level"):
            openfhe.write(generator.relin_key(secret, level=0), case.context)
    primes = _native.ntt_primes(64, 40, 4)
    context = _native.BfvContext(64, primes[:2], primes[2:], 257, **INSECURE)
    with pytest.raises(InputError, match=r"OpenFHE derives .*: read a set that OpenFHE wrote"):
        openfhe.write(context, context)


def test_keys_of_ours_are_read_back(case: Case) -> None:
    generator = _native.KeyGenerator(case.context)
    secret = generator.secret_key()
    made: list[Any] = [generator.public_key(secret), generator.relin_key(secret)]
    made.append(generator.galois_keys(secret, [1, 3], conjugate=True))
    for key in made:
        again: Any = openfhe.read(openfhe.write(key, case.context), case.context)
        assert again.key_id == key.key_id
        first, second = (
            [np.asarray(one.halves(g)) for g in one.elements] if hasattr(one, "elements") else [one.halves()]
            for one in (again, type(key).from_bytes(case.context, key.to_bytes()))
        )
        for a, b in zip(first, second, strict=True):
            np.testing.assert_array_equal(a, b)


def test_sets_that_are_made_in_another_way_are_named() -> None:
    primes = _native.ntt_primes(64, 50, 2)
    one = Set("bfv", 64, tuple(primes), (), 2, 257, 0.0)
    for name, value, words in (
        ("ks", 0, "key switching technique 0; BV and HYBRID"),
        ("encs", 1, "encryption technique 1; STANDARD"),
        ("cd", 2, "composite degree 2; 1"),
    ):
        tree = context_tree(one)
        tree["cc"]["value0"][name] = value
        with pytest.raises(InputError, match=words):
            set_of(tree)
    for name, value, words in (("mo", 2, "UNIFORM_TERNARY is read"), ("rw", 3, "digit size 3")):
        tree = context_tree(one)
        tree["cc"]["value0"]["value0"][name] = value
        with pytest.raises(InputError, match=words):
            set_of(tree)


def test_keys_over_other_primes_than_their_set_are_refused() -> None:
    tree = FILES["relinearization key"].read(BinarySource(KNOWN["ckks"]["relin"], "OpenFHE"), "value0")
    (key,) = next(iter(tree.values()))
    ring = key["ak"][0]["p"]
    ring["p"] = ring["p"][1:]
    target = Target()
    FILES["relinearization key"].write(target, "value0", tree)
    with pytest.raises(FormatError, match="a key over other data primes than its set has"):
        openfhe.read_set(target.finish(), **INSECURE)


def test_damage_is_named(case: Case) -> None:
    whole = case.bytes["x"]
    for data, words in (
        (whole[:-1], "truncated"),
        (whole + b"\0", "left over"),
        (whole[:9] + b"\x07" + whole[10:], "version|kind|class"),
        (b"\x00" + whole[1:], "order of bytes"),
        (whole.replace(b"\x20" + bytes(7) + openfhe_tag(whole), b"\xff" * 8 + openfhe_tag(whole), 1), "length of kt"),
    ):
        with pytest.raises(RingsmithError, match=words):
            openfhe.read(data, case.context)
    for text, words in (
        (b'{"value0": ' + b"[" * 5000, "damaged JSON"),
        (b'{"value0": {"polymorphic_id": 1e400}}', "polymorphic_id is inf"),
        (b'{"value0": {"polymorphic_name": "x"}}', "stands where polymorphic_id is due"),
        (b'{"value0": {"polymorphic_id": ' + b"9" * 5000 + b"}}", "damaged JSON"),
    ):
        with pytest.raises(RingsmithError, match=words):
            openfhe.read(text, case.context)


def openfhe_tag(data: bytes) -> bytes:
    """Return the key tag in a ciphertext's bytes."""
    found = re.search(rb"[0-9a-f]{32}", data)
    assert found
    return found[0]


def test_json_beyond_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGSMITH_MAX_MEMORY", "10000")
    with pytest.raises(InputError, match="raise RINGSMITH_MAX_MEMORY, or serialise as BINARY"):
        JsonSource(b" " * 400, "OpenFHE")


def mutations(names: list[str], known: dict[str, Any], chance: random.Random, count: int) -> Iterator[bytes]:
    """Yield damaged objects: bytes changed, removed, put together with those of others."""
    for _ in range(count):
        bad = bytearray(known[chance.choice(names)])
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(min(len(bad), chance.choice((64, 700, 1200, len(bad)))))
            match chance.randrange(4):
                case 0:
                    bad[place] = chance.choice((0, 1, 2, 32, 127, 128, 255))
                case 1:
                    bad[place] ^= 1 << chance.randrange(8)
                case 2:
                    size = chance.choice((1, 4, 8))
                    bad[place : place + size] = chance.choice((b"", b"\xff" * size, b"\0" * size, b"9" * size))
                case _:
                    other = known[chance.choice(names)]
                    start = chance.randrange(len(other))
                    bad[place : place + 16] = other[start : start + 16]
        if chance.random() < 0.1:
            del bad[chance.randrange(len(bad)) :]
        yield bytes(bad)


@pytest.mark.parametrize("seed", range(2))
def test_mutated_objects_are_read_or_refused(case: Case, seed: int) -> None:
    names, lines = [name for name in case.bytes if not name.startswith("values")], []
    for data in mutations(names, case.bytes, random.Random(seed), 300):
        for read, more in ((openfhe.read, {"context": case.context}), (openfhe.read_set, INSECURE)):
            try:
                read(data, **more)
            except RingsmithError as refusal:
                lines.append(str(refusal))
    assert len(lines) > 100
    assert [line for line in lines if "\n" in line] == []
