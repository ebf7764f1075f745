# SPDX-License-Identifier: Apache-2.0
"""JSON bodies of requests, and their validation."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ringsmith.service.problems import Problem

M = TypeVar("M", bound=BaseModel)
#: SHA-256 in hexadecimal.
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
#: A name that a client chooses for a job.
JOB_ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
#: Longest time that a result is kept, and that one request waits for a job, in seconds.
MAX_KEEP = 366 * 86400.0
MAX_WAIT = 60.0
BYTES = "application/octet-stream"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class BeginUpload(_Strict):
    """A blob that will come in chunks."""

    hash: Hash
    size: int = Field(gt=0)


class Array(_Strict):
    """A plain argument that is a .npy blob."""

    blob: Hash


#: A number, or a nested list of numbers; what they have to be is said by the program.
Numbers = int | float | list[Any]


class SubmitJob(_Strict):
    """A program to run, everything by hash; plain arguments as nested lists of numbers, or as .npy blobs."""

    program: Hash
    keys: Hash
    inputs: Hash
    plain: dict[str, Array | Numbers] = Field(default_factory=dict, max_length=256)
    keep_seconds: float = Field(default=7 * 86400.0, ge=1, le=MAX_KEEP, allow_inf_nan=False)

    def arguments(self) -> dict[str, Any]:
        """Return the plain arguments as plain data."""
        return {name: {"blob": value.blob} if isinstance(value, Array) else value for name, value in self.plain.items()}


class Terms(BaseModel):
    """What the jobs of a request have in common; the fields are parameters of its query."""

    program: Hash
    keys: Hash
    plain: str = Field("{}", max_length=8192, description="JSON: an object of plain arguments")
    keep: float = Field(
        86400.0, ge=0, le=MAX_KEEP, description="seconds to keep the result; 0: this answer is all there is of it"
    )
    wait: float = Field(MAX_WAIT, ge=0, le=MAX_WAIT, description="seconds to wait for the job's end")

    def hashes(self) -> dict[str, bytes]:
        """Return the hashes of program and keys."""
        return {"program": bytes.fromhex(self.program), "keys": bytes.fromhex(self.keys)}


def plain_of(text: str) -> dict[str, Any]:
    """Return the plain arguments of a query, checked as those of a submission are."""
    if text == "{}":
        return {}
    whole = f'{{"program":"{"0" * 64}","keys":"{"0" * 64}","inputs":"{"0" * 64}","plain":{text}}}'
    try:
        return SubmitJob.model_validate_json(whole).arguments()
    except ValueError:
        raise Problem("bad_request", 'plain: a JSON object of numbers, nested lists, or {"blob": HASH}') from None


async def body_of(request: Request) -> bytes:
    """Return the body, which the guard bounds."""
    body = await request.body()
    intake = request.scope.pop("intake", None)
    return body if intake is None else bytes(intake.body.view)


async def read(request: Request, model: type[M]) -> M:
    """Return a JSON body as what it has to be; the refusal names the field and never repeats its value."""
    try:
        return model.model_validate_json(await body_of(request))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"][:1] if part in model.model_fields)
        raise Problem("bad_request", f"{place or 'the body'}: {first['msg'][:200]}") from None


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """Return what the OpenAPI document says of a body that `read` reads."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}}


def bytes_body(text: str) -> dict[str, Any]:
    """Return what the OpenAPI document says of a body of bytes."""
    schema = {"type": "string", "format": "binary", "description": text}
    return {"requestBody": {"required": True, "content": {BYTES: {"schema": schema}}}}
