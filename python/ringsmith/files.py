# SPDX-License-Identifier: Apache-2.0
"""Files: those that a stranger may have written are read within bounds, ours are written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import stat
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from ringsmith.errors import InputError

T = TypeVar("T")
D = TypeVar("D")

#: Largest text (TOML, JSON) that is read, in bytes.
MAX_TEXT = 4 << 20


def reason(error: BaseException, longest: int = 160) -> str:
    """Return an exception's message and notes as one line of at most `longest` characters; its type if it has none."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    # The engine names the argument that it refuses in a note.
    notes = getattr(error, "__notes__", None)
    parts = [text, *notes] if isinstance(notes, list) else [text]
    message, *others = (next(iter(str(part).splitlines()), "") for part in parts)
    line = "; ".join(filter(None, (message or type(error).__name__, *others)))
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def read_bytes(path: Path, limit: int, remedy: str = "") -> bytes:
    """Return what a regular file of at most `limit` bytes holds; `remedy` says how to raise the limit.

    Raises:
        InputError: there is no such file, it is a folder, a pipe or a device, cannot be read, or is too large.
    """
    data, size = b"", 0
    with open(_opened(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit:
            data = _taken(path, lambda: file.read(size + 1))
        # It grows, or its system tells no sizes.
        if len(data) > size:
            data += _taken(path, lambda: file.read(limit + 1 - len(data)))
    if max(size, len(data)) > limit:
        raise InputError(f"{path}: more than the {limit} bytes that are read{remedy and '; '}{remedy}")
    return data


def _opened(path: Path) -> int:
    """Return the handle of a regular file."""
    try:
        # Opening a pipe would wait for its writer otherwise.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {reason(error)}") from None
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return handle
    os.close(handle)
    kind = "a folder" if stat.S_ISDIR(mode) else "a pipe" if stat.S_ISFIFO(mode) else "a device"
    raise InputError(f"{path}: {kind}, not a file")


def _taken(path: Path, read: Callable[[], bytes]) -> bytes:
    try:
        return read()
    except (OSError, MemoryError) as error:
        raise InputError(f"{path}: cannot be read: {reason(error)}") from None


def read_text(path: Path, limit: int = MAX_TEXT, remedy: str = "") -> str:
    """Return a file's text in UTF-8, a byte order mark left out; InputError as from `read_bytes`."""
    try:
        return read_bytes(path, limit, remedy).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file in UTF-8 (byte {error.start})") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file; InputError for bad syntax, deep nesting or too many bytes."""
    return parsed(path, "TOML", tomllib.loads, read_text(path))


def read_json(path: Path) -> Any:
    """Return the value of a JSON file; InputError for bad syntax, deep nesting or too many bytes."""
    return parsed(path, "JSON", json.loads, read_text(path))


def parsed(path: Path, kind: str, parse: Callable[[D], T], data: D) -> T:
    """Return `parse(data)`; whatever stops the parser, a stranger's bytes are the cause: InputError."""
    try:
        return parse(data)
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{path}: not {kind} that can be read: nested too deeply") from None
    except Exception as error:
        raise InputError(f"{path}: not {kind} that can be read: {reason(error)}") from None


def check_place(path: Path) -> None:
    """Refuse a place where no file can be written, before the work that fills it. Raises InputError."""
    folder = path.absolute().parent
    if path.is_dir():
        raise InputError(f"{path}: a folder; name a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: not a regular file; name another")
    if not folder.is_dir():
        raise InputError(f"{path}: no such folder")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: the folder cannot be written to")


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of `path` when the block ends; if it fails nothing is changed.

    A `private` file is read by its owner alone.

    Raises:
        InputError: the file cannot be written there, or the disk is full.
    """
    check_place(path)
    # A link keeps pointing: what it points to is replaced.
    target = Path(os.path.realpath(path))
    part = target.with_name(f".ringsmith-{secrets.token_hex(8)}")
    try:
        with open(
            os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if private else 0o666), "wb"
        ) as file:
            yield file
            file.flush()
            if not private:
                _keep_mode(target, file.fileno())
            os.fsync(file.fileno())
        os.replace(part, target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {reason(error)}") from error
    finally:
        with suppress(OSError):
            os.unlink(part)


def _keep_mode(target: Path, handle: int) -> None:
    """Give the new file the permissions of the one it replaces; a first one has those of the process's mask."""
    with suppress(FileNotFoundError):
        os.fchmod(handle, stat.S_IMODE(target.stat().st_mode))


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all. What UTF-8 cannot hold (halves of surrogates) becomes `?`."""
    with replacing(path) as file:
        file.write(text.encode("utf-8", errors="replace"))
