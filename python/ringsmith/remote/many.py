# SPDX-License-Identifier: Apache-2.0
"""Many jobs of one program: cut into requests, several on their way at a time, results in the order of the arguments.

Each is a job of its own, with a name, a state and a result; a request that fails on the way is made again, and a job
that has its result by then is not run again if its result is kept.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ringsmith.errors import FormatError, InputError
from ringsmith.remote import steps
from ringsmith.remote.steps import Request, Steps
from ringsmith.runtime import frames
from ringsmith.runtime.client import Client
from ringsmith.runtime.messages import Encryptions

#: Jobs, and bytes, of one request at most, and of the latter those that are left to what stands before each message.
_JOBS, _BYTES, _HEADS = 64, 8 << 20, 64 << 10
#: Requests on their way at a time.
_REQUESTS = 3
#: Seconds that one request waits for its jobs.
_WAIT = 20.0
#: Seconds for which a result is kept unless told otherwise.
KEEP = 3600.0
#: The longest time that a server grants.
_LONGEST = 366 * 86400.0


def encrypted(client: Client, columns: Sequence[Iterable[Any]]) -> Iterator[Encryptions]:
    """Encrypt many sets of arguments, an iterable for each encrypted one in the program's order."""
    names = client.program.signature.names(encrypted=True)
    if len(columns) != len(names):
        raise InputError(f"{len(columns)} iterables; the program has the encrypted arguments {', '.join(names)}")
    return (client.encrypt(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True))


@dataclass(frozen=True)
class Shared:
    """What all requests have in common: plain arguments, seconds to keep results, bytes of messages at most."""

    plain: Mapping[str, Any]
    keep: float
    most: int
    #: Bytes of one result at most.
    result: int


def shared(arrays: Mapping[str, NDArray[Any]], keep: float, result: int) -> Steps[Shared]:
    """Store long plain arguments on the server, and ask how much it takes at a time."""
    plain = yield from steps.plain_arguments(arrays)
    body = (yield Request("GET", "/v1/status")).told("limits", "body", kind=int)
    return Shared(plain, keep, max(1, min(_BYTES, body) - _HEADS), result)


def groups(messages: Iterable[Encryptions], most: int) -> Iterator[list[Encryptions]]:
    """Cut messages into requests."""
    group, size = list[Encryptions](), 0
    for message in messages:
        length = message.length
        if group and (len(group) == _JOBS or size + length > most):
            yield group
            group, size = [], 0
        group.append(message)
        size += length
    if group:
        yield group


class Framed:
    """The body of a request: a frame for each job, written as it is sent, and without a copy of the ciphertexts."""

    def __init__(self, jobs: Mapping[str, Encryptions]) -> None:
        """Frame the messages of jobs by name."""
        self._jobs = jobs
        self.length = sum(frames.OVERHEAD + len(id) + message.length for id, message in jobs.items())

    def __iter__(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield a frame for each job."""
        for id, message in self._jobs.items():
            pieces = message.pieces()
            pieces[0] = frames.head(id, 0, message.length) + steps.public(pieces[0])
            yield frames.OVERHEAD + len(id) + message.length, pieces


def evaluate(places: tuple[str, str], messages: list[Encryptions], shared: Shared) -> Steps[list[bytes]]:
    """Evaluate one request's arguments and return their results in order; RemoteError of the first that has none."""
    program, keys = places
    text = json.dumps(dict(shared.plain))
    if len(text) > steps.IN_LINE or messages[0].length > shared.most:
        found = []
        for message in messages:
            body = message.to_bytes()
            found.append(
                (yield from steps.evaluate(program, keys, body, shared.plain, steps.new_job(), None, shared.result))
            )
        return found
    jobs = dict(zip(steps.new_jobs(len(messages)), messages, strict=True))
    results: dict[str, bytes] = {}
    query = {"program": program, "keys": keys, "plain": text, "keep": shared.keep, "wait": _WAIT}
    while missing := [id for id in jobs if id not in results]:
        most = len(missing) * (shared.result + _HEADS)
        framed = Framed({id: jobs[id] for id in missing})
        answer = yield Request("POST", "/v1/jobs/run", query, body=framed, wait=_WAIT, most=most, fleeting=True)
        for id, status, data in _read(answer.data, set(missing)):
            if status == 200:
                results[id] = bytes(data)
            elif status == 202:
                results[id] = yield from steps.result(id, None, shared.result)
            elif status not in steps.PASSING:
                raise steps.refusal(_json(data))
    return [results[id] for id in jobs]


def _read(body: bytes | memoryview, asked: set[str]) -> list[tuple[str, int, memoryview]]:
    try:
        view = memoryview(body)
        found = [(id, status, view[start : start + length]) for id, status, start, length in frames.places(body)]
    except FormatError as error:
        raise steps.RemoteError("bad_answer", f"an answer to many jobs that cannot be read: {error}") from None
    if sorted(id for id, _, _ in found) != sorted(asked):
        raise steps.RemoteError("bad_answer", f"an answer to {len(found)} jobs; {len(asked)} were asked for")
    return found


def _json(data: memoryview) -> Any:
    try:
        return json.loads(bytes(data))
    except (ValueError, RecursionError):
        return None


def checked_keep(keep: float) -> float:
    """Return the seconds to keep; InputError for anything but a positive number."""
    if not 0 <= keep <= _LONGEST:
        raise InputError(f"keep={keep}: seconds from 0 (keep nothing) to {_LONGEST:.0f} (366 days)")
    return float(keep)


def mapped(
    run: Callable[[list[Encryptions]], list[bytes]], messages: Iterable[Encryptions], most: int
) -> Iterator[Encryptions]:
    """Yield the results that `run` has of each group, in order; a few groups beyond what was taken are on their way."""
    waiting: deque[Future[list[bytes]]] = deque()
    with ThreadPoolExecutor(_REQUESTS, "ringsmith-many") as pool:
        try:
            for group in groups(messages, most):
                waiting.append(pool.submit(run, group))
                if len(waiting) > _REQUESTS:
                    yield from map(Encryptions.from_bytes, waiting.popleft().result())
            while waiting:
                yield from map(Encryptions.from_bytes, waiting.popleft().result())
        finally:
            for left in waiting:
                left.cancel()


async def mapped_async(
    run: Callable[[list[Encryptions]], Awaitable[list[bytes]]], messages: Iterable[Encryptions], most: int
) -> AsyncIterator[Encryptions]:
    """Yield the same on asyncio."""
    waiting: deque[asyncio.Future[list[bytes]]] = deque()
    cut = groups(messages, most)
    try:
        while True:
            group = await asyncio.to_thread(next, cut, None)
            if group is not None:
                waiting.append(asyncio.ensure_future(run(group)))
            while waiting and (group is None or len(waiting) > _REQUESTS):
                for result in await waiting.popleft():
                    yield Encryptions.from_bytes(result)
            if group is None:
                return
    finally:
        for left in waiting:
            left.cancel()
