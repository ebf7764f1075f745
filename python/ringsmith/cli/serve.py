# SPDX-License-Identifier: Apache-2.0
"""`ringsmith serve`: programs evaluated for others over HTTP, and who these others are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from ringsmith.errors import InputError
from ringsmith.extras import to_install
from ringsmith.files import check_place, replacing
from ringsmith.parallel import workers as cores
from ringsmith.service import tenants
from ringsmith.service.database import connect
from ringsmith.service.files import make_private
from ringsmith.service.settings import Quota, Settings

EXAMPLES = """Examples:

ringsmith serve --store ./store --add-tenant alice --key-file alice.key

ringsmith serve --store ./store --workers 4 --key-memory 4096

ringsmith serve --store ./store --ray 10.0.0.1:6379 --workers 16

ringsmith serve --store ./store --socket ./ringsmith.sock    # clients: unix:///path/to/ringsmith.sock

curl -s localhost:8470/readyz

The server evaluates programs with the keys that clients send; it never has a secret key. SIGTERM or Ctrl-C: running
jobs finish, or run again at the next start.
"""
T = TypeVar("T")
_MIB = 1 << 20


Socket = Annotated[Path | None, typer.Option("--socket", help="listen at this file, which its owner alone may open")]
Ray = Annotated[
    str | None, typer.Option("--ray", help="evaluate on a Ray cluster: host:port; needs --workers, actors there")
]
Insecure = Annotated[bool, typer.Option("--allow-insecure", help="accept programs below 128 bits of security")]
AddTenant = Annotated[
    str | None, typer.Option("--add-tenant", help="add one, or renew its API key, printed once; then end")
]
KeyFile = Annotated[
    Path | None, typer.Option("--key-file", help="with --add-tenant: write the key there, for its owner alone")
]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="serve", epilog=EXAMPLES)(serve)


def serve(
    store: Annotated[Path, typer.Option("--store", help="folder of programs, keys, jobs and results")],
    host: Annotated[str, typer.Option("--host", help="address to listen at")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: a free one")] = 8470,
    socket: Socket = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, max=1024, help="worker processes (default: one for each core)")
    ] = None,
    threads: Annotated[int, typer.Option("--threads", min=1, max=1024, help="threads of each worker")] = 1,
    ray: Ray = None,
    key_memory: Annotated[int, typer.Option("--key-memory", min=1, help="MiB of keys that all workers hold")] = 1024,
    queue: Annotated[int, typer.Option("--queue", min=1, help="most waiting jobs of all tenants")] = 1024,
    max_blob: Annotated[int, typer.Option("--max-blob", min=1, help="largest blob in MiB")] = 1024,
    quota_bytes: Annotated[int, typer.Option("--quota-bytes", min=1, help="most MiB stored for a tenant")] = 4096,
    quota_jobs: Annotated[int, typer.Option("--quota-jobs", min=1, help="most unfinished jobs of a tenant")] = 256,
    quota_memory: Annotated[int, typer.Option("--quota-memory", min=1, help="most MiB of one job")] = 2048,
    quota_seconds: Annotated[float, typer.Option("--quota-seconds", min=0.01, help="most seconds of one job")] = 600.0,
    drain: Annotated[float, typer.Option("--drain", min=0.0, help="seconds to finish running jobs at a stop")] = 10.0,
    allow_insecure: Insecure = False,
    tls_certificate: Annotated[Path | None, typer.Option("--tls-certificate", help="PEM chain")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="PEM key")] = None,
    add_tenant: AddTenant = None,
    key_file: KeyFile = None,
    remove_tenant: Annotated[
        str | None, typer.Option("--remove-tenant", help="remove one and its jobs; then end")
    ] = None,
    list_tenants: Annotated[bool, typer.Option("--list-tenants", help="print the names of all; then end")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no log line for each request and job")] = False,
) -> None:
    """Serve evaluations over HTTP: clients send programs, keys and ciphertexts. See `ringsmith help service`."""
    needed()
    from ringsmith.service.serve import serve as run

    if key_file is not None and add_tenant is None:
        raise InputError("--key-file goes with --add-tenant")
    if add_tenant is not None:
        _tell_key(key_file, lambda: _administer(store, lambda connection: tenants.add(connection, add_tenant)))
    elif remove_tenant is not None:
        _administer(store, lambda connection: tenants.remove(connection, remove_tenant))
    elif list_tenants:
        print("\n".join(_administer(store, tenants.names)))
    else:
        if (tls_certificate is None) is not (tls_key is None):
            raise InputError("--tls-certificate and --tls-key go together")
        if socket is not None and tls_certificate is not None:
            raise InputError("--socket is not the network: it takes no --tls-certificate")
        if ray is not None and workers is None:
            raise InputError("--ray needs --workers: the number of actors, of --threads cores each, on the cluster")
        quota = Quota(quota_bytes * _MIB, quota_jobs, quota_memory * _MIB, quota_seconds)
        settings = Settings(
            store.absolute(), host, port, socket, workers or cores(), threads, key_memory=key_memory * _MIB,
            queue=queue, quota=quota, ray=ray, max_blob=max_blob * _MIB, drain_seconds=drain,
            allow_insecure=allow_insecure, tls_certificate=tls_certificate, tls_key=tls_key,
        )  # fmt: skip
        run(settings, quiet=quiet)


def needed() -> None:
    """Say what to install where the service's packages are missing."""
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise InputError(f"the server needs {error.name}: {to_install('serve')}") from None


def _tell_key(file: Path | None, make: Callable[[], str]) -> None:
    """Make an API key and print it, or write it to a file that its owner alone reads."""
    if file is None:
        print(make())
        return
    check_place(file)
    with replacing(file, private=True) as written:
        written.write(f"{make()}\n".encode())


def _administer(store: Path, change: Callable[[sqlite3.Connection], T]) -> T:
    """Change a store's tenants, also while a server has it."""
    try:
        make_private(store)
        with closing(connect(store / "ringsmith.sqlite3")) as connection:
            return change(connection)
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{store}: cannot be used as a store: {error}") from None
