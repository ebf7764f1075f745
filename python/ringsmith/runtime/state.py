# SPDX-License-Identifier: Apache-2.0
"""The state of a long evaluation as a file: what it has made is left there after each refresh, and taken up again.

The file belongs to one program, one set of arguments and one key; it holds ciphertexts, which say nothing without the
secret key. It is replaced as a whole each time, read by its owner alone, and gone when the result is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ringsmith.errors import InputError
from ringsmith.files import check_place, read_bytes, replacing

#: What a file begins with: a version is part of it.
_BEGIN = b"ringsmith state 1\n"
_DIGEST = 32


@dataclass(frozen=True)
class StateFile:
    """The file of an evaluation. `about`: a digest of what it is of; `most`: bytes that a state may have."""

    path: Path
    about: bytes
    most: int

    @classmethod
    def of(cls, path: str | Path, parts: Sequence[bytes], most: int) -> StateFile:
        """Return the file of an evaluation of which `parts` say all; InputError where none can be written."""
        if not isinstance(path, str | Path) or not str(path):
            raise InputError(f"state={path!r}: the name of a file")
        check_place(Path(path))
        digest = hashlib.sha256()
        for part in parts:
            digest.update(len(part).to_bytes(8, "little") + part)
        return cls(Path(path), digest.digest(), most)

    def left(self) -> bytes | None:
        """Return what an evaluation of the same left, None for no file.

        Raises:
            InputError: the file is of another program, of other arguments, or damaged.
        """
        if not self.path.exists():
            return None
        data = read_bytes(self.path, self.most + len(_BEGIN) + 2 * _DIGEST)
        head, rest = data[: len(_BEGIN)], data[len(_BEGIN) :]
        about, digest, state = rest[:_DIGEST], rest[_DIGEST : 2 * _DIGEST], rest[2 * _DIGEST :]
        if head != _BEGIN:
            raise InputError(f"{self.path}: not a state of an evaluation; name another file, or remove this one")
        if hashlib.sha256(state).digest() != digest:
            raise InputError(f"{self.path}: a damaged state; remove it to begin anew")
        if about != self.about:
            raise InputError(
                f"{self.path}: the state of another program, other keys or other arguments; give those, name another "
                "file, or remove this one"
            )
        return state

    def keep(self, state: bytes) -> None:
        """Write a state in place of the last one."""
        with replacing(self.path, private=True) as file:
            file.write(_BEGIN + self.about + hashlib.sha256(state).digest())
            file.write(state)

    def done(self) -> None:
        """Remove the file: the result is there."""
        self.path.unlink(missing_ok=True)
