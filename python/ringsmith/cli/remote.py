# SPDX-License-Identifier: Apache-2.0
"""Shared options of the verbs that talk to a server: address and API key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ringsmith.errors import InputError
from ringsmith.files import read_text
from ringsmith.remote.connect import Remote, connect

#: In place of --api-key-file.
VARIABLE = "RINGSMITH_API_KEY"
_MAX_KEY = 4096

AtOption = Annotated[str | None, typer.Option("--at", help="a server of ringsmith serve: https://host:port")]
KeyOption = Annotated[
    Path | None, typer.Option("--api-key-file", help=f"with --at: the file of the API key (or ${VARIABLE})")
]
HttpOption = Annotated[
    bool, typer.Option("--allow-http", help="with --at: let the API key travel in the clear to another machine")
]


def connected(at: str, key_file: Path | None, allow_http: bool) -> Remote:
    """Return the server; the API key is read from a file or the environment, never from the command line."""
    key = os.environ.get(VARIABLE, "") if key_file is None else read_text(key_file, _MAX_KEY)
    if not key.strip():
        raise InputError(f"--at needs --api-key-file FILE or {VARIABLE}: what ringsmith serve --add-tenant printed")
    return connect(at, key.strip(), allow_http=allow_http)
