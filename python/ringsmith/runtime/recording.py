# SPDX-License-Identifier: Apache-2.0
"""Writing down what a run does: the homomorphic program, and its polynomial operations (docs/record.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.files import check_place, write_text

#: The results as bytes, and seconds by kind of operation.
Ran = tuple[list[bytes], Mapping[str, float]]


@dataclass(frozen=True)
class Recording:
    """Destination of a recorded run: the program to `out`, with `polynomial` its polynomial operations beside it."""

    out: Path
    polynomial: bool = False

    @property
    def paths(self) -> list[Path]:
        """The files: the program, then the polynomial operations and their inputs."""
        beside = [Path(f"{self.out}.fhetch"), Path(f"{self.out}.json")]
        return [self.out, *(beside if self.polynomial else [])]

    def check(self) -> None:
        """Refuse places that hold something or cannot be written to."""
        for path in self.paths:
            check_place(path)
            if path.exists():
                raise InputError(f"{path}: exists; name a new file, or delete it")

    def run(
        self,
        session: _native.Session,
        program: _native.Program,
        given: tuple[Sequence[bytes], Any, bytes],
        progress: Any,
    ) -> Ran:
        """Run a session and write what it did; nothing is written if it fails."""
        inputs, plain, seed = given
        if not self.polynomial:
            ran = session.run(inputs, plain, seed, progress=progress)
            texts = [program.listing()]
        else:
            ran, trace, start = session.record(inputs, plain, seed, progress=progress)
            texts = [program.listing(), trace, start]
        self.check()
        for path, text in zip(self.paths, texts, strict=True):
            write_text(path, text)
        return ran
