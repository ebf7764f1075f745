# SPDX-License-Identifier: Apache-2.0
"""Every object that travels against every wrong receiver, and the hash of a program: what changes it, what does not."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native
from ringsmith.errors import FormatError
from ringsmith.runtime.client import Client
from ringsmith.runtime.identity import Role, checksums
from ringsmith.runtime.messages import Encryptions, Keys, PublicKey
from ringsmith.runtime.program import Program
from ringsmith.runtime.server import Server

SCHEMES = ("ckks", "bfv")
#: Messages between client and server; a client's file is not sent.
ROLES = (Role.PUBLIC_KEY, Role.EVALUATION_KEYS, Role.ARGUMENTS, Role.RESULT)


def difference(scheme: str = "ckks", *, swapped: bool = False, **options: Any) -> Program:
    """A program of two arguments that are easily mistaken for each other."""

    def diff(a: Any, b: Any) -> Any:
        d = b - a if swapped else a - b
        return d * a + np.roll(d, 1)

    made: dict[str, Any] = {"tolerance": 1e-3, "encryption": "public"} | options
    return rs.kernel(scheme=scheme, a=rs.Encrypted(8, bound=4), b=rs.Encrypted(8, bound=4), **made)(diff).compile()


A, B = np.arange(8) - 4, np.ones(8, dtype=int)


class Party:
    """A program, a client and a server of it, and one object of each role."""

    def __init__(self, program: Program, seed: str = "s") -> None:
        """Make keys, encrypt and evaluate."""
        self.program, self.client = program, program.client(seed)
        self.server = program.server(self.client.evaluation_keys)
        sent = self.client.encrypt(a=A, b=B)
        self.objects: dict[Role, Any] = {
            Role.PUBLIC_KEY: self.client.public_key,
            Role.EVALUATION_KEYS: self.client.evaluation_keys,
            Role.ARGUMENTS: sent,
            Role.RESULT: self.server.evaluate(sent),
        }
        self.receivers: dict[Role, Callable[[Any], Any]] = {
            Role.PUBLIC_KEY: program.encryptor,
            Role.EVALUATION_KEYS: program.server,
            Role.ARGUMENTS: self.server.evaluate,
            Role.RESULT: self.client.decrypt,
        }


@pytest.fixture(scope="module", params=SCHEMES)
def party(request: pytest.FixtureRequest) -> Party:
    return Party(difference(request.param))


def one_line(error: BaseException) -> bool:
    return len(str(error).splitlines()) == 1


@pytest.mark.parametrize("receiver", ROLES)
@pytest.mark.parametrize("role", ROLES)
def test_an_object_is_taken_by_the_receiver_of_its_role_only(party: Party, role: Role, receiver: Role) -> None:
    taken = party.receivers[receiver]
    if role is receiver:
        taken(party.objects[role])
        return
    with pytest.raises(rs.InputError, match=f"takes {receiver}") as caught:
        taken(party.objects[role])
    assert one_line(caught.value)


@pytest.mark.parametrize("receiver", ROLES)
@pytest.mark.parametrize("thing", [None, b"bytes", 3, np.zeros(8), "text", [], object()])
def test_anything_else_is_refused_by_name(party: Party, receiver: Role, thing: Any) -> None:
    with pytest.raises(rs.InputError, match=f"not a {type(thing).__name__}") as caught:
        party.receivers[receiver](thing)
    assert one_line(caught.value)


@pytest.fixture(scope="module", params=SCHEMES)
def stranger(request: pytest.FixtureRequest) -> tuple[Party, Party]:
    return Party(difference(request.param)), Party(difference(request.param), "other")


@pytest.mark.parametrize("role", [Role.ARGUMENTS, Role.RESULT])
def test_another_clients_objects_are_refused(stranger: tuple[Party, Party], role: Role) -> None:
    party, other = stranger
    with pytest.raises(rs.KeyMismatchError, match=r"of key \w+, .* has key \w+") as caught:
        party.receivers[role](other.objects[role])
    assert one_line(caught.value)


#: Differences from the program of `Party`, and the section of the identity that changes with each.
VARIANTS: dict[str, tuple[dict[str, Any], str]] = {
    "operands": ({"swapped": True}, "circuit"),
    "tolerance": ({"tolerance": 1e-4}, "kernel"),
    "encryption": ({"encryption": "secret"}, "encryption"),
    "name": ({"name": "other"}, "kernel"),
    "variant": ({"variant": "other"}, "kernel"),
    "parameters": (
        {"params": rs.ParamRequest(n=8192, data_bits=(50, 40, 40), special_bits=(50,), log2_scale=40)},
        "parameters",
    ),
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_another_programs_objects_are_refused(party: Party, role: Role, variant: str) -> None:
    changed, section = VARIANTS[variant]
    if variant == "tolerance" and party.program.params.scheme == "bfv":
        pytest.skip("BFV has none")
    other = Party(difference(party.program.params.scheme, **changed))
    with pytest.raises((rs.KeyMismatchError, rs.InputError), match=f"another program.*{section}|reckons") as caught:
        other.receivers[role](party.objects[role])
    assert one_line(caught.value)


def test_a_result_is_no_argument_of_a_program_whose_result_looks_like_one(party: Party) -> None:
    with pytest.raises(rs.InputError, match="takes the encrypted arguments, not the result"):
        party.server.evaluate(party.objects[Role.RESULT])


def resent(sent: Encryptions, ciphertexts: tuple[bytes, ...]) -> Encryptions:
    """The message with other ciphertexts and checksums that fit."""
    return Encryptions.of_parts(sent.label, ciphertexts)


def test_ciphertexts_keep_their_places(party: Party) -> None:
    sent = party.objects[Role.ARGUMENTS]
    a, b = sent.ciphertexts
    with pytest.raises(rs.InputError, match=r"ciphertext 0 of argument a .* ciphertext 0 of argument b belongs"):
        party.server.evaluate(replace(sent, ciphertexts=(b, a)))
    with pytest.raises(rs.InputError, match="ciphertext 0 of argument b"):
        party.server.evaluate(replace(sent, ciphertexts=(a, a)))
    with pytest.raises(rs.InputError, match="ciphertext 0 of argument b is ciphertext 0 of argument a once more"):
        party.server.evaluate(resent(sent, (a, a)))
    other = party.client.encrypt(a=A, b=B)
    with pytest.raises(rs.InputError, match="was exchanged"):
        party.server.evaluate(replace(sent, ciphertexts=(a, other.ciphertexts[1])))
    for wrong in ((), (a,), (a, b, a)):
        with pytest.raises(rs.InputError, match="ciphertexts came, the program takes 2"):
            party.server.evaluate(resent(sent, wrong))
        with pytest.raises(rs.InputError, match="ciphertexts came, the program takes 1"):
            party.client.decrypt(resent(party.objects[Role.RESULT], (a, a, *wrong)))
    for some in ((), sent.checksums[:1], sent.checksums * 2):
        with pytest.raises(rs.InputError, match=r"2 ciphertexts came, \d were sent"):
            party.server.evaluate(replace(sent, checksums=some))
    with pytest.raises(rs.InputError, match="without a label"):
        party.server.evaluate(replace(sent, label=b"fingerprint"))
    odd: Any
    for odd in ((a, None), (a, 3), "ab"):
        with pytest.raises(rs.InputError, match="bytes"):
            party.server.evaluate(replace(sent, ciphertexts=odd))


def native(party: Party) -> tuple[Any, Any, Any, Any]:
    """The engine's context, encoder, encryptor and evaluator of a party."""
    scheme = party.program.open()
    public = scheme.load_public(party.client.public_key.data)
    encryptor = scheme.encryptor_class(scheme.context, public, seed=bytes(32))
    evaluators = {"ckks": _native.CkksEvaluator, "bfv": _native.BfvEvaluator}
    return scheme.context, scheme.encoder, encryptor, evaluators[party.program.params.scheme](scheme.context)


