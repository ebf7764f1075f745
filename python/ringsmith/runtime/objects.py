# SPDX-License-Identifier: Apache-2.0
"""Files of ours, whatever they hold: read as the object they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ringsmith import _native
from ringsmith.errors import FormatError, InputError, RingsmithError
from ringsmith.interchange.objects import is_object, object_bytes, read_context, read_object
from ringsmith.interchange.ring import Context
from ringsmith.runtime.client import Client
from ringsmith.runtime.identity import Role
from ringsmith.runtime.messages import Encryptions, Keys, Message, PublicKey, opened
from ringsmith.runtime.program import Program
from ringsmith.scalars import is_number

_MESSAGES: dict[Role, type[Message]] = {
    Role.PUBLIC_KEY: PublicKey,
    Role.EVALUATION_KEYS: Keys,
    Role.ARGUMENTS: Encryptions,
    Role.RESULT: Encryptions,
}


def load(
    path: str | Path,
    *,
    parameters: str | Path | Context | None = None,
    owner: Any = None,
    scale: float | None = None,
    **policy: Any,
) -> Any:
    """Return what a file written by `save` holds: `Program`, `Rounds`, `Keys`, `Encryptions`, `PublicKey` or `Client`.

    Of parameters, public, relinearisation and Galois keys and ciphertexts, in ringsmith's bytes or those of another
    library ([doors.md](doors.md)), it returns the engine's objects, those of `rs.bfv` and `rs.ckks`.

    Args:
        path: The file.
        parameters: What such a key or ciphertext belongs to: a context, or a file of parameters in any format.
        owner: A key or ciphertext of ringsmith's whose key identity an object of another library gets, or 16 bytes.
        scale: The default scale of CKKS parameters of another library, which name none.
        policy: Judges parameters: `security` (128 bits), `standard` ("2024"), `allow_insecure` (False).

    Raises:
        InputError: there is no such file, or it holds an object of another kind.
        FormatError: the bytes are damaged or of another version.
        ParameterError: the parameters are not secure by the policy.
    """
    if scale is not None and not (is_number(scale) and 1 <= scale < math.inf):
        raise InputError(f"scale={scale!r} must be a finite number of at least 1")
    data = object_bytes(Path(path))
    context = read_context(Path(parameters), policy, scale) if isinstance(parameters, str | Path) else parameters
    try:
        if is_object(data):
            return read_object(data, context, owner=owner, scale=scale if context is None else None, policy=policy)
        if (context, owner, scale) != (None, None, None):
            raise InputError("parameters, owner and scale go with single keys and ciphertexts, which this is not")
        return _object(data, policy)
    except RingsmithError as error:
        raise type(error)(f"{path}: {error}") from None


def _object(data: bytes, policy: Mapping[str, Any]) -> Any:
    kind = _native.object_kind(data)["kind"]
    if kind == "program":
        return Program.from_bytes(data, **policy)
    if kind != "message":
        raise InputError(
            f"a {kind}; programs, keys, arguments, results and clients written by save() are read, and public keys, "
            "evaluation keys and ciphertexts by themselves"
        )
    label, parts = opened(data)
    role = label.role
    if role is Role.ROUNDS:
        from ringsmith.runtime.rounds import Rounds

        return Rounds.of_parts(parts, **policy)
    if policy:
        raise InputError(f"only a program's parameters are judged; {', '.join(policy)} means nothing for {role}")
    return Client.from_bytes(data, Program) if role is Role.CLIENT else _MESSAGES[role].from_bytes(data)


def kind_of(path: Path) -> str | None:
    """Return what an intact file of ours holds, None for any other file."""
    try:
        return str(_native.object_kind(object_bytes(path))["kind"])
    except FormatError:
        return None
