# SPDX-License-Identifier: Apache-2.0
"""A generated folder and its manifest: what ringsmith wrote there, and so what it may replace.

`MANIFEST.sha256` has one line for each file, its SHA-256 and its path, as `sha256sum -c` reads them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from ringsmith.errors import InputError
from ringsmith.files import read_text
from ringsmith.hw.process import say, terminate_as_interrupt

MANIFEST = "MANIFEST.sha256"
#: Beginning of the names of folders that a call works in.
SCRATCH = ".ringsmith-"
#: Files that a message names one by one.
_NAMED = 5
_LINE = re.compile(r"([0-9a-f]{64})  ([ -~]{1,200})")

#: Path within the folder: hashes that the file there may have. Two while a replacement is under way.
Hashes = Mapping[str, frozenset[str]]


@contextmanager
def new_folder(directory: Path, *, force: bool) -> Iterator[Path]:
    """A folder to fill and to end with `write_manifest`, put at `directory` if nothing fails.

    `directory` is new or empty, or with `force` a folder as it was written, which is replaced; files of the user's own
    beside it stay. Folders above it are made.

    Raises:
        InputError: it cannot be written there.
    """
    target = _place(directory, force=force)
    try:
        with terminate_as_interrupt(), _scratch(_nearest(target)) as work:
            yield work
            work.chmod(0o755)
            target.parent.mkdir(parents=True, exist_ok=True)
            kept = put_in_place(work, target, directory)
    except OSError as error:
        raise InputError(f"{directory} cannot be written: {_why(error)}") from None
    if kept:
        say(f"{directory}: not written by ringsmith, kept: {some(kept)}")


def _place(directory: Path, *, force: bool) -> Path:
    """Where it goes, links followed; refused before anything is made."""
    try:
        target = directory.resolve()
        if target.exists() and not target.is_dir():
            raise InputError(f"{directory} is a file: name a directory")
        if not _nearest(target).is_dir():
            raise InputError(f"{directory}: {_nearest(target)} is a file: name another directory")
        if target.exists() and not is_empty(target) and not force:
            raise InputError(
                f"{directory} is not empty: name another directory, or replace what ringsmith wrote there with --force"
            )
        if target.exists():
            check_replaceable(target, directory)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{directory} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return target


@contextmanager
def _scratch(beside: Path) -> Iterator[Path]:
    """A folder to work in, gone at the end, however that comes."""
    work = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=beside))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _nearest(path: Path) -> Path:
    """The path itself or the closest above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())


def _why(error: OSError) -> str:
    """The system's reason; the first one where several files could not be copied."""
    if isinstance(error, shutil.Error):
        return str(error.args[0][0][2])
    return error.strerror or str(error)


def files_of(folder: Path) -> tuple[str, ...]:
    """Return the paths of a folder's files, links among them, in order."""
    return tuple(sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not _is_folder(path)))


def write_manifest(folder: Path) -> None:
    """Write the manifest of a folder whose files are all ours."""
    (folder / MANIFEST).write_text(_text(_hashes(folder)))


def is_empty(folder: Path) -> bool:
    """Whether a folder holds nothing, or only our own folders of a call under way or killed."""
    return all(path.name.startswith(SCRATCH) for path in folder.iterdir())


def check_replaceable(target: Path, shown: Path) -> Hashes:
    """Return what a package's manifest lists, nothing for an empty folder; `shown` is the folder's name in messages.

    Raises:
        InputError: there is no manifest, it is damaged, or files it lists were changed since.
    """
    if is_empty(target):
        return {}
    listed = _manifest(target, shown)
    changed = [path for path, hashes in listed.items() if not _as_written(target, path, hashes)]
    if changed:
        raise InputError(
            f"{shown}: changed since ringsmith wrote it: {some(changed)}; move your version out of the folder, or name "
            "another directory"
        )
    return listed


def put_in_place(work: Path, target: Path, shown: Path) -> tuple[str, ...]:
    """Move a new package from `work`, on the same file system, to `target`; return the files there that are not ours.

    An existing target is replaced file by file: what its manifest lists goes, everything else stays. If anything
    fails all comes back; after a sudden end the manifest lists both packages, so that the next call replaces either.

    Raises:
        InputError: the target cannot be replaced, or a file of the user's own stands where a new one goes.
        OSError: a file cannot be moved.
    """
    if not target.exists():
        work.replace(target)
        return ()
    listed = check_replaceable(target, shown)
    old = [path for path in listed if _is_file(target / path)]
    new = [path for path in files_of(work) if path != MANIFEST]
    _refuse_taken(target, shown, new, set(old))
    both = {**listed, **{path: listed.get(path, frozenset()) | hashes for path, hashes in _hashes(work).items()}}
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=target) as scratch, _Moves() as moves:
        (Path(scratch) / "both").write_text(_text(both))
        if _is_file(target / MANIFEST):
            moves.move(target / MANIFEST, Path(scratch) / "old" / MANIFEST)
        moves.move(Path(scratch) / "both", target / MANIFEST)
        for path in old:
            moves.move(target / path, Path(scratch) / "old" / path)
        for path in new:
            moves.move(work / path, target / path)
        (work / MANIFEST).replace(target / MANIFEST)
    _drop_empty(target, old)
    return tuple(path for path in _foreign(target) if path not in {*new, MANIFEST})


