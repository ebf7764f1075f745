# SPDX-License-Identifier: Apache-2.0
"""Every verb with every kind of bad file, place and number: status 2, one line on stderr, nothing written."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from pathlib import Path

import pytest

from ringsmith.cli import main

KERNEL = """
import numpy as np
import ringsmith as rs
@rs.kernel(x=rs.Encrypted(3, bound=2.0), tolerance=1e-3)
def score(x):
    return 2 * x
"""
# Verbs that read a file; FILE stands for it, {} for other files of the folder.
READERS = {
    "run": (".py", "run FILE"),
    "params": (".py", "params FILE"),
    "run npy": (".npy", "run {}/kernel.py --input FILE"),
    "run npz": (".npz", "run {}/kernel.py --input FILE"),
    "run csv": (".csv", "run {}/kernel.py --input x=FILE"),
    "claims": (".toml", "claims --file FILE"),
    "claims html": (".toml", "claims --file FILE --html {}/out.html"),
    "synth": (".toml", "synth FILE"),
    "liberty": (".lib", "synth butterfly --liberty FILE"),
    "generate": (".toml", "generate FILE -o {}/out"),
    "simulate": (".toml", "simulate FILE ntt --on model"),
}
CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "binary": bytes(range(256)) * 64,
    "utf-16": "a = 1\n".encode("utf-16"),
    "zeros": bytes(4096),
    "deep": b"a = " + b"[" * 50_000,
    "one line": b"7" * 300_000,
    "number": b"a = 1" + b"0" * 5000,
}
# Verbs that write; PLACE stands for where. A test of the place comes before the work.
WRITERS = {
    "run csv": "run {}/kernel.py --output PLACE.csv",
    "run npy": "run {}/kernel.py --output PLACE.npy",
    "run trace": "run {}/kernel.py --on model:tiny --trace PLACE",
    "claims html": "claims --html PLACE",
    "simulate trace": "simulate tiny ntt --on model --trace PLACE",
}
NUMBERS = {
    "n": "simulate tiny ntt --on model --n",
    "set": "simulate tiny ntt --on model --set butterflies=8 --n",
    "ntt8": "simulate zynq-pn3 ntt --n",
    "run security": "run {}/kernel.py --security",
    "params security": "params {}/kernel.py --security",
}
BAD_NUMBERS = ("-8", "0", "-1", "7", "1e3", "nan", "x", "", "9" * 30, "9" * 5000, "0x10", "٣")
# Anything else that is wrong of a command line.
LINES = [
    "frob",
    "run",
    "run {}/kernel.py extra",
    "run {}/kernel.py --frob",
    "run {}/kernel.py --kernel no",
    "generate tiny",
    "run {}/kernel.py --variant no",
    "run {}/kernel.py --on gpu",
    "run {}/kernel.py --on model:",
    "run {}/kernel.py --on rtl:no",
    "run {}/kernel.py --input",
    "run {}/kernel.py --input y=x.csv",
    "run {}/kernel.py --params no",
    "run {}/kernel.py --set a",
    "run {}/kernel.py --encrypt maybe",
    "params {}/kernel.py --standard 1999",
    "run {}/kernel.py --output {}/x.xlsx",
    "claims --paper no",
    "claims --json=3",
    "synth no",
    "synth tiny --family no",
    "synth tiny --board no",
    "synth tiny --set x",
    "synth tiny --board ../presets/tiny",
    "generate no -o {}/out",
    "generate tiny -o {}/kernel.py",
    "simulate tiny",
    "simulate tiny no",
    "simulate no ntt",
    "simulate tiny ntt --on gpu",
    "simulate tiny ntt --set n_max=-8 --on model",
    "simulate tiny ntt --set word_bits=99999999999999999999 --on model",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kernel.py").write_text(KERNEL)
    for owner, name in ((threading, "excepthook"), (sys, "unraisablehook"), (warnings, "showwarning")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setenv("RINGSMITH_TRACEBACK", "")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def tree(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_size for path in folder.rglob("*") if "__pycache__" not in path.parts}


def refused(words: list[str], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a command in this process; check status, streams and folder; return its line."""
    before = tree(folder)
    monkeypatch.setattr(sys, "argv", ["ringsmith", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, ""), err
    assert len(err.splitlines()) == 1, err
    assert err.startswith("error: ")
    assert len(err) < 600
    assert all(c.isprintable() for c in err[:-1])
    assert tree(folder) == before
    return err


def command(line: str, folder: Path, **places: str) -> list[str]:
    words = [word.replace("{}", str(folder)) for word in line.split()]
    for mark, place in places.items():
        words = [word.replace(mark, place) for word in words]
    return words


def bad_file(folder: Path, kind: str, suffix: str) -> str:
    """Make a file of a kind and return its name."""
    path = folder / f"bad{suffix}"
    match kind:
        case "missing":
            pass
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "loop":
            path.symlink_to(path)
        case "below a file":
            return f"{folder}/kernel.py/bad{suffix}"
        case "long name":
            return f"{folder}/{'x' * 300}{suffix}"
        case "name in another encoding":
            return f"{folder}/b\udce4d{suffix}"
        case "name that steers":
            return f"{folder}/b\x1b[31m\nd [red]{suffix}"
        case "endless":
            with path.open("wb") as file:
                file.truncate(1 << 40)
        case _:
            path.write_bytes(CONTENTS[kind])
    return str(path)


KINDS = (
    "missing", "folder", "pipe", "device", "loop", "below a file", "long name", "name in another encoding",
    "name that steers", "endless", *CONTENTS,
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", READERS)
def test_files(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verb: str, kind: str
) -> None:
    suffix, line = READERS[verb]
    if verb.startswith("claims") and kind == "empty":
        return  # An empty ledger is a ledger.
    name = bad_file(folder, kind, suffix)
    refused(command(line, folder, FILE=name), folder, capsys, monkeypatch)


@pytest.mark.parametrize(
    "place", ["folder", "none/x", "kernel.py/x", "pipe", "device", "x" * 300, "/proc/none/x", "folder/.."]
)
@pytest.mark.parametrize("verb", WRITERS)
def test_places(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verb: str, place: str
) -> None:
    suffix = WRITERS[verb].partition("PLACE")[2]
    (folder / f"folder{suffix}").mkdir()
    os.mkfifo(folder / f"pipe{suffix}")
    (folder / f"device{suffix}").symlink_to("/dev/full")
    if place == "folder/.." and suffix:
        return  # A name like any other, once it ends in .csv.
    refused(command(WRITERS[verb], folder, PLACE=str(folder / place)), folder, capsys, monkeypatch)


@pytest.mark.parametrize("value", BAD_NUMBERS)
@pytest.mark.parametrize("verb", NUMBERS)
def test_numbers(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verb: str, value: str
) -> None:
    refused([*command(NUMBERS[verb], folder), value], folder, capsys, monkeypatch)


@pytest.mark.parametrize("line", LINES)
def test_lines(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    refused(command(line, folder), folder, capsys, monkeypatch)


@pytest.mark.parametrize("cache", ["kernel.py", "kernel.py/x", "/proc/x", "/dev/null/x"])
def test_a_cache_that_cannot_be_written(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(folder / cache))
    words = command("synth butterfly", folder)
    assert "RINGSMITH_CACHE" in refused(words, folder, capsys, monkeypatch)


@pytest.mark.parametrize(
    "content", [b"no database at all " * 100, b"SQLite format 3\0" + bytes(4096)], ids=["text", "zeros"]
)
def test_a_damaged_store_of_results(
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
) -> None:
    cache = tmp_path_factory.mktemp("cache")
    (cache / "synth").mkdir()
    (cache / "synth" / "results.sqlite").write_bytes(content)
    monkeypatch.setenv("RINGSMITH_CACHE", str(cache))
    assert "results.sqlite" in refused(command("synth butterfly", folder), folder, capsys, monkeypatch)
    assert (cache / "synth" / "results.sqlite").read_bytes() == content
