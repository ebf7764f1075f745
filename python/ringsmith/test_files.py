# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import os
import resource
import signal
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.files import read_bytes, read_toml, reason, replacing, write_text
from ringsmith.limits import MAX_MEMORY
from ringsmith.runtime.inputs import MAX_LINE, read_arguments, read_table


def one_line(error: Exception) -> bool:
    return len(str(error).splitlines()) == 1 and len(str(error)) < 500


def npy(header: str, data: bytes = b"", version: int = 1) -> bytes:
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def header(shape: str, kind: str = "<f8") -> str:
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}"


def npz(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return out.getvalue()


def bomb() -> bytes:
    """An archive of 1 MiB that unpacks to 1 GiB, each member a true array of zeros."""
    size = 1 << 28
    one = npy(header(f"({size // 8},)"), bytes(size))
    return npz(a=one, b=one, c=one, d=one)


NUMPY_FILES = {
    "huge shape": npy(header("(1000000000000,)")),
    "huge product": npy(header("(4294967296, 4294967296, 16)")),
    "negative": npy(header("(-1,)"), bytes(8)),
    "twice negative": npy(header("(-1, -1)"), bytes(8)),
    "too short": npy(header("(3,)"), bytes(16)),
    "too long": npy(header("(3,)"), bytes(32)),
    "deep header": npy("(" * 9000 + ")" * 9000, version=2),
    "deep list": npy("[" * 4000 + "]" * 4000, version=2),
    "long header": npy(header("(1,)") + " " * 100_000, bytes(8), version=2),
    "minus": npy("-" * 60_000 + "1"),
    "object": npy(header("(1,)", "|O"), bytes(8)),
    "text": npy(header("(1,)", "<U2"), bytes(8)),
    "complex, too short": npy(header("(2,)", "<c16"), bytes(16)),
    "no such type": npy(header("(1,)", "<z8"), bytes(8)),
    "record": npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", bytes(8)),
    "dimensions": npy(header(str((1,) * 80)), bytes(8)),
    "no dictionary": npy("__import__('os').system('true')"),
    "version 9": npy(header("(1,)"), bytes(8), version=9),
    "empty": b"",
    "a word": b"\x93NUMPY garbage",
    "line breaks": npy(header("(1,)", "\\n\\n<f8"), bytes(8)),
}


@pytest.mark.parametrize("data", NUMPY_FILES.values(), ids=NUMPY_FILES)
def test_numpy_files_that_lie(tmp_path: Path, data: bytes) -> None:
    for name, content in {"x.npy": data, "x.npz": npz(x=data)}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=name) as caught:
            read_arguments(tmp_path / name)
        assert one_line(caught.value)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("kind", ["f8", ">f4", "i2", "u1", "?", "c16"])
def test_true_numpy_files_are_what_numpy_reads(tmp_path: Path, shape: tuple[int, ...], order: str, kind: str) -> None:
    array = np.array(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2, dtype=kind, order=order)  # type: ignore[call-overload]
    np.save(tmp_path / "x.npy", array)
    np.savez_compressed(tmp_path / "x.npz", x=array)
    for read in (read_arguments(tmp_path / "x.npy")[""], read_arguments(tmp_path / "x.npz")["x"]):
        np.testing.assert_array_equal(read, np.load(tmp_path / "x.npy"))
        assert read.dtype == array.dtype


def damaged_archives() -> dict[str, bytes]:
    whole = npz(x=npy(header("(100,)"), bytes(range(200)) * 4))
    entry = whole.index(b"PK\x01\x02")
    return {
        "cut": whole[:-30],
        "flipped": whole[:60] + bytes([whole[60] ^ 255]) + whole[61:],
        "encrypted": whole[:entry] + whole[entry : entry + 8] + b"\x01" + whole[entry + 9 :],
        "method": whole[: entry + 10] + b"\x63" + whole[entry + 11 :],
        "size": whole[: entry + 24] + struct.pack("<I", 900) + whole[entry + 28 :],
        "smaller": whole[: entry + 24] + struct.pack("<I", 100) + whole[entry + 28 :],
        "contents": whole[:-10] + struct.pack("<I", 1 << 30) + whole[-6:],
        "no zip": b"PK no zip",
        "members": npz(**{f"x{i}": b"" for i in range(400)}),
    }


@pytest.mark.parametrize("kind", damaged_archives())
def test_damaged_archives(tmp_path: Path, kind: str) -> None:
    (tmp_path / "x.npz").write_bytes(damaged_archives()[kind])
    with pytest.raises(InputError, match=r"x\.npz") as caught:
        read_arguments(tmp_path / "x.npz")
    assert one_line(caught.value)