class _Moves:
    """Moves of files; those done are undone in reverse, with the folders they made, if the block fails."""

    def __init__(self) -> None:
        self._done: list[tuple[Path, Path]] = []
        self._made: list[Path] = []

    def __enter__(self) -> _Moves:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is None:
            return
        for source, place in reversed(self._done):
            with suppress(FileNotFoundError):  # interrupted before this one
                place.replace(source)
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()

    def move(self, source: Path, place: Path) -> None:
        """Move a file to a place that is free or a file; folders above it are made."""
        for folder in reversed([one for one in place.parents if not one.exists()]):
            folder.mkdir()
            self._made.append(folder)
        self._done.append((source, place))
        source.replace(place)


def _manifest(target: Path, shown: Path) -> Hashes:
    place = target / MANIFEST
    if not _is_file(place):
        raise InputError(
            f"{shown} is not empty and has no {MANIFEST}: --force replaces only what ringsmith wrote; name "
            "another directory"
        )
    found: dict[str, set[str]] = {}
    for number, line in enumerate(read_text(place).splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None or not _inside(match[2]):
            raise InputError(
                f"{shown}: line {number} of {MANIFEST} is not one that ringsmith writes; name another directory"
            )
        found.setdefault(match[2], set()).add(match[1])
    return {path: frozenset(hashes) for path, hashes in found.items()}


def _inside(text: str) -> bool:
    """Whether a path is plain: relative, without `.` and `..`, and not the manifest."""
    return (
        str(PurePosixPath(text)) == text
        and text[0] != "/"
        and ".." not in text.split("/")
        and text not in (".", MANIFEST)
    )


def _as_written(target: Path, path: str, hashes: frozenset[str]) -> bool:
    """Whether a listed file is missing or has a listed hash, and stands behind no link."""
    folders = list(PurePosixPath(path).parents)[:-1]
    if any(_exists(target / folder) and not _is_folder(target / folder) for folder in folders):
        return False
    place = target / path
    return not _exists(place) or (_is_file(place) and _digest(place) in hashes)


def _refuse_taken(target: Path, shown: Path, new: Iterable[str], old: set[str]) -> None:
    """Refuse where a file of the user's own, a folder or a link stands in the way of a new file."""
    taken = []
    for path in new:
        folders = [str(folder) for folder in PurePosixPath(path).parents][:-1]
        if path not in old and _exists(target / path):
            taken.append(path)
        taken += [one for one in folders if one not in old and _exists(target / one) and not _is_folder(target / one)]
    if taken:
        raise InputError(
            f"{shown}: not written by ringsmith, and in the way of a new file: {some(sorted(set(taken)))}; move it, or "
            "name another directory"
        )


def _drop_empty(target: Path, paths: Iterable[str]) -> None:
    """Remove the folders that those files leave empty."""
    folders = {folder for path in paths for folder in list(PurePosixPath(path).parents)[:-1]}
    for folder in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        with suppress(OSError):
            (target / folder).rmdir()


def _foreign(target: Path) -> tuple[str, ...]:
    """Files of a folder outside those that a call works in."""
    return tuple(path for path in files_of(target) if not path.startswith(SCRATCH))


def some(paths: Sequence[str]) -> str:
    """Return paths for a message, the first few by name."""
    more = len(paths) - _NAMED
    return ", ".join(paths[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _hashes(folder: Path) -> dict[str, frozenset[str]]:
    return {path: frozenset({_digest(folder / path)}) for path in files_of(folder) if path != MANIFEST}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _text(listed: Hashes) -> str:
    return "".join(f"{one}  {path}\n" for path in sorted(listed) for one in sorted(listed[path]))


def _exists(path: Path) -> bool:
    """Whether anything stands there, a broken link too."""
    return os.path.lexists(path)


def _is_file(path: Path) -> bool:
    """Whether a regular file stands there, and no link to one."""
    return _exists(path) and stat.S_ISREG(path.lstat().st_mode)


def _is_folder(path: Path) -> bool:
    """Whether a folder stands there, and no link to one."""
    return _exists(path) and stat.S_ISDIR(path.lstat().st_mode)
