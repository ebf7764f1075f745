# SPDX-License-Identifier: Apache-2.0
"""Kind of a blob, by its own header, and stored facts about it. Untrusted bytes, read within bounds."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ringsmith import _native
from ringsmith.errors import FormatError, RingsmithError
from ringsmith.runtime.arrays import array_of
from ringsmith.runtime.box import box
from ringsmith.runtime.cost import tables
from ringsmith.runtime.describe import facts as program_facts
from ringsmith.runtime.identity import Identity, Role
from ringsmith.runtime.messages import Encryptions, Keys, is_secret, opened, role_of, secret_within
from ringsmith.runtime.program import Program
from ringsmith.service.problems import Problem, of_error

Facts = dict[str, Any]

PROGRAM, KEYS, ARGUMENTS, RESULT, ARRAY = "program", "keys", "arguments", "result", "array"
_NUMPY = b"\x93NUMPY"
_MESSAGES = {Role.EVALUATION_KEYS: KEYS, Role.ARGUMENTS: ARGUMENTS, Role.RESULT: RESULT}
_HASH = re.compile(r"[0-9a-f]{64}")


def digest_from(text: str) -> bytes:
    """Return a content's address as bytes."""
    if not _HASH.fullmatch(text):
        raise Problem("bad_request", "a hash is 64 hexadecimal digits, lower case: the SHA-256 of the bytes")
    return bytes.fromhex(text)


def refuse_secret(head: bytes) -> None:
    """Refuse a secret key, or a client with one, by the first `HEAD` bytes."""
    if is_secret(head):
        raise _secret()


def refuse_secret_within(data: bytes | memoryview) -> None:
    """Refuse bytes in which a secret key begins anywhere, before any of them is written."""
    if secret_within(data):
        raise _secret()


def _secret() -> Problem:
    return Problem(
        "secret_key", "this has a secret key, which stays with its owner; send evaluation keys and arguments"
    )


@lru_cache(256)
def check_arguments(head: bytes) -> None:
    """Refuse a message whose header is not that of encrypted arguments; the worker reads the rest.

    `head`: the first `HEAD` bytes. Those of one program's messages are the same; what is refused is not remembered.
    """
    refuse_secret(head)
    if role_of(head) is not Role.ARGUMENTS:
        raise Problem("wrong_kind", "a message of encrypted arguments is needed: client.encrypt(...).to_bytes()")


def inspect(data: bytes, *, allow_insecure: bool = False) -> tuple[str, Facts]:
    """Return kind and facts of a blob, which has been read whole."""
    refuse_secret_within(data)
    try:
        if data[: len(_NUMPY)] == _NUMPY:
            return ARRAY, _array(data)
        kind = _native.object_kind(data)["kind"]
        if kind == "program":
            return PROGRAM, _program(Program.from_bytes(data, allow_insecure=allow_insecure))
        if kind == "message":
            return _message(data)
    except FormatError as error:
        raise Problem("bad_blob", f"damaged, or no object of ringsmith: {error}") from None
    except RingsmithError as error:
        raise of_error(error) from None
    raise Problem("wrong_kind", f"a {kind}; programs, evaluation keys, arguments, results and .npy arrays are kept")


def _array(data: bytes) -> Facts:
    try:
        array = array_of(data)
    except Exception as error:
        raise Problem("bad_blob", f"no numpy array that can be read ({type(error).__name__})") from None
    return {"shape": list(array.shape), "dtype": str(array.dtype)}


def _program(program: Program) -> Facts:
    described = program_facts(program)
    listed = [
        {"name": name, "shape": list(shape), "encrypted": encrypted, "low": low, "high": high}
        for name, shape, encrypted, low, high in program.native.arguments
    ]
    return {
        **{name: described[name] for name in ("name", "variant", "scheme", "n", "modulus", "security", "operations")},
        "arguments": listed,
        "ciphertexts_in": described["ciphertexts_in"],
        "rotation_keys": described["rotation_keys"],
        "guarantee": described["guarantee"],
        "box": box(program),
        "cost": program.native.cost(),
        "session": program.native.cost()["keys"] + tables(program),
        "key_spare": _spare(program),
        "result_bytes": program.result_bytes,
        **_identity(program.identity),
    }


def _spare(program: Program) -> int:
    """Return the bytes of loaded keys that a worker may do without, growing them at each use."""
    own = program.native.bootstrapping
    least, whole = own.key_memory if own else (0, 0)
    return whole - least


def _identity(identity: Identity) -> Facts:
    return {"identity": identity.digest.hex(), "sections": {name: value.hex() for name, value in identity.sections}}


def _message(data: bytes) -> tuple[str, Facts]:
    label, _ = opened(data)
    if label.role not in _MESSAGES:
        raise Problem("wrong_kind", f"{label.role}; programs, evaluation keys, arguments and arrays are kept")
    facts: Facts = {**_identity(label.program), "key": label.key}
    if label.role is Role.EVALUATION_KEYS:
        facts["rotations"] = len(Keys.from_bytes(data).rotations)
    else:
        facts["ciphertexts"] = len(Encryptions.from_bytes(data).ciphertexts)
    return _MESSAGES[label.role], facts


def check_together(program: Facts, keys: Facts, inputs: Facts) -> None:
    """Refuse keys and arguments of another program, or of two secret keys."""
    for what, given in (("the evaluation keys", keys), ("the arguments", inputs)):
        if given["identity"] != program["identity"]:
            differing = [n for n, value in program["sections"].items() if given["sections"].get(n) != value]
            raise Problem("mismatch", f"{what} are of another program, which differs in {', '.join(differing)}")
    if keys["key"] != inputs["key"]:
        raise Problem("mismatch", f"the keys are of secret key {keys['key']}, the arguments of {inputs['key']}")