def test_levels_sizes_and_the_kind_of_encryption_are_compared(party: Party) -> None:
    context, encoder, encryptor, evaluator = native(party)
    sent = party.objects[Role.ARGUMENTS]
    exact = party.program.params.scheme == "bfv"
    fresh = encryptor.encrypt(encoder.encode(np.ones(8, dtype=np.int64 if exact else np.float64)))
    lower = evaluator.mod_switch(fresh) if exact else evaluator.drop_to(fresh, 0)
    secret = _native.SecretKey.from_bytes(context, party.client.secret_key)
    scheme = party.program.open()
    own = scheme.encryptor_class(context, secret, seed=bytes(32)).encrypt_zero()
    cases = {"level 0": lower, "size 3": evaluator.square(fresh), "seeded true": own}
    for words, wrong in cases.items():
        with pytest.raises(rs.InputError, match=f"ciphertext 0 of argument a has {words}, the program has") as caught:
            party.server.evaluate(resent(sent, (wrong.to_bytes(), sent.ciphertexts[1])))
        assert one_line(caught.value)
    with pytest.raises(rs.InputError, match="ciphertext 0 of the result has level 1"):
        party.client.decrypt(resent(party.objects[Role.RESULT], (evaluator.square(fresh).to_bytes(),)))


def test_scales_are_compared() -> None:
    party = Party(difference("ckks"))
    _, encoder, encryptor, _ = native(party)
    sent = party.objects[Role.ARGUMENTS]
    wrong = encryptor.encrypt(encoder.encode(np.ones(8), scale=2.0**20)).to_bytes()
    with pytest.raises(rs.InputError, match="ciphertext 0 of argument a has scale 1048576"):
        party.server.evaluate(resent(sent, (wrong, sent.ciphertexts[1])))


