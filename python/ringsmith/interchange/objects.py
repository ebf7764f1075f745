# SPDX-License-Identifier: Apache-2.0
"""Objects of any format that is known: read by what their bytes are, written in the one that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ringsmith import _native
from ringsmith.errors import InputError, RingsmithError
from ringsmith.files import read_bytes
from ringsmith.interchange import openfhe, seal
from ringsmith.interchange.ring import Context, Object
from ringsmith.limits import VARIABLE, max_file, max_memory

#: What a set is judged by where the caller says nothing.
POLICY = {"security": 128, "standard": "2024", "allow_insecure": False}

#: Kinds of ringsmith's objects that are read here, and what reads them.
_SETS: dict[str, Any] = {"BFV parameters": _native.BfvContext, "CKKS parameters": _native.CkksContext}
_OBJECTS: dict[str, Any] = {
    "public key": _native.PublicKey,
    "extended public key": _native.PublicKey,
    "relinearization key": _native.RelinKey,
    "rotation keys": _native.GaloisKeys,
    "BFV ciphertext": _native.BfvCiphertext,
    "CKKS ciphertext": _native.CkksCiphertext,
}
_WHOLE = " with both halves"
_LIBRARIES: dict[str | None, Any] = {"seal": seal, "openfhe": openfhe}

#: Formats that are written, and their serialisation where there are several.
FORMATS = ("ringsmith", "seal", "openfhe", "openfhe-json")


def format_of(data: bytes) -> str | None:
    """Return the format of bytes: seal, openfhe, ringsmith; None for others."""
    if seal.is_seal(data):
        return "seal"
    if openfhe.is_openfhe(data):
        return "openfhe"
    return "ringsmith" if data[:4] == b"RSMI" else None


def is_object(data: bytes) -> bool:
    """Whether bytes are of another library, or an object of ringsmith's that this module reads."""
    match format_of(data):
        case None:
            return False
        case "ringsmith":
            kind = _native.object_kind(data)["kind"].removesuffix(_WHOLE)
            return kind in _SETS or kind in _OBJECTS
    return True


def read_object(
    data: bytes,
    context: Context | None = None,
    *,
    owner: Any = None,
    scale: float | None = None,
    policy: Mapping[str, Any] | None = None,
) -> Object:
    """Return a set, a key or a ciphertext of any format; keys and ciphertexts need the `context` they belong to.

    `owner`, `scale`: as `interchange.seal.read` takes them. `policy` judges sets: `security`, `standard`,
    `allow_insecure`.

    Raises:
        FormatError: the bytes are damaged, or those of another set.
        InputError: bytes of no known format, an object without its set, a secret key.
        ParameterError: the set is not secure by the policy.
    """
    if (form := format_of(data)) in _LIBRARIES:
        judged = {} if context is not None else _native_policy(policy)
        found: Object = _LIBRARIES[form].read(data, context, owner=owner, scale=scale, **judged)
        return found
    if owner is not None or scale is not None:
        raise InputError("an owner and a scale go with bytes of other libraries; ringsmith's say both")
    kind = _native.object_kind(data)["kind"].removesuffix(_WHOLE)
    if kind in _SETS:
        made: Context = _SETS[kind].from_bytes(data, **_native_policy(policy), max_memory=max_memory())
        return made
    if kind not in _OBJECTS:
        raise InputError(f"a {kind}; parameters, public, relinearization and rotation keys and ciphertexts are read")
    if context is None:
        raise InputError(f"a {kind} says nothing of its parameters: name their file as parameters")
    read: Callable[[Any, bytes], Object] = _OBJECTS[kind].from_bytes
    try:
        return read(context, data)
    except TypeError:
        raise InputError(f"a {kind}, and the parameters are of the other scheme") from None


def _native_policy(policy: Mapping[str, Any] | None) -> dict[str, Any]:
    known = {**POLICY, **(policy or {})}
    if unknown := [name for name in known if name not in POLICY]:
        raise InputError(f"{', '.join(unknown)}: a policy has {', '.join(POLICY)}")
    standard = str(known.pop("standard"))
    if standard not in ("2024", "2018"):
        raise InputError(f"standard {standard!r}: 2024 or 2018")
    return {**known, "table": f"{standard}-classical"}


def write_object(thing: Object, context: Context, to: str, like: bytes | None = None) -> bytes:
    """Return an object of `context` as bytes of a format of `FORMATS`; `like` as `interchange.openfhe.write` takes it.

    Raises:
        InputError: the format has no such object.
    """
    if to == "ringsmith":
        return thing.to_bytes()
    if to == "seal":
        return seal.write(thing, context)
    if to in FORMATS:
        known = like if like is not None and openfhe.is_openfhe(like) else None
        return openfhe.write(thing, context, known, "json" if to == "openfhe-json" else "binary")
    raise InputError(f"format {to!r}: {', '.join(FORMATS)}")


def object_bytes(path: Path) -> bytes:
    """Return the bytes of a file, bounded by the memory that may be taken."""
    return read_bytes(path, max_file(), f"raise {VARIABLE}")


def read_file(path: Path, context: Context | None = None, **options: Any) -> Object:
    """Return `read_object` of a file, bounded by the memory that may be taken; errors name the file."""
    data = object_bytes(path)
    try:
        if format_of(data) is None:
            raise InputError("bytes of no known format: ringsmith's, SEAL's and OpenFHE's are read")
        return read_object(data, context, **options)
    except RingsmithError as error:
        raise type(error)(f"{path}: {error}") from None


def read_context(path: Path, policy: Mapping[str, Any] | None = None, scale: float | None = None) -> Context:
    """Return the set of a file of parameters in any format, or of any of OpenFHE's. Raises as `read_file`."""
    data = object_bytes(path)
    try:
        if format_of(data) == "openfhe":  # whose objects all hold their set
            return openfhe.read_set(data, scale, **_native_policy(policy))
    except RingsmithError as error:
        raise type(error)(f"{path}: {error}") from None
    found = read_file(path, policy=policy, scale=scale)
    if not isinstance(found, (_native.BfvContext, _native.CkksContext)):
        raise InputError(f"{path}: a {type(found).__name__}; parameters are needed")
    return found
