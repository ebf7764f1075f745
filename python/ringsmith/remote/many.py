# SPDX-License-Identifier: Apache-2.0
"""Many jobs of one program: cut into requests, several on their way at a time, results in the order of the arguments.

Each is a job of its own, with a name, a state and a result; a request that fails on the way is made again, and a job
that has its result by then is not run again unless nobody was to keep it.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import Any, TypeVar

from ringsmith.errors import FormatError, InputError
from ringsmith.remote import steps
from ringsmith.remote.steps import Request, Steps
from ringsmith.runtime import frames
from ringsmith.runtime.client import Client
from ringsmith.runtime.messages import Encryptions

T = TypeVar("T")
#: Jobs, and bytes of arguments, of one request at most.
_JOBS, _BYTES = 64, (2 << 20) - (64 << 10)
#: Requests on their way at a time.
_REQUESTS = 4
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


def groups(messages: Iterable[Encryptions]) -> Iterator[list[bytes]]:
    """Cut messages into requests."""
    group, size = list[bytes](), 0
    for message in messages:
        data = steps.public(message.to_bytes())
        if group and (len(group) == _JOBS or size + len(data) > _BYTES):
            yield group
            group, size = [], 0
        group.append(data)
        size += len(data)
    if group:
        yield group


def evaluate(
    places: tuple[str, str], bodies: list[bytes], plain: Mapping[str, Any], keep: float
) -> Steps[list[Encryptions]]:
    """Evaluate one request's arguments and return their results in order; RemoteError of the first that has none."""
    program, keys = places
    text = json.dumps(dict(plain))
    if len(text) > steps.IN_LINE or len(bodies[0]) > _BYTES:
        found = []
        for body in bodies:
            found.append((yield from steps.evaluate(program, keys, body, plain, steps.new_job(), None)))
        return [Encryptions.from_bytes(data) for data in found]
    jobs = {steps.new_job(): body for body in bodies}
    results: dict[str, bytes] = {}
    query = {"program": program, "keys": keys, "plain": text, "keep": keep, "wait": _WAIT}
    while missing := [id for id in jobs if id not in results]:
        parts = list(chain.from_iterable((frames.head(id, 0, len(jobs[id])), jobs[id]) for id in missing))
        answer = yield Request("POST", "/v1/jobs/run", query, body=parts, wait=_WAIT)
        for id, status, data in _read(answer.data, set(missing)):
            if status == 200:
                results[id] = bytes(data)
            elif status == 202:
                results[id] = yield from steps.result(id, None)
            elif status not in steps.PASSING:
                raise steps.refusal(json.loads(bytes(data)))
    return [Encryptions.from_bytes(results[id]) for id in jobs]


def _read(body: bytes, asked: set[str]) -> list[tuple[str, int, memoryview]]:
    try:
        view = memoryview(body)
        found = [(id, status, view[start : start + length]) for id, status, start, length in frames.places(body)]
    except FormatError as error:
        raise steps.RemoteError("bad_answer", f"an answer to many jobs that cannot be read: {error}") from None
    if sorted(id for id, _, _ in found) != sorted(asked):
        raise steps.RemoteError("bad_answer", f"an answer to {len(found)} jobs; {len(asked)} were asked for")
    return found


def checked_keep(keep: float) -> float:
    """Return seconds to keep; InputError for what is none."""
    if not 0 <= keep <= _LONGEST:
        raise InputError(f"keep={keep}: seconds from 0 (keep nothing) to {_LONGEST:.0f} (366 days)")
    return float(keep)


def mapped(run: Callable[[list[bytes]], list[T]], messages: Iterable[Encryptions]) -> Iterator[T]:
    """Yield `run` of each group's messages, in order; a few groups beyond what was taken are on their way."""
    waiting: deque[Future[list[T]]] = deque()
    with ThreadPoolExecutor(_REQUESTS, "ringsmith-many") as pool:
        try:
            for group in groups(messages):
                waiting.append(pool.submit(run, group))
                if len(waiting) > _REQUESTS:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            for left in waiting:
                left.cancel()


async def mapped_async(run: Callable[[list[bytes]], Any], messages: Iterable[Encryptions]) -> AsyncIterator[Any]:
    """Yield the same on asyncio."""
    waiting: deque[asyncio.Task[list[Any]]] = deque()
    cut = groups(messages)
    try:
        while True:
            group = await asyncio.to_thread(next, cut, None)
            if group is not None:
                waiting.append(asyncio.ensure_future(run(group)))
            while waiting and (group is None or len(waiting) > _REQUESTS):
                for result in await waiting.popleft():
                    yield result
            if group is None:
                return
    finally:
        for left in waiting:
            left.cancel()