def test_a_bomb_takes_no_memory(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(bomb())
    program = (
        "import resource, sys; from pathlib import Path; from ringsmith.runtime.inputs import read_arguments\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: read_arguments(sys.argv[1])\n"
        "except Exception as error: print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "x.npz"], capture_output=True, text=True, check=True
    )
    message, grown = done.stdout.splitlines()
    assert f"at most 256 of {MAX_MEMORY} are read" in message
    assert int(grown) < 50_000  # KiB


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"1," + b"7" * 200_000, "not a table that can be read: field larger"),
        (b"1," + b"x" * 100_000, r"row 1, column 2: 'x{40}\.\.\.'"),
        (b"1,2\x003", r"column 2: '2\\x003'"),
        (b"1,2\n1,2\n1\n", "row 3 has 1 cells"),
        (b"1,2\n1,2,3\n", "row 2 has 3 cells"),
        (b'1,"2\n3', "row|table"),
        (b'1,2"3"\n', "column 2"),
        (b"1_0,2\n", "column 1: '1_0'"),
        ("١,2\n".encode(), "column 1"),
        (b"1e999,2\n", "column 1: '1e999'"),
        (b"nan,nan\n1,2\n", "row 1, column 1: 'nan'"),
        (b"inf\n1\n", "row 1, column 1: 'inf'"),
        (b"0x10,2\n", "column 1"),
        (b"\xff\xfe1\x00", "UTF-8"),
        (b"", "no rows"),
        (b"\n\n,,\n", "no rows"),
        (b"1," * (MAX_LINE // 2) + b"1", f"at most {MAX_LINE} are read"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, text: bytes, words: str) -> None:
    (tmp_path / "x.csv").write_bytes(text)
    with pytest.raises(InputError, match=words) as caught:
        read_table(tmp_path / "x.csv")
    assert one_line(caught.value)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".toml"])
def test_what_is_no_file(tmp_path: Path, suffix: str) -> None:
    def refused(path: Path, words: str) -> None:
        with pytest.raises(InputError, match=words) as caught:
            read_toml(path) if suffix == ".toml" else read_arguments(path)
        assert one_line(caught.value)

    paths = {name: tmp_path / f"{name}{suffix}" for name in ("none", "folder", "pipe", "zeros", "loop")}
    paths["folder"].mkdir()
    os.mkfifo(paths["pipe"])
    paths["zeros"].symlink_to("/dev/zero")
    paths["loop"].symlink_to(paths["loop"])
    refused(paths["none"], "no such file")
    refused(paths["folder"], "a folder, not a file")
    refused(paths["pipe"], "a pipe, not a file")
    refused(paths["zeros"], "a device, not a file")
    refused(paths["loop"], "cannot be read")
    refused(tmp_path / "none" / f"x{suffix}", "no such file")
    refused(Path(f"{tmp_path}/{'x' * 300}{suffix}"), "cannot be read: File name too long")


def test_a_file_that_grows_is_read_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(11))
    assert len(read_bytes(tmp_path / "x", 11)) == 11
    with pytest.raises(InputError, match="more than the 10 bytes"):
        read_bytes(tmp_path / "x", 10)


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    target, link = tmp_path / "x", tmp_path / "link"
    write_text(target, "old")
    os.chmod(target, 0o640)
    link.symlink_to(target)
    write_text(link, "new \udcff")
    assert target.read_text() == "new ?"
    assert target.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert left_in(tmp_path) == ["link", "x"]


def test_a_first_file_has_the_permissions_of_the_mask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "x", "new")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, MemoryError])
def test_nothing_is_left_of_a_file_that_was_not_finished(tmp_path: Path, error: type[BaseException]) -> None:
    write_text(tmp_path / "x", "old")

    def fail() -> None:
        with replacing(tmp_path / "x") as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert (tmp_path / "x").read_text() == "old"
    assert left_in(tmp_path) == ["x"]


def test_nothing_is_left_on_a_full_disk(tmp_path: Path) -> None:
    write_text(tmp_path / "x", "old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[0][1]))
    try:
        with pytest.raises(InputError, match="cannot be written: File too large"), replacing(tmp_path / "x") as file:
            file.write(bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before[0])
        signal.signal(signal.SIGXFSZ, before[1])
    assert (tmp_path / "x").read_text() == "old"
    assert left_in(tmp_path) == ["x"]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("folder", "a folder; name a file"),
        ("none/x", "no such folder"),
        ("file/x", "no such folder"),
        ("pipe", "not a reg"),
    ],
)
def test_places_where_nothing_can_be_written(tmp_path: Path, place: str, words: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=words):
        write_text(tmp_path / place, "x")
    assert left_in(tmp_path) == ["file", "folder", "pipe"]


def test_a_reason_is_one_line_with_the_notes_of_the_exception() -> None:
    assert reason(ValueError("first\nsecond")) == "first"
    assert reason(ValueError()) == reason(ValueError("\nsecond")) == "ValueError"
    noted = ValueError("too wide")
    noted.add_note("in row 3\nof many")
    noted.add_note("")
    assert reason(noted) == "too wide; in row 3"
    assert reason(noted, longest=10) == "too wid..."
    noted.__notes__ = 5  # type: ignore[assignment]
    assert reason(noted) == "too wide"


def test_a_reason_names_the_argument_that_the_engine_refuses() -> None:
    with pytest.raises(TypeError) as raised:
        _native.bfv_publication_bits("many")  # type: ignore[arg-type]
    assert reason(raised.value) == "'str' object cannot be interpreted as an integer; while processing 'n'"
