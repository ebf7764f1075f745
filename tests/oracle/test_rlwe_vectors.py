# SPDX-License-Identifier: Apache-2.0
"""The known answers of spec/vectors/rlwe.txt, recomputed without ringsmith."""

import pytest

from . import xof
from .gauss import gaussian
from .ring import automorphism
from .rlwe import Keys, Set, to_evaluation
from .vectors import Case, read_cases
from .wire import Reader, fingerprint, unseal

CASES = list(read_cases("rlwe.txt"))


def of_kind(kind: str) -> list[Case]:
    return [c for c in CASES if c["case"] == kind]


def set_of(case: Case) -> Set:
    q, p = tuple(case.numbers("q")), tuple(case.numbers("p"))
    return Set(case.number("n"), q, p, case.number("digit_len"), case.number("word_bytes"))


def test_the_file_holds_every_kind() -> None:
    assert {c["case"] for c in CASES} == {"stream", "binding", "sampler", "uniform", "keys"}


@pytest.mark.parametrize("case", of_kind("stream"))
def test_streams(case: Case) -> None:
    stream = xof.Stream(case.bytes("seed"), case["label"], case.number("index"))
    assert stream.take(150) == case.bytes("bytes")


@pytest.mark.parametrize("case", of_kind("binding"))
def test_bindings(case: Case) -> None:
    found = xof.bind(case.bytes("seed"), case["role"], case.bytes("set"), case.bytes("about"))
    assert found == case.bytes("bound")


@pytest.mark.parametrize("case", of_kind("sampler"), ids=lambda c: f"{c['name']}-{c['parameter']}")
def test_samplers(case: Case) -> None:
    stream = xof.Stream(case.bytes("seed"), "sampler", 0)
    parameter = float(case["parameter"])
    draw = {
        "ternary": lambda: xof.ternary(stream, 100),
        "binary": lambda: xof.binary(stream, 100),
        "binomial": lambda: xof.binomial(stream, int(parameter), 100),
        "gaussian": lambda: gaussian(stream, parameter, 100),
    }
    assert draw[case["name"]]() == case.numbers("values")


@pytest.mark.parametrize("case", of_kind("uniform"), ids=lambda c: c["modulus"])
def test_uniform(case: Case) -> None:
    stream = xof.Stream(case.bytes("seed"), "uniform", 0)
    assert xof.uniform(stream, case.number("modulus"), 50, case.number("word_bytes")) == case.numbers("values")


@pytest.mark.parametrize("case", of_kind("keys"), ids=lambda c: c["name"])
def test_keys(case: Case) -> None:
    params = set_of(case)
    assert params.fingerprint == fingerprint(case.bytes("params bytes"))
    keys = Keys(params, case.bytes("seed"), params.fingerprint)
    assert keys.secret == case.numbers("secret")
    assert keys.id == case.bytes("id")
    for key, limbs in zip("ba", keys.public(), strict=True):
        assert to_evaluation(limbs, list(params.q)) == case.limbs(f"public {key}", params.n)
    for key, limbs in zip("ba", keys.public(extended=True), strict=True):
        assert to_evaluation(limbs, params.qp) == case.limbs(f"extended {key}", params.n)
    for name, switch in (
        ("relin", keys.relin()),
        ("galois 3", keys.switch(automorphism(keys.secret, 3), "galois key", 3)),
    ):
        for d, pair in enumerate(switch):
            for key, limbs in zip("ba", pair, strict=True):
                assert to_evaluation(limbs, params.qp) == case.limbs(f"{name} {key} {d}", params.n)


@pytest.mark.parametrize("case", of_kind("keys"), ids=lambda c: c["name"])
def test_key_bytes(case: Case) -> None:
    params, n = set_of(case), case.number("n")
    data = case.bytes("params bytes")
    reader = Reader(unseal(data, 1, bytes(16)))
    assert (reader.number(1), 1 << reader.number(1)) == (8 * params.word_bytes, n)
    assert [(reader.number(1), reader.number(8)) for _ in range(2)] == [(0, 0), (2, 21)]
    counts = [reader.number(4) for _ in range(3)]
    assert counts == [len(params.digits()), len(params.q), len(params.p)]
    assert [reader.number(16) for _ in params.qp] == params.qp
    assert reader.rest == b""
    owner = fingerprint(data)
    keys = Keys(params, case.bytes("seed"), owner)

    def open_key(name: str, tag: int) -> Reader:
        reader = Reader(unseal(case.bytes(name), tag, owner))
        assert reader.take(16) == case.bytes("id")
        return reader

    def switch_key(reader: Reader, name: str, role: str, index: int) -> None:
        assert reader.take(32) == keys.halves(role, index)[0]
        for d in range(len(params.digits())):
            assert reader.poly(params.qp, n) == case.limbs(f"{name} b {d}", n)
        assert reader.rest == b""

    reader = open_key("secret bytes", 16)
    assert [int.from_bytes(reader.take(2), "little", signed=True) for _ in range(n)] == case.numbers("secret")
    assert reader.rest == b""
    reader = open_key("public bytes", 17)
    assert reader.take(32) == keys.halves("public key")[0]
    assert reader.poly(list(params.q), n) == case.limbs("public b", n)
    assert reader.rest == b""
    reader = open_key("extended bytes", 20)
    assert reader.take(32) == keys.halves("extended public key")[0]
    assert reader.poly(params.qp, n) == case.limbs("extended b", n)
    assert reader.rest == b""
    reader = open_key("relin bytes", 18)
    assert reader.number(4) == len(params.q)
    switch_key(reader, "relin", "relin key", 0)
    reader = open_key("galois bytes", 19)
    assert [reader.number(4) for _ in range(3)] == [len(params.q), 1, 3]
    switch_key(reader, "galois 3", "galois key", 3)
