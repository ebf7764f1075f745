# SPDX-License-Identifier: Apache-2.0
"""Batches on a Ray cluster: actors hold evaluation keys, ciphertexts travel as bytes, a dead worker's tasks are redone.

```
evaluate_many ── chunks of a batch ──> Holder (an actor: programs with loaded keys, by hash) ── results, in order
```
A program's zeros are encrypted with the batch's seed, so that a chunk that is evaluated again gives the same residues.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import socket
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, islice
from pickle import PickleBuffer
from typing import Any

from ringsmith.errors import InputError, RingsmithError
from ringsmith.extras import to_install
from ringsmith.runtime.cache import Cache, Name
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.identity import Label
from ringsmith.runtime.messages import Encryptions, Keys
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.randomness import Seed
from ringsmith.runtime.server import Server

#: A chunk is this part of a worker's share of the rest: the first ones are long, and at the end no worker has much
#: left to do. The least part of a worker's share of all, and the most bytes, that a chunk is cut to.
_PART, _LEAST, _BYTES = 2, 16, 16 << 20
#: Chunks that a worker has at a time: it computes one while the next is on its way and the last is read.
_DEPTH = 2
#: Workers that may die with the same chunk.
_ATTEMPTS = 3
#: Seconds without any worker before a batch is given up.
_PATIENCE = 300.0
#: Seconds to reach a cluster.
_CONNECT = 10.0
#: Programs with keys whose bytes stay in the object store for the next batch, and that a worker holds loaded.
_KEPT = 8


class ClusterError(RingsmithError):
    """A cluster cannot be reached, or has lost what was to be done there."""


class Parcel:
    """Messages between processes of one cluster: labels, and ciphertexts that Ray copies once, into its object store.

    Each ciphertext ends with its own checksum, which the engine holds against it.
    """

    def __init__(self, messages: Sequence[Encryptions]) -> None:
        """Take the ciphertexts as they are."""
        self._parts = [message.parts() for message in messages]
        self._labels: list[Label] = []
        for message in messages:  # Equal labels are one object, which is written once.
            same = self._labels and message.label == self._labels[-1]
            self._labels.append(self._labels[-1] if same else message.label)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the ciphertexts out of band."""
        counts = [len(parts) for parts in self._parts]
        buffers = [PickleBuffer(part) for parts in self._parts for part in parts]
        return _parcel, (self._labels, counts, buffers)

    def messages(self) -> Iterator[Encryptions]:
        """Yield each message."""
        for label, parts in zip(self._labels, self._parts, strict=True):
            yield Encryptions.of_parts(label, [bytes(part) for part in parts])


def _parcel(labels: list[Label], counts: list[int], buffers: Sequence[Any]) -> Parcel:
    """Return what was pickled; its ciphertexts lie in the object store until `messages` copies them."""
    parcel, rest = Parcel([]), iter(buffers)
    parcel._labels, parcel._parts = labels, [tuple(islice(rest, count)) for count in counts]
    return parcel


class Holder:
    """State of a worker process: one engine, and programs with loaded keys by hash."""

    def __init__(self, on: str, threads: int) -> None:
        """Open the engine, of a name such as `cpu` or `rtl:cofhee`."""
        self._engine, self._threads = open_engine(on), threads
        self._servers: Cache[Server] = Cache(_KEPT)

    def ready(self) -> None:
        """Answer once the engine is there."""

    def evaluate(self, batch: Parcel, shared: tuple[Name, Sequence[Any], Mapping[str, Any], Seed]) -> Parcel:
        """Return the result of each message of encrypted arguments.

        `shared`: the name of program and keys, where these are in the store, the plain arguments and the seed.
        """
        name, refs, plain, seed = shared
        server, _ = self._servers.take(name, 1, partial(self._load, refs))
        return Parcel(list(server.evaluate_many(batch.messages(), seed=seed, **plain)))

    def _load(self, refs: Sequence[Any]) -> Server:
        import ray

        program, keys = ray.get(list(refs))
        found: ProgramData = program
        return Server(replace(found, device=self._engine.device), Keys.from_bytes(keys), threads=self._threads)


@dataclass
class _Cluster:
    """A connection with the workers of one engine; they keep their keys from batch to batch."""

    on: str
    threads: int
    actors: list[Any] = field(default_factory=list)
    refs: OrderedDict[Name, list[Any]] = field(default_factory=OrderedDict)

    def actor(self) -> Any:
        """Start a worker; it is there when `ready` is answered."""
        import ray

        return ray.remote(num_cpus=self.threads)(Holder).remote(self.on, self.threads)

    def placed(self, program: ProgramData, keys: Keys) -> tuple[Name, list[Any]]:
        """Put a program and its keys into the object store, once."""
        import ray

        data = keys.to_bytes()
        name = program.identity.digest, hashlib.sha256(data).digest()
        if name not in self.refs:
            self.refs[name] = [ray.put(program), ray.put(data)]
            while len(self.refs) > _KEPT:
                self.refs.popitem(last=False)
        return name, self.refs[name]


_clusters: dict[tuple[str, str, int], _Cluster] = {}