def test_bytes_of_another_key_behind_the_right_label(stranger: tuple[Party, Party]) -> None:
    party, other = stranger
    sent, foreign = party.objects[Role.ARGUMENTS], other.objects[Role.ARGUMENTS]
    with pytest.raises(rs.KeyMismatchError, match="ciphertext 0 of argument a belongs to key"):
        party.server.evaluate(resent(sent, foreign.ciphertexts))
    with pytest.raises(rs.KeyMismatchError, match="ciphertext 0 of the result belongs to key"):
        party.client.decrypt(resent(party.objects[Role.RESULT], other.objects[Role.RESULT].ciphertexts))
    public, keys = party.client.public_key, party.client.evaluation_keys
    with pytest.raises(rs.KeyMismatchError, match="of key"):
        party.program.encryptor(replace(public, data=other.client.public_key.data))
    with pytest.raises(rs.KeyMismatchError, match="rotation key is of key"):
        party.program.server(replace(keys, galois=other.client.evaluation_keys.galois))


def test_keys_that_are_too_few_or_too_low() -> None:
    program = difference(
        "ckks", params=rs.ParamRequest(n=8192, data_bits=(50, 40, 40), special_bits=(50,), log2_scale=40)
    )
    client = program.client("s")
    keys = client.evaluation_keys
    scheme = program.open()
    generator = _native.KeyGenerator(scheme.context, seed=bytes(32))
    secret = _native.SecretKey.from_bytes(scheme.context, client.secret_key)
    wanted = program.native.rotations()
    for steps, level, words in (([3], None, "lack rotation"), (wanted, 0, "serves level 0, the program needs level")):
        few = generator.galois_keys(secret, steps, level=level).to_bytes()
        with pytest.raises(rs.KeyMismatchError, match=words):
            program.server(replace(keys, galois=few))
    with pytest.raises(rs.KeyMismatchError, match="hold no rotation key"):
        program.server(replace(keys, galois=b""))


def test_the_same_seed_gives_the_same_objects() -> None:
    first, second = (Party(difference()).objects for _ in range(2))
    assert first == second


CODE = """
from ringsmith.runtime.test_identity import difference, hexadecimal
print(hexadecimal(difference()), hexadecimal(difference("bfv")))
"""


def hexadecimal(program: Program) -> str:
    """The hash of a program as text."""
    return program.identity.digest.hex()


def test_the_hash_is_the_same_in_every_process_and_after_pickling() -> None:
    here = " ".join(hexadecimal(difference(scheme)) for scheme in SCHEMES)
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        )
        assert done.stdout.strip() == here
    for scheme in SCHEMES:
        program = difference(scheme)
        assert pickle.loads(pickle.dumps(program)).identity == program.identity


def kernel(function: Callable[..., Any] = lambda x, w: x * w + 1, **options: Any) -> rs.Kernel:
    """A kernel with a plain argument."""
    made: dict[str, Any] = {
        "x": rs.Encrypted(8, bound=1),
        "w": rs.Plain(8, bound=1),
        "tolerance": 1e-3,
        "name": "k",
    } | options
    return rs.kernel(**made)(function)


