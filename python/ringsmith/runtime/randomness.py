# SPDX-License-Identifier: Apache-2.0
"""The source of a client's randomness: the operating system, or a user's seed so that every byte can be made again.

What is drawn from a seed is bound to the program, the purpose and a number. A seed serves one object in one process: a
fork, an unpickled or a deep copy would repeat what the original draws, so it refuses until it has a seed of its own.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import warnings
from collections import Counter
from typing import Any

from ringsmith import _native
from ringsmith.errors import SeedError, SeedWarning

Seed = str | bytes | None


def derive_seed(seed: Seed, fingerprint: bytes, role: str, number: int = 0, about: bytes = b"") -> bytes:
    """Return 32 bytes for a purpose: from the operating system, or from the user's seed.

    The latter are bound to all that is given: a program's fingerprint, the role, which use of it this is, and the bytes
    it is about.
    """
    if seed is None:
        return secrets.token_bytes(32)
    text = seed.encode() if isinstance(seed, str) else seed
    parts = (text, fingerprint, role.encode(), number.to_bytes(8, "little"), about)
    framed = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return hashlib.sha256(b"ringsmith seed 2" + framed).digest()


class Randomness:
    """The seeds that one owner draws, `"client"` or `"encryptor"`; threads may share it.

    Pickles and deep copies leave the seed behind; the counts stay.
    """

    def __init__(self, seed: Seed, fingerprint: bytes, owner: str, *, sample_data: bool = False) -> None:
        """Draw from a seed, or from the operating system if it is None. `sample_data`: no warning about a seed."""
        self._fingerprint, self._owner = fingerprint, owner
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._epoch = 0
        self._warned = sample_data
        self._give(seed)

    def _give(self, seed: Seed) -> None:
        self._seed, self.seeded = seed, seed is not None
        self._process = _native.fork_generation()

    def reseed(self, seed: Seed) -> None:
        """Draw from another seed, or from the operating system. The numbers of earlier draws are not used again."""
        self._epoch += 1
        self._give(seed)

    def take(self, role: str) -> bytes:
        """Return 32 bytes for the next use in a role; each call gives others."""
        if not self.seeded:
            return secrets.token_bytes(32)
        if self._seed is None or self._process != _native.fork_generation():
            raise SeedError(
                f"this {self._owner} is a copy (by fork, pickle or deepcopy) of one with a seed, and would repeat its "
                f"randomness: call {self._owner}.reseed() for the operating system's, or .reseed(seed) with a new seed"
            )
        with self._lock:
            number = self._counts[role]
            self._counts[role] += 1
        return derive_seed(self._seed, self._fingerprint, f"{self._owner} {self._epoch} {role}", number)

    def warn(self) -> None:
        """Say once that a seed meets data."""
        if self.seeded and not self._warned:
            self._warned = True
            warnings.warn(
                "a seed on data of your own: anyone who guesses it has the secret key and the data; leave the seed out "
                f"(for made-up data: {self._owner}(..., sample_data=True))",
                SeedWarning,
                stacklevel=3,
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy may have: all but the seed and the lock."""
        return {**self.__dict__, "_seed": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy."""
        self.__dict__.update(state, _lock=threading.Lock())