def connect_ray(address: str) -> str:
    """Join a cluster and return its identity; InputError where there is none, or ray is not installed."""
    try:
        import ray
    except ImportError:
        raise InputError(f"a cluster needs ray: {to_install('ray')}") from None
    if not ray.is_initialized():
        try:
            _reached(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
        except (OSError, ValueError, RuntimeError) as error:
            reason = (str(error).splitlines() or [""])[0][:120]
            raise InputError(f"{address[:80]}: no Ray cluster there ({reason}); start one: ray start --head") from None
    context = ray.get_runtime_context()
    where = str(context.gcs_address)
    if ":" in address and "://" not in address and where != address:
        raise InputError(f"{address[:80]}: this process is on the cluster of {where}; ray.shutdown() leaves it")
    return f"{where} {context.get_job_id()}"


def _reached(address: str) -> None:
    """Fail at once where nothing listens: Ray would try for minutes."""
    host, mark, port = address.rpartition(":")
    if mark and "://" not in address:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT).close()


def check_cluster(address: str) -> None:
    """Join a cluster and leave it again; InputError as of `connect_ray`."""
    connect_ray(address)
    import ray

    ray.shutdown()


def evaluate_many(
    program: ProgramData, keys: Keys, batch: Sequence[Encryptions], plain: Mapping[str, Any], *, address: str,
    workers: int | None, threads: int, on: str, seed: Seed,
) -> list[Encryptions]:  # fmt: skip
    """Evaluate each message of a batch on a cluster and return the results in order. See `Program.evaluate_many`."""
    where = connect_ray(address)
    import ray

    cluster = _clusters.setdefault((where, on, threads), _Cluster(on, threads))
    cores: float = ray.cluster_resources().get("CPU", 1)  # type: ignore[no-untyped-call]
    count = workers or max(1, int(cores) // threads)
    name, refs = cluster.placed(program, keys)
    shared = name, refs, dict(plain), secrets.token_bytes(32) if seed is None else seed
    return _Batch(cluster, batch, shared).done(count)


def chunks(sizes: Sequence[int], workers: int) -> Iterator[range]:
    """Cut a batch of messages into chunks by their bytes, long chunks first."""
    start, least = 0, max(1, len(sizes) // (workers * _LEAST))
    while start < len(sizes):
        end = min(len(sizes), start + max(least, -(-(len(sizes) - start) // (workers * _PART))))
        taken = accumulate(sizes[start:end])
        end = start + max(1, sum(size <= _BYTES for size in taken))
        yield range(start, end)
        start = end


class _Batch:
    """A batch on its way."""

    def __init__(self, cluster: _Cluster, items: Sequence[Encryptions], shared: tuple[Any, ...]) -> None:
        self._cluster, self._items, self._shared = cluster, items, shared
        self._results: list[Encryptions | None] = [None] * len(items)
        self._busy: dict[Any, tuple[Any, range]] = {}
        self._attempts: dict[range, int] = {}

    def done(self, workers: int) -> list[Encryptions]:
        """Evaluate everything with this number of workers."""
        import ray

        self._waiting = deque(chunks([item.nbytes for item in self._items], workers))
        # A worker gets work when it answers: one that is still to be placed, or gone, holds nothing up.
        for actor in self._actors(workers):
            self._greet(actor)
        while self._waiting or any(self._busy.values()):
            if None in self._results and self._busy:
                answered, _ = ray.wait(list(self._busy), num_returns=1, timeout=_PATIENCE)
            else:
                break
            if not answered and all(not chunk for _, chunk in self._busy.values()):
                raise ClusterError(f"no worker of the cluster answered within {_PATIENCE:.0f} s; are cores free there?")
            for ref in answered:
                self._heard(ref, *self._busy.pop(ref))
        return [one for one in self._results if one is not None]

    def _actors(self, workers: int) -> list[Any]:
        actors = self._cluster.actors
        while len(actors) < workers:
            actors.append(self._cluster.actor())
        return actors[:workers]

    def _greet(self, actor: Any) -> None:
        self._busy[actor.ready.remote()] = actor, range(0)

    def _heard(self, ref: Any, actor: Any, chunk: range) -> None:
        """Take a worker's answer and give it more work, or replace it."""
        import ray

        try:
            answer = ray.get(ref)
        except ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, RingsmithError) else error from None
        except (ray.exceptions.RayError, ConnectionError) as error:
            self._lost(actor, chunk, error)
            return
        self._feed(actor)
        for place, result in zip(chunk, answer.messages() if chunk else (), strict=True):
            self._results[place] = result

    def _feed(self, actor: Any) -> None:
        """Give a worker chunks until it has enough of them."""
        given = sum(other is actor for other, _ in self._busy.values())
        while self._waiting and given < _DEPTH:
            chunk = self._waiting.popleft()
            parcel = Parcel([self._items[place] for place in chunk])
            asked = actor.evaluate.remote(parcel, self._shared)
            self._busy[asked] = actor, chunk
            given += 1

    def _lost(self, actor: Any, chunk: range, error: Exception) -> None:
        if chunk:
            self._attempts[chunk] = self._attempts.get(chunk, 0) + 1
            if self._attempts[chunk] >= _ATTEMPTS:
                raise ClusterError(f"{_ATTEMPTS} workers died with items {chunk.start} to {chunk.stop - 1}") from error
            self._waiting.appendleft(chunk)
        actors = self._cluster.actors
        if actor in actors:  # it may have had several chunks
            actors[actors.index(actor)] = other = self._cluster.actor()
            self._greet(other)
