# SPDX-License-Identifier: Apache-2.0
"""Addresses of servers: `https://host:port`, or `unix:///path` for a socket of this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from ringsmith.errors import InputError


def checked(url: str, api_key: str, *, allow_http: bool) -> str:
    """Return the address of a server; InputError where a key would go over a network in the clear.

    Space around the key does not count: a file that `--key-file` or a shell wrote ends with a line break.
    """
    api_key = api_key.strip()
    try:
        parts = urlsplit(url)
        # Reading the port raises ValueError where it is no number.
        known = bool(parts.hostname and parts.port != 0) if parts.scheme in ("http", "https") else bool(socket_of(url))
    except ValueError:
        known = False
    if not known:
        raise InputError(f"{url[:100]!r}: the address of a server is like https://host:port or unix:///path/to/socket")
    if parts.scheme == "http" and not _here(parts.hostname or "") and not allow_http:
        raise InputError(f"{url[:100]}: the API key would travel in the clear; use https, or allow_http=True")
    if not (api_key.isascii() and api_key.isprintable() and api_key):
        raise InputError("an API key is what `ringsmith serve --add-tenant NAME` printed")
    return url.rstrip("/")


def socket_of(url: str) -> str | None:
    """Return the file of the socket that an address names, `unix:///path`; None for one of the network."""
    parts = urlsplit(url)
    whole = parts.scheme == "unix" and not parts.netloc and parts.path.startswith("/") and parts.path != "/"
    return parts.path if whole else None


def _here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
