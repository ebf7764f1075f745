# SPDX-License-Identifier: Apache-2.0
"""A compiled program and its two sides: clients that encrypt and decrypt, servers that evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ringsmith.progress import telling
from ringsmith.runtime import box
from ringsmith.runtime.client import Client, Encryptor
from ringsmith.runtime.cluster import evaluate_many
from ringsmith.runtime.cost import Cost, cost_of
from ringsmith.runtime.engine import Engine
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.joined import M, joined, part_of
from ringsmith.runtime.messages import Encryptions, Keys, PublicKey
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.randomness import Seed
from ringsmith.runtime.server import KEPT_BYTES, Server
from ringsmith.scalars import count
from ringsmith.shown import Shown


class Program(ProgramData, Shown):
    """A kernel compiled for one parameter set."""

    def _facts(self) -> list[tuple[str, str]]:
        return box.facts(self)

    def _on(self, on: str | Engine | None) -> Program:
        """Return the same on an engine of this machine, if one is given."""
        if on is None:
            return self
        return replace(self, device=(open_engine(on) if isinstance(on, str) else on).device)

    def client(self, seed: Seed = None, *, on: str | Engine | None = None, **options: bool) -> Client:
        """Generate keys; with a seed all the client does is reproducible to the byte. `on`: the engine of its
        encryption and decryption, such as `model:coxhe-zcu102-p8`; by default the program's. `options`: those of
        `Client`."""
        with telling(None) as told:
            told(f"keys of {self.signature.name}")
            return Client(self._on(on), seed, **options)

    def encryptor(
        self, public_key: PublicKey, seed: Seed = None, *, on: str | Engine | None = None, **options: bool
    ) -> Encryptor:
        """Return a side that only encrypts, for the client whose public key this is. `on` as of `client`; `options`:
        see `Encryptor`."""
        return Encryptor(self._on(on), public_key, seed, **options)

    def server(
        self, evaluation_keys: Keys | Sequence[Keys], *, on: str | Engine | None = None, threads: int | None = None,
        memory: int = KEPT_BYTES, key_memory: int | None = None,
    ) -> Server:  # fmt: skip
        """Return the side that evaluates; it never sees the secret key. Several sets of keys of one secret key are
        joined. `on` as of `client`; `threads`, `memory`, `key_memory`: see `Server`."""
        return Server(self._on(on), evaluation_keys, threads=threads, memory=memory, key_memory=key_memory)

    def joined(self, messages: M | Sequence[M]) -> M:
        """Return one message of several: parts of the encrypted arguments under one key (`encrypt_part`), or evaluation
        keys of one secret key, made at several times or for other programs of the same set."""
        return joined(self, messages)

    def part(self, **results: Encryptions) -> Encryptions:
        """Return the part of the encrypted arguments that results of other programs are, without decryption:
        `server.evaluate([client.encrypt(...), program.part(y=result)])`, or in short
        `server.evaluate(client.encrypt(...), y=result)`."""
        return part_of(self, results)

    def evaluate_many(
        self, evaluation_keys: Keys, batch: Sequence[Encryptions], *, ray: str | None = None,
        workers: int | None = None, threads: int = 1, on: str = "cpu", seed: Seed = None, **plain: Any,
    ) -> list[Encryptions]:  # fmt: skip
        """Evaluate each message of a batch with the same plain arguments; results in the batch's order.

        `ray`: the address of a Ray cluster (`host:port`, `auto`), whose `workers` (by default as many as it has cores
        for) with `threads` each take parts of the batch and keep the keys for the next; what one that dies had is done
        again. Without it this machine's cores do it. `on`: the engine, such as `cpu` or `rtl:cofhee`. The same `seed`
        gives the same residues, however many workers there are.
        """
        threads, workers = count("threads", threads), None if workers is None else count("workers", workers)
        if ray is None:
            placed = replace(self, device=open_engine(on).device)
            server = Server(placed, evaluation_keys, threads=None if workers is None else workers * threads)
            return list(server.evaluate_many(batch, seed=seed, **plain))
        return evaluate_many(
            self, evaluation_keys, batch, plain, address=ray, workers=workers, threads=threads, on=on, seed=seed
        )

    def cost(self) -> Cost:
        """Return what a run takes, before any key is made: parameters, bytes of keys and messages, memory, and the
        time of one thread of this processor, whose prices are measured once."""
        return cost_of(self)

    def box(self) -> str:
        """Return the parameter box as text."""
        return box.box(self)