def test_every_part_of_a_program_is_in_its_hash() -> None:
    programs = [
        kernel(),
        kernel(lambda x, w: x * w + 2),
        kernel(lambda x, w: x * w - 1),
        kernel(lambda x, w: x * (w * w) + 1),
        kernel(lambda x, w: x * (w + w) + 1),
        kernel(lambda x, w: w * x[::-1] + 1),
        kernel(lambda x, w: x[:4] * w[:4] + 1),
        kernel(lambda x, w: x * np.roll(w, 1) + 1),
        kernel(lambda x, w: (x * w + 1)[::-1]),
        kernel(tolerance=1e-4),
        kernel(x=rs.Encrypted(8, bound=2)),
        kernel(w=rs.Plain(8, bound=2)),
        kernel(x=rs.Encrypted(8, bound=1, packing="each")),
        kernel(encryption="public"),
        kernel(publish=True),
        kernel(params=rs.ParamRequest(n=8192, data_bits=(50, 40, 40), special_bits=(50,), log2_scale=40)),
        kernel(
            params=rs.ParamRequest(
                n=8192, data_bits=(50, 40, 40), special_bits=(50,), log2_scale=40, error="gaussian:3.2"
            )
        ),
        kernel(
            params=rs.ParamRequest(n=8192, data_bits=(50, 40, 40), special_bits=(50,), log2_scale=40, secret="binary"),
            allow_insecure=True,
        ),
    ]
    found = [hexadecimal(made.compile()) for made in programs]
    assert len(set(found)) == len(found)


def shifted(shift: list[int], *, scaled: float = 1.0) -> rs.Kernel:
    """A manual kernel whose packing functions capture a list."""

    def pack(values: Any, _slots: int) -> Any:
        return np.roll(values, shift[0]).reshape(1, -1) * scaled

    def unpack(rows: Any) -> Any:
        return np.roll(rows[0, :8], -shift[0]) * scaled

    return rs.kernel(
        mode="manual", params="seal-ckks-8192", x=rs.Encrypted(8, bound=1.0, packing=pack), tolerance=1e-3,
        output=rs.Output(8, packing=unpack),
    )(lambda x: x[0] + x[0])  # fmt: skip


def test_what_packing_functions_capture_is_in_the_hash() -> None:
    programs = [shifted([1]), shifted([2]), shifted([1], scaled=0.5), shifted([1], scaled=0.25)]
    found = {hexadecimal(made.compile()) for made in programs}
    assert len(found) == len(programs)
    assert hexadecimal(shifted([1]).compile()) in found


def test_a_packing_that_only_places_elements_is_data_and_stays_as_compiled() -> None:
    shift = [1]
    program = shifted(shift).compile()
    shift[0] = 3
    assert program.circuit.inputs["x"].pack is None
    assert program.circuit.output.unpack is None
    loaded = pickle.loads(pickle.dumps(program))
    client = loaded.client()
    values = np.arange(8) / 8
    result = client.decrypt(loaded.server(client.evaluation_keys).evaluate(client.encrypt(x=values)))
    np.testing.assert_allclose(result, 2 * values, atol=1e-3)


def test_a_packing_that_computes_is_kept_and_still_right() -> None:
    made = shifted([1], scaled=0.5)
    assert made.compile().circuit.inputs["x"].pack is not None
    values = np.arange(8) / 8
    np.testing.assert_allclose(made(values), 2 * values * 0.25, atol=1e-3)


@pytest.mark.parametrize("role", ROLES)
def test_bytes_of_another_version_are_refused(party: Party, role: Role) -> None:
    made = party.objects[role]
    data = bytearray(made.to_bytes())
    data[4] += 1
    with pytest.raises(rs.FormatError, match="version 4; this build reads version 3") as caught:
        type(made).from_bytes(bytes(data))
    assert one_line(caught.value)


def test_everything_survives_pickling(party: Party) -> None:
    copy = {role: pickle.loads(pickle.dumps(found)) for role, found in party.objects.items()}
    assert copy == party.objects
    client: Client = pickle.loads(pickle.dumps(party.client))
    server: Server = pickle.loads(pickle.dumps(party.server))
    result = server.evaluate(copy[Role.ARGUMENTS])
    np.testing.assert_allclose(client.decrypt(result), (A - B) * A + np.roll(A - B, 1), atol=1e-2)
    assert checksums(result.ciphertexts) == result.checksums


@pytest.mark.parametrize("parts", [None, 3, b"bytes", "text", ["text"], [b"one", None], [[b"one"]], [bytearray(9)], {}])
@pytest.mark.parametrize("kind", [Encryptions, PublicKey, Keys])
def test_objects_that_are_no_bytes_are_refused(party: Party, kind: Any, parts: Any) -> None:
    with pytest.raises(FormatError, match="bytes"):
        kind.of_parts(party.client.evaluation_keys.label, parts)
