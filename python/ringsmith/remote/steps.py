# SPDX-License-Identifier: Apache-2.0
"""The protocol apart from its transport: generators that yield requests and are sent answers.

Every request may be made again: blobs have their hash as address, chunks their offset, jobs the client's name for them.
"""

from __future__ import annotations

import hashlib
import io
import json
import secrets
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, RingsmithError
from ringsmith.runtime.messages import HEAD, is_secret
from ringsmith.scalars import is_int

T = TypeVar("T")
#: Blobs up to this size go in one request.
_WHOLE = 4 << 20
#: Seconds to connect.
CONNECT = 10.0
#: Seconds that one request waits for a job.
_WAIT = 20.0
#: Plain arguments up to this many bytes go as numbers, larger ones as blobs.
IN_LINE = 2048
#: Bytes of an answer that is no result; of a message around its ciphertexts; of a result whose program is unknown.
_TOLD, _AROUND, UNKNOWN = 16 << 20, 1 << 20, 256 << 20
#: Told how many operations of a job are done, of how many.
Progress = Callable[[int, int], None]


#: Answers after which the same request may succeed.
PASSING = {429, 502, 503, 504}


class RemoteError(RingsmithError):
    """A server refused, a job failed there, or the server cannot be reached; `code` is one of docs/service.md.

    `bad_answer`: what answered is no server of ringsmith, or sends more, or other things, than one would.
    """

    def __init__(self, code: str, message: str) -> None:
        """Keep both."""
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by both parts."""
        return type(self), (self.code, str(self))


class Parts(Protocol):
    """A body that is made as it is sent, each time anew; `length`: its bytes."""

    length: int

    def __iter__(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the bytes by the frame: how many, and the parts that they are in."""


def whole(parts: Parts) -> bytes:
    """Return the bytes of a body in one."""
    return b"".join(part for _, frame in parts for part in frame)


@dataclass(frozen=True)
class Request:
    """A driver's request. `expected`: codes that are no error; the steps handle them.

    `most`: bytes that the answer may have. `fleeting`: a success's data may lie where those of the thread's next such
    request will: no memory is taken anew.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | Parts | None = None
    json: Any = None
    expected: tuple[str, ...] = ()
    wait: float = 0.0
    most: int = _TOLD
    fleeting: bool = False


@dataclass(frozen=True)
class Reply:
    """A server's reply; names of headers in lower case."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes | memoryview


@dataclass(frozen=True)
class Answer:
    """A response of the server: JSON, or bytes."""

    status: int
    json: Any
    data: bytes | memoryview

    @property
    def code(self) -> str:
        """The code of an expected refusal; empty if there was none."""
        return self.told("error", "code", kind=str) if self.status >= 400 else ""

    def told(self, *path: str, kind: type[T]) -> T:
        """Return a value of the JSON by its path; RemoteError where a server says nothing, or something else, there."""
        value = self.json
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if not isinstance(value, kind) or (kind is int and not is_int(value)):
            raise RemoteError("bad_answer", f"no {'.'.join(path)} in the answer: is this ringsmith?")
        return value


Steps = Generator[Request, Answer, T]


def refusal(told: Any) -> RemoteError:
    """Return the error that a server's refusal is; for a failed job that of its cause."""
    try:
        error = told["error"]
        return RemoteError(str(error.get("cause", error["code"])), str(error["message"]))
    except (KeyError, TypeError, AttributeError):
        return RemoteError("bad_answer", "a refusal without a reason: is this ringsmith?")


def too_long(most: int) -> RemoteError:
    """Return the error of an answer that is longer than any that was asked for."""
    return RemoteError("bad_answer", f"an answer of more than {most} bytes; none of ringsmith's is as long")


def public(data: bytes) -> bytes:
    """Return bytes that may leave this machine: InputError for a secret key, by whatever call."""
    if is_secret(data[:HEAD]):
        raise InputError("a secret key does not leave this machine; send evaluation keys and encrypted arguments")
    return data


def address(data: bytes) -> str:
    """Return the address of a blob."""
    return hashlib.sha256(data).hexdigest()


