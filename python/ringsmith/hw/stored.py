# SPDX-License-Identifier: Apache-2.0
"""Built files in the cache: each has its SHA-256 beside it, and one that no longer matches is built again.

A library that was cut short (a full disk, a copy that stopped) kills the process that loads it with SIGBUS; so nothing
is loaded or started before its bytes have been hashed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path


def checksum_file(path: Path) -> Path:
    """The file with the checksum of `path`: its name with `.sha256` added. The device driver looks there too."""
    return path.with_name(f"{path.name}.sha256")


def keep(finished: Path, target: Path) -> None:
    """Rename a finished file to `target`, its checksum first: an interrupted call leaves nothing that looks whole."""
    partial = finished.with_name(f"{finished.name}.sha256")
    partial.write_text(f"{_digest(finished)}  {target.name}\n")
    partial.replace(checksum_file(target))
    finished.replace(target)


def intact(target: Path) -> bool:
    """Whether the file is there and is the one that was kept."""
    try:
        return checksum_file(target).read_text().split()[:1] == [_digest(target)]
    except (OSError, UnicodeDecodeError):
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
