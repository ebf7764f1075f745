# SPDX-License-Identifier: Apache-2.0
"""A compiled program and its two sides: clients that encrypt and decrypt, servers that evaluate."""

from __future__ import annotations

from ringsmith.runtime import box
from ringsmith.runtime.client import Client, Encryptor
from ringsmith.runtime.messages import Keys, PublicKey
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.randomness import Seed
from ringsmith.runtime.server import Server


class Program(ProgramData):
    """A kernel compiled for one parameter set."""

    def client(self, seed: Seed = None, **options: bool) -> Client:
        """Generate keys; with a seed all the client does is reproducible to the byte. `options`: those of `Client`."""
        return Client(self, seed, **options)

    def encryptor(self, public_key: PublicKey, seed: Seed = None, **options: bool) -> Encryptor:
        """Return a side that only encrypts, for the client whose public key this is. `options`: see `Encryptor`."""
        return Encryptor(self, public_key, seed, **options)

    def server(self, evaluation_keys: Keys, *, threads: int | None = None) -> Server:
        """Return the side that evaluates; it never sees the secret key. `threads`: by default one for each core."""
        return Server(self, evaluation_keys, threads=threads)

    def box(self) -> str:
        """Return the parameter box as text."""
        return box.box(self)
