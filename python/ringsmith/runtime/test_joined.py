# SPDX-License-Identifier: Apache-2.0
"""Arguments of several owners under one public key, and evaluation keys that grow without a new secret."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native

X, Y = np.arange(8) - 4, np.arange(8) * 2


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=16), y=rs.Encrypted(8, bound=16), w=rs.Plain(8, bound=4))
def mixed(x: Any, y: Any, w: Any) -> Any:
    return x * y + rs.rotate(x, 1) * w


@rs.kernel(encryption="public", z=rs.Encrypted(8, bound=16, complex=True), y=rs.Encrypted(8, bound=16), tolerance=1e-3)
def approximate(z: Any, y: Any) -> Any:
    return z * y


def quarter(x: Any) -> Any:
    return rs.rotate(x, 1) + rs.rotate(x, 2) * 2 + x * 3


def half(x: Any) -> Any:
    return rs.rotate(x, 1) + rs.rotate(x, 2) * 2 + x * 3 + rs.rotate(x, 3) * 5


def flat(x: Any) -> Any:
    return x + 1


def squares(x: Any) -> Any:
    return rs.rotate(x * x, 2)


def two(first: Any, second: Any, scheme: str = "bfv") -> list[rs.Program]:
    made = [rs.kernel(scheme=scheme, x=rs.Encrypted(8, bound=16), tolerance=1e-2)(one) for one in (first, second)]
    return rs.compile(made)


def test_two_owners_of_one_public_key() -> None:
    program = mixed.compile()
    owner = program.client()
    alice, bob = (program.encryptor(owner.public_key) for _ in range(2))
    parts = [bob.encrypt_part(y=Y), alice.encrypt_part(x=X)]
    server = program.server(owner.evaluation_keys)
    expected = X * Y + np.roll(X, -1) * 2
    for sent in (parts, parts[::-1], program.joined(parts), [owner.encrypt_part(x=X), parts[0]]):
        assert np.array_equal(owner.decrypt(server.evaluate(sent, w=[2] * 8)), expected)
    sent = owner.encrypt(x=X, y=Y)
    assert sum(one.nbytes for one in parts) == sent.nbytes == program.joined(parts).nbytes


def test_parts_travel_as_files_between_processes(tmp_path: Path) -> None:
    program = approximate.compile()
    owner = program.client()
    program.save(tmp_path / "p.rsp")
    owner.public_key.save(tmp_path / "public")
    code = (
        "import sys, numpy as np, ringsmith as rs\n"
        "program = rs.load(sys.argv[1] + '/p.rsp')\n"
        "encryptor = program.encryptor(rs.load(sys.argv[1] + '/public'))\n"
        "encryptor.encrypt_part(**{sys.argv[2]: eval(sys.argv[3])}).save(sys.argv[1] + '/' + sys.argv[2])\n"
    )
    for name, values in (("z", "np.arange(8) * 1j - 2"), ("y", "np.arange(8)")):
        subprocess.run([sys.executable, "-c", code, str(tmp_path), name, values], check=True)
    parts = [rs.load(tmp_path / name) for name in ("y", "z")]
    answer = owner.decrypt(program.server(owner.evaluation_keys).evaluate(parts))
    assert np.abs(answer - (np.arange(8) * 1j - 2) * np.arange(8)).max() < 1e-3


def test_parts_that_do_not_go_together_are_refused() -> None:
    program = mixed.compile()
    owner, other = program.client(), program.client()
    server = program.server(owner.evaluation_keys)
    x, y = owner.encrypt_part(x=X), owner.encrypt_part(y=Y)
    with pytest.raises(rs.InputError, match="lack y; evaluate them joined"):
        server.evaluate(x, w=[1] * 8)
    with pytest.raises(rs.InputError, match="lack y"):
        server.evaluate([x], w=[1] * 8)
    with pytest.raises(rs.InputError, match="ciphertext 0 of argument x came twice"):
        server.evaluate([x, y, owner.encrypt_part(x=X)], w=[1] * 8)
    with pytest.raises(rs.KeyMismatchError, match="of key"):
        server.evaluate([x, other.encrypt_part(y=Y)], w=[1] * 8)
    with pytest.raises(rs.InputError, match="not a list"):
        server.evaluate([], w=[1] * 8)
    with pytest.raises(rs.InputError, match="no message to join"):
        program.joined([])
    for wrong in ({}, {"v": Y}, {"x": X, "w": Y}):
        with pytest.raises(rs.InputError, match="takes the encrypted arguments x, y"):
            owner.encrypt_part(**wrong)
    with pytest.raises(rs.InputError, match=r"takes a list of Encryptions, .*, not of Keys"):
        server.evaluate([x, owner.evaluation_keys], w=[1] * 8)  # type: ignore[list-item]
    later = mixed.options(name="later").compile()
    with pytest.raises(rs.KeyMismatchError, match="another program"):
        program.joined([x, later.client().encrypt_part(y=Y)])


def test_keys_grow_by_the_rotations_that_are_missing() -> None:
    first, second = two(quarter, half)
    owner = first.client()
    other = owner.for_program(second, held=owner.evaluation_keys)
    more = other.evaluation_keys
    needed, there = set(second.native.rotations()), set(first.native.rotations())
    assert set(owner.evaluation_keys.rotations) == there
    assert set(more.rotations) == needed - there
    assert 0 < len(more.rotations) < len(needed)
    assert more.nbytes < 0.9 * owner.for_program(second).evaluation_keys.nbytes
    assert other.secret_key == owner.secret_key
    server = second.server([owner.evaluation_keys, more])
    assert set(server.keys.rotations) == needed | there
    found = other.decrypt(server.evaluate(other.encrypt(x=X)))
    assert np.array_equal(found, half(X))
    # What is there already is not made again, byte for byte.
    scheme = second.open()
    joined = _native.GaloisKeys.from_bytes(scheme.context, server.keys.galois)
    assert joined.united(joined).to_bytes() == server.keys.galois
    assert owner.evaluation_keys.galois[-1000:-8] in server.keys.galois or more.galois[-1000:-8] in server.keys.galois


def test_nothing_is_made_where_nothing_is_missing() -> None:
    first, second = two(half, quarter)
    owner = first.client()
    other = owner.for_program(second, held=[owner.evaluation_keys])
    assert other.evaluation_keys.nbytes == 0
    server = second.server([owner.evaluation_keys, other.evaluation_keys])
    assert np.array_equal(other.decrypt(server.evaluate(other.encrypt(x=X))), quarter(X))
    alone = second.server([owner.evaluation_keys])
    assert np.array_equal(other.decrypt(alone.evaluate(other.encrypt(x=X))), quarter(X))


@pytest.mark.parametrize("pair", [(quarter, squares), (squares, quarter), (flat, squares), (flat, flat)])
@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
def test_programs_of_other_depths(pair: tuple[Any, Any], scheme: str) -> None:
    first, second = two(*pair, scheme=scheme)
    owner = first.client()
    other = owner.for_program(second, held=owner.evaluation_keys)
    server = second.server([other.evaluation_keys, owner.evaluation_keys])
    found = other.decrypt(server.evaluate(other.encrypt(x=X)))
    assert np.abs(found - pair[1](X)).max() < 1e-2


def test_keys_travel_as_files(tmp_path: Path) -> None:
    first, second = two(quarter, half)
    owner = first.client()
    other = owner.for_program(second, held=owner.evaluation_keys)
    owner.evaluation_keys.save(tmp_path / "first")
    other.evaluation_keys.save(tmp_path / "more")
    second.save(tmp_path / "p.rsp")
    read = rs.load(tmp_path / "p.rsp")
    server = read.server([rs.load(tmp_path / "first"), rs.load(tmp_path / "more")])
    whole = read.joined([rs.load(tmp_path / "first"), rs.load(tmp_path / "more")])
    whole.save(tmp_path / "whole")
    for one in (server, read.server(rs.load(tmp_path / "whole"))):
        assert np.array_equal(other.decrypt(one.evaluate(other.encrypt(x=X))), half(X))


def test_keys_that_do_not_go_together_are_refused() -> None:
    first, second = two(quarter, half)
    owner, stranger = first.client(), first.client()
    other = owner.for_program(second, held=owner.evaluation_keys)
    with pytest.raises(rs.KeyMismatchError, match=r"lack rotation 2 at level .*held=keys"):
        second.server([owner.evaluation_keys])
    with pytest.raises(rs.KeyMismatchError, match="lack rotation 1, rotation 7 at"):
        second.server([other.evaluation_keys])
    with pytest.raises(rs.KeyMismatchError, match="keys of secret keys"):
        second.server([other.evaluation_keys, stranger.evaluation_keys])
    with pytest.raises(rs.KeyMismatchError, match="the keys held are of secret key"):
        owner.for_program(second, held=stranger.evaluation_keys)
    with pytest.raises(rs.InputError, match=r"takes a list of Keys, .*, not of PublicKey"):
        second.server([owner.evaluation_keys, owner.public_key])  # type: ignore[list-item]
    wide = rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=2**30))(half).compile()
    with pytest.raises(rs.KeyMismatchError, match="other parameters"):
        wide.server([owner.evaluation_keys])
    _, deep = two(quarter, squares)
    with pytest.raises(rs.KeyMismatchError, match=r"relinearisation key|other parameters"):
        deep.server([owner.evaluation_keys])


def test_rotation_keys_of_another_secret_or_length_are_not_united() -> None:
    first, second = two(quarter, squares)
    owner = first.client()
    scheme = first.open()
    held = _native.GaloisKeys.from_bytes(scheme.context, owner.evaluation_keys.galois)
    strange = _native.GaloisKeys.from_bytes(scheme.context, first.client().evaluation_keys.galois)
    with pytest.raises(rs.KeyMismatchError, match="a rotation key belongs to key set"):
        held.united(strange)
    generator, secret = _native.KeyGenerator(scheme.context), scheme.secret_key(owner.secret_key)
    for level in range(len(second.params.moduli)):
        other = generator.galois_keys(secret, [5], level=level)
        if level == held.level:
            assert set(held.united(other).elements) == {*held.elements, *other.elements}
            continue
        with pytest.raises(rs.InputError, match="data primes of a rotation key"):
            held.united(other)
