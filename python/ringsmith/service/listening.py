# SPDX-License-Identifier: Apache-2.0
"""Sockets of a server: an address of the network, or a file of this machine."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ringsmith.errors import InputError
from ringsmith.service.settings import Settings

#: Permissions that the file of a socket is made without: its owner alone may connect.
_OTHERS = 0o177


@contextmanager
def listening(settings: Settings) -> Iterator[tuple[socket.socket, str]]:
    """Listen; gives the socket, and the address that a client connects to. InputError if the place is taken."""
    if settings.socket is not None:
        with _at_file(settings.socket, settings.connections) as found:
            yield found, f"unix://{settings.socket.absolute()}"
        return
    with _at_port(settings) as found:
        host, port = found.getsockname()[:2]
        scheme = "http" if settings.tls_certificate is None else "https"
        yield found, f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _at_port(settings: Settings) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        found = socket.socket(family)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((settings.host, settings.port))
        found.listen(settings.connections)
        return found
    except (OSError, OverflowError) as error:
        raise InputError(f"{settings.host}:{settings.port}: cannot listen there: {error}") from None


@contextmanager
def _at_file(path: Path, waiting: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as found:
        try:
            _remove_left(path)
            before = os.umask(_OTHERS)
            try:
                found.bind(str(path))
            finally:
                os.umask(before)
            found.listen(waiting)
            own = path.stat().st_ino
        except OSError as error:
            raise InputError(f"{path}: cannot listen there: {error}") from None
        try:
            yield found
        finally:
            with suppress(OSError):
                if path.stat().st_ino == own:  # Not that of a server that was started since.
                    path.unlink()


def _remove_left(path: Path) -> None:
    """Remove the file of a server that was killed; InputError for one that runs, and for any other file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise InputError(f"{path}: cannot listen there: a file that is no socket; name one that does not exist")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise InputError(f"{path}: cannot listen there: a server does")
