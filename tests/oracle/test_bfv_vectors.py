# SPDX-License-Identifier: Apache-2.0
"""The known answers of spec/vectors/bfv.txt, recomputed without ringsmith."""

from math import prod

import pytest

from . import xof
from .bfv import Bfv, Ciphertext
from .ring import compose, multiply
from .rlwe import Keys, Set
from .vectors import Case, read_cases
from .wire import Reader, fingerprint, unseal

CASES = list(read_cases("bfv.txt"))


def scheme_of(case: Case) -> Bfv:
    q, p = tuple(case.numbers("q")), tuple(case.numbers("p"))
    params = Set(case.number("n"), q, p, case.number("digit_len"), case.number("word_bytes"))
    seed = case.bytes("seed")
    keys = Keys(params, seed, fingerprint(case.bytes("params bytes")))
    return Bfv(params, case.number("t"), keys, xof.derive(seed, "messages", 0))


def stored(case: Case, name: str, moduli: list[int]) -> Ciphertext:
    parts = [key for key in case.fields if key.startswith(f"{name} ") and key[len(name) + 1 :].isdigit()]
    return [compose(case.limbs(part, case.number("n")), moduli) for part in parts]


@pytest.fixture(params=CASES, ids=lambda c: c["name"])
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


def test_encryption_and_linear_operations(case: Case) -> None:
    scheme, moduli = scheme_of(case), case.numbers("q")
    a, b = case.numbers("a"), case.numbers("b")
    x, y = scheme.encrypt(a, 0), scheme.encrypt(b, 1)
    expected = {
        "encrypt a": x,
        "encrypt b": y,
        "symmetric a": scheme.encrypt_symmetric(a, 2),
        "add": scheme.add(x, y),
        "sub": scheme.add(x, scheme.negate(y)),
        "negate": scheme.negate(x),
        "add_plain": scheme.add_plain(x, b),
        "multiply_plain": scheme.multiply_plain(x, b),
    }
    if scheme.params.p:
        expected["extended a"] = scheme.encrypt_extended(a, 3)
        assert scheme.decrypt(expected["extended a"]) == a
    for name, ciphertext in expected.items():
        assert stored(case, name, moduli) == ciphertext, name
    assert scheme.decrypt(x) == a


def test_products(case: Case) -> None:
    scheme, moduli = scheme_of(case), case.numbers("q")
    x, y = stored(case, "encrypt a", moduli), stored(case, "encrypt b", moduli)
    product = scheme.multiply(x, y)
    assert stored(case, "multiply hps", moduli) == product
    assert stored(case, "square", moduli) == scheme.multiply(x, x)
    over_q = scheme.multiply_over_q(x, y, prod(case.numbers("over_q")))
    assert stored(case, "multiply over_q", moduli) == over_q
    clear = [c % scheme.t for c in multiply(case.numbers("a"), case.numbers("b"))]
    assert scheme.decrypt(product) == scheme.decrypt(over_q) == case.numbers("decrypt product") == clear


def test_key_switching_and_levels(case: Case) -> None:
    scheme, moduli = scheme_of(case), case.numbers("q")
    x = stored(case, "encrypt a", moduli)
    product = stored(case, "multiply hps", moduli)
    assert stored(case, "relinearize", moduli) == scheme.relinearize(product, scheme.keys.relin())
    assert stored(case, "rotate", moduli) == scheme.rotate(x, 3)
    assert stored(case, "swap", moduli) == scheme.rotate(x, 2 * case.number("n") - 1)
    if len(moduli) > 1:
        assert stored(case, "mod_switch", moduli[:-1]) == scheme.mod_switch(x)


def test_bytes(case: Case) -> None:
    n, moduli = case.number("n"), case.numbers("q")
    data = case.bytes("params bytes")
    unseal(data, 2, bytes(16))
    owner = fingerprint(data)
    plain = Reader(unseal(case.bytes("plain bytes"), 32, owner))
    assert plain.residues(case.number("t"), n) == case.numbers("a")
    assert plain.rest == b""
    reader = Reader(unseal(case.bytes("encrypt bytes"), 33, owner))
    assert reader.take(16) == scheme_of(case).keys.id
    assert [reader.number(size) for size in (4, 4, 1)] == [len(moduli), 2, 0]
    assert [reader.poly(moduli, n) for _ in range(2)] == [case.limbs(f"encrypt a {i}", n) for i in range(2)]
    assert reader.rest == b""
    reader = Reader(unseal(case.bytes("symmetric bytes"), 33, owner))
    reader.take(16)
    assert [reader.number(size) for size in (4, 4, 1)] == [len(moduli), 2, 1]
    assert reader.poly(moduli, n) == case.limbs("symmetric a 0", n)
    assert reader.take(32) == xof.derive(scheme_of(case).message_seed("secret", 2), "a", 0)
    assert reader.rest == b""
