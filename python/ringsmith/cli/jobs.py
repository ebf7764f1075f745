# SPDX-License-Identifier: Apache-2.0
"""`ringsmith jobs`: the jobs on a server, and their results, also after the process that sent them has ended."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from ringsmith.cli.common import console, print_json
from ringsmith.cli.remote import HttpOption, KeyOption, connected
from ringsmith.errors import InputError
from ringsmith.remote.connect import Remote
from ringsmith.report.terminal import plain_console
from ringsmith.runtime.client import Client
from ringsmith.runtime.objects import load
from ringsmith.runtime.outputs import check_output, write_output

EXAMPLES = """Examples:

ringsmith run kernel.py --at https://host:8470 --api-key-file key --client mine.rsc --detach

ringsmith jobs --at https://host:8470 --api-key-file key

ringsmith jobs 4f0c... --at https://host:8470 --api-key-file key --client mine.rsc --output answer.npy

ringsmith jobs 4f0c... --at https://host:8470 --api-key-file key --cancel
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="jobs", epilog=EXAMPLES)(jobs)


def jobs(
    at: Annotated[str, typer.Option("--at", help="a server of ringsmith serve: https://host:port")],
    job: Annotated[
        str | None, typer.Argument(help="a job: wait for it, decrypt its result; without it: list all")
    ] = None,
    api_key_file: KeyOption = None,
    allow_http: HttpOption = False,
    client: Annotated[
        Path | None, typer.Option("--client", help="the client that decrypts: ringsmith run wrote it")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", help="write the decrypted result (.npy, .csv)")] = None,
    cancel: Annotated[bool, typer.Option("--cancel", help="cancel the job")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="forget the job and its result on the server")] = False,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")] = False,
) -> None:
    """List jobs, fetch and decrypt the result of one, cancel it, or delete it on the server."""
    if output is not None:
        check_output(output)
    if job is None and (client, output, cancel, delete) != (None, None, False, False):
        raise InputError("name the job: ringsmith jobs JOB --at URL ...")
    with connected(at, api_key_file, allow_http) as remote:
        if job is None:
            _list(remote.jobs(), json)
        elif cancel:
            print_json(remote.ask("POST", f"/v1/jobs/{_named(job)}/cancel"))
        elif client is not None:
            _fetch(remote, _named(job), client, output, json)
        elif not delete:
            print_json(remote.ask("GET", f"/v1/jobs/{_named(job)}"))
        if job is not None and delete:
            remote.ask("DELETE", f"/v1/jobs/{_named(job)}")


def _named(job: str) -> str:
    if not (job.isascii() and job.replace("-", "").replace("_", "").replace(".", "").isalnum()):
        raise InputError(f"job {job[:80]!r}: a name as ringsmith jobs lists them")
    return job


def _list(found: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json({"jobs": found})
        return
    table = Table("job", "state", "submitted", "ran")
    for one in found:
        error = f": {one['error']['message']}" if "error" in one else ""
        seconds = one.get("report", {}).get("run_seconds")
        ran = "" if seconds is None else f"{seconds * 1e3:.1f} ms"
        table.add_row(one["id"], one["state"] + error, time.strftime("%F %T", time.localtime(one["created"])), ran)
    plain_console().print(table)


def _fetch(remote: Remote, job: str, file: Path, output: Path | None, as_json: bool) -> None:
    owner = load(file)
    if not isinstance(owner, Client):
        raise InputError(f"{file}: not a client with its keys; name the file that ringsmith run --client wrote")
    with console().status(f"{job}") as status:
        array = remote.job(job, owner).result(lambda done, total: status.update(f"{job}: {done} of {total} operations"))
    if output is not None:
        write_output(output, array)
    if as_json:
        print_json({"job": job, "shape": list(array.shape), "output": output and str(output)})
    elif output is None:
        with np.printoptions(threshold=20):
            print(array)