def upload(data: bytes) -> Steps[str]:
    """Store a blob on the server; only parts that it lacks are sent, so an interrupted upload goes on."""
    where = address(public(data))
    if len(data) <= _WHOLE:
        known = yield Request("GET", f"/v1/blobs/{where}/facts", expected=("not_found",))
        if known.code:
            yield Request("PUT", f"/v1/blobs/{where}", body=data)
        return where
    begun = yield Request("POST", "/v1/uploads", json={"hash": where, "size": len(data)})
    if "blob" in begun.told(kind=dict):
        return where
    offset, path = begun.told("offset", kind=int), f"/v1/uploads/{begun.told('upload', kind=str)}"
    size = max(1, begun.told("chunk", kind=int))
    while 0 <= offset < len(data):
        chunk = data[offset : offset + size]
        sent = yield Request("PUT", path, {"offset": offset}, body=chunk, expected=("wrong_offset", "not_found"))
        if sent.code == "not_found":  # A last chunk whose answer was lost made it a blob; or the upload is too old.
            return (yield from upload(data))
        offset = sent.told("error", "offset", kind=int) if sent.code else sent.told("offset", kind=int)
    return where


def plain_arguments(arrays: Mapping[str, NDArray[Any]]) -> Steps[dict[str, Any]]:
    """Return plain arguments as a submission has them; large arrays are uploaded, and known the next time."""
    given: dict[str, Any] = {}
    for name, array in arrays.items():
        if array.nbytes <= IN_LINE or array.dtype == object:
            given[name] = array.tolist()
            continue
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=False)
        given[name] = {"blob": (yield from upload(stream.getvalue()))}
    return given


def new_job() -> str:
    """Return a new name for a job."""
    return secrets.token_hex(16)


def new_jobs(count: int) -> list[str]:
    """Return new names for jobs."""
    own = secrets.token_hex(14)
    return [f"{own}{number:04x}" for number in range(count)]


def submit(program: str, keys: str, inputs: bytes, plain: Mapping[str, Any], id: str) -> Steps[dict[str, Any]]:
    """Submit a job that outlives this process."""
    sent = yield from upload(inputs)
    body = {"program": program, "keys": keys, "inputs": sent, "plain": dict(plain)}
    return (yield Request("PUT", f"/v1/jobs/{id}", json=body)).told(kind=dict)


def evaluate(
    program: str, keys: str, inputs: bytes, plain: Mapping[str, Any], id: str, progress: Progress | None, most: int
) -> Steps[bytes]:
    """Submit a job and return its result, of `most` bytes: in one request where it is short."""
    text = json.dumps(dict(plain))
    if len(inputs) > _WHOLE or len(text) > IN_LINE:
        yield from submit(program, keys, inputs, plain, id)
        return (yield from result(id, progress, most))
    wait = 1.0 if progress is not None else _WAIT
    query = {"program": program, "keys": keys, "plain": text, "keep": 3600.0, "wait": wait}
    answer = yield Request("PUT", f"/v1/jobs/{id}/run", query, body=public(inputs), wait=wait, most=most + _AROUND)
    return bytes(answer.data) if answer.status == 200 else (yield from result(id, progress, most))


def result(id: str, progress: Progress | None, most: int = UNKNOWN) -> Steps[bytes]:
    """Wait for a job's end and return its result of `most` bytes; RemoteError if it failed or was cancelled."""
    told = None
    while True:
        wait = 1.0 if progress is not None else _WAIT
        state = yield Request("GET", f"/v1/jobs/{id}", {"wait": wait}, wait=wait)
        if state.told("state", kind=str) in ("done", "failed", "cancelled"):
            break
        done = state.told("progress", "done", kind=int), state.told("progress", "total", kind=int)
        if progress is not None and done != told and done[1]:
            progress(*done)
            told = done
    return bytes((yield Request("GET", f"/v1/jobs/{id}/result", most=most + _AROUND)).data)


def ask(method: str, path: str) -> Steps[Any]:
    """Make one request and return its answer: an object of JSON, or None."""
    answer = yield Request(method, path)
    return None if answer.json is None else answer.told(kind=dict)


def jobs() -> Steps[list[dict[str, Any]]]:
    """Return all jobs, newest first."""
    found: list[dict[str, Any]] = []
    before = 1 << 60
    while page := (yield Request("GET", "/v1/jobs", {"limit": 1000, "before": before})).told("jobs", kind=list):
        last = Answer(200, page[-1], b"").told("number", kind=int)
        if last >= before:
            raise RemoteError("bad_answer", "a page of jobs that does not go on: is this ringsmith?")
        found, before = found + page, last
    return found
