# SPDX-License-Identifier: Apache-2.0
"""Files of ours, whatever they hold: read as the object they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ringsmith import _native
from ringsmith.errors import FormatError, InputError, RingsmithError
from ringsmith.files import read_bytes
from ringsmith.limits import VARIABLE, max_memory
from ringsmith.runtime.client import Client
from ringsmith.runtime.identity import Role
from ringsmith.runtime.messages import Encryptions, Keys, Message, PublicKey, opened
from ringsmith.runtime.program import Program
from ringsmith.runtime.rounds import Rounds

_MESSAGES: dict[Role, type[Message]] = {
    Role.PUBLIC_KEY: PublicKey,
    Role.EVALUATION_KEYS: Keys,
    Role.ARGUMENTS: Encryptions,
    Role.RESULT: Encryptions,
}


def load(path: str | Path, **policy: Any) -> Any:
    """Return what a file written by `save` holds: `Program`, `Rounds`, `Keys`, `Encryptions`, `PublicKey` or `Client`.

    `policy` judges a program's parameters: `security` (128 bits), `standard` ("2024"), `allow_insecure` (False).

    Raises:
        InputError: there is no such file, or it holds an object of another kind.
        FormatError: the bytes are damaged or of another version.
        ParameterError: the program's parameters are not secure by the policy.
    """
    data = object_bytes(Path(path))
    try:
        return _object(data, policy)
    except RingsmithError as error:
        raise type(error)(f"{path}: {error}") from None


def _object(data: bytes, policy: Mapping[str, Any]) -> Any:
    kind = _native.object_kind(data)["kind"]
    if kind == "program":
        return Program.from_bytes(data, **policy)
    if kind != "message":
        raise InputError(f"a {kind}; programs, keys, arguments, results and clients written by save() are read")
    label, parts = opened(data)
    role = label.role
    if role is Role.ROUNDS:
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


def object_bytes(path: Path) -> bytes:
    """Return the bytes of a file, bounded by the memory that may be taken."""
    return read_bytes(path, max_memory(), f"raise {VARIABLE}")
