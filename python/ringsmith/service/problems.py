# SPDX-License-Identifier: Apache-2.0
"""Error responses: one JSON object with a code that programs read and a line that people read."""

from __future__ import annotations

import errno
import sqlite3
from typing import Any

from ringsmith.errors import FormatError, KeyMismatchError, ParameterError, RingsmithError

#: Codes with the HTTP status each comes with; docs/service.md says what they mean.
STATUS: dict[str, int] = {
    "bad_request": 400,
    "unauthorized": 401,
    "over_quota": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "timeout": 408,
    "wrong_offset": 409,
    "in_use": 409,
    "job_differs": 409,
    "job_unfinished": 409,
    "job_failed": 409,
    "job_cancelled": 409,
    "gone": 410,
    "too_large": 413,
    "wrong_kind": 415,
    "range": 416,
    "hash_mismatch": 422,
    "bad_blob": 422,
    "bad_parameters": 422,
    "mismatch": 422,
    "bad_arguments": 422,
    "secret_key": 422,
    "queue_full": 429,
    "too_many_jobs": 429,
    "busy": 429,
    "internal": 500,
    "no_room": 503,
    "stopping": 503,
    "store_full": 507,
}


class Problem(Exception):  # noqa: N818 -- it is an answer
    """A refusal. `retry_after`: seconds until the same request may work; `more`: facts beside code and message."""

    def __init__(self, code: str, message: str, *, retry_after: float | None = None, **more: Any) -> None:
        """Keep the parts."""
        super().__init__(message)
        self.code, self.message, self.retry_after, self.more = code, message, retry_after, more

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUS[self.code]

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        retry = {} if self.retry_after is None else {"retry_after": round(self.retry_after, 1)}
        return {"error": {"code": self.code, "message": self.message, **retry, **self.more}}


def not_found(what: str) -> Problem:
    """Return the one answer for what does not exist and for what is another tenant's."""
    return Problem("not_found", f"there is no such {what}")


def of_error(error: RingsmithError) -> Problem:
    """Return the refusal of what ringsmith itself refuses."""
    match error:
        case FormatError():
            code = "bad_blob"
        case ParameterError():
            code = "bad_parameters"
        case KeyMismatchError():
            code = "mismatch"
        case _:
            code = "bad_arguments"
    return Problem(code, " ".join(str(error).split())[:500])


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def store_full(error: BaseException) -> Problem | None:
    """Return the refusal when an error means that nothing more can be written, None for any other error."""
    full = isinstance(error, OSError) and error.errno in _FULL
    if isinstance(error, sqlite3.OperationalError):
        full = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
    if not full:
        return None
    return Problem("store_full", "the server's store is full; nothing was kept of this request", retry_after=60.0)
