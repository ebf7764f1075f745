# SPDX-License-Identifier: Apache-2.0
"""Files and bytes that ask for more memory than they are granted: one line, at once, before the memory is taken."""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native, limits
from ringsmith.runtime.inputs import read_arguments, read_table


def peak() -> int:
    """Peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def header(shape: str, dtype: str = "<f8") -> bytes:
    """The first bytes of a .npy file that announces a shape."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.fixture
def bomb(tmp_path: Path) -> Path:
    """A small archive of a gigabyte of zeros."""
    path = tmp_path / "bomb.npz"
    count = 1 << 27
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.npy", "w", force_zip64=True) as member,
    ):
        member.write(header(f"({count},)"))
        zeros = bytes(1 << 24)
        for _ in range(8 * count // len(zeros)):
            member.write(zeros)
    return path


def test_an_archive_that_unpacks_to_too_much(bomb: Path) -> None:
    assert bomb.stat().st_size < 1 << 23
    before, start = peak(), time.perf_counter()
    with pytest.raises(rs.InputError, match=r"bomb.npz: .*bytes unpacked; .* raise RINGSMITH_MAX_MEMORY") as caught:
        read_arguments(bomb)
    assert len(str(caught.value).splitlines()) == 1
    assert peak() - before < 1 << 26
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    "shape",
    ["(10**5,)", "(100000,)", "(1<<60,)", "(1152921504606846976,)", "(-1,)", "(0,)", "(3,)", "(2, 0)", "[2]", "2"],
)
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_a_shape_that_is_not_what_is_there(tmp_path: Path, shape: str, suffix: str) -> None:
    path, content = tmp_path / f"a.{suffix}", header(shape) + bytes(16)
    if suffix == "npy":
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.npy", content)
    with pytest.raises(rs.InputError, match=rf"a\.{suffix}") as caught:
        read_arguments(path)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "values", [np.zeros((0, 3)), np.array(2.5), np.asfortranarray(np.arange(6).reshape(2, 3)), np.array([True])]
)
def test_what_is_written_is_read(tmp_path: Path, values: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", values)
    np.savez_compressed(tmp_path / "a.npz", x=values, y=values)
    for found in (read_table(tmp_path / "a.npy"), *read_arguments(tmp_path / "a.npz").values()):
        np.testing.assert_array_equal(found, values)
        assert found.dtype == values.dtype


def test_the_limit_can_be_raised_and_lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "a.npy", np.zeros(1000))
    (tmp_path / "a.csv").write_text("1,2\n" * 2000)
    monkeypatch.setenv(limits.VARIABLE, "7000")
    for name in ("a.npy", "a.csv"):
        with pytest.raises(rs.InputError, match="RINGSMITH_MAX_MEMORY"):
            read_table(tmp_path / name)
    monkeypatch.setenv(limits.VARIABLE, "1000000")
    assert read_table(tmp_path / "a.npy").size == 1000
    for text in ("", "-1", "1e9", "0", "9" * 30, "many"):
        monkeypatch.setenv(limits.VARIABLE, text)
        with pytest.raises(rs.InputError, match="a number of bytes"):
            read_table(tmp_path / "a.npy")


def test_a_file_may_have_half_of_the_machine_s_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert limits.MAX_MEMORY <= limits.max_file() <= max(machine // 2, limits.MAX_MEMORY)
    sparse = tmp_path / "large"
    with sparse.open("wb") as file:
        file.truncate(limits.max_file() + 1)
    before, start = peak(), time.perf_counter()
    with pytest.raises(rs.InputError, match=f"more than the {limits.max_file()} bytes that are read; raise RINGSMITH"):
        rs.load(sparse)
    assert peak() - before < 1 << 24
    assert time.perf_counter() - start < 1
    # What bytes only claim is held to the same everywhere.
    assert limits.max_memory() == limits.max_unpacked(100) == limits.MAX_MEMORY
    assert limits.max_unpacked(limits.MAX_MEMORY) == min(4 * limits.MAX_MEMORY, limits.max_file())
    for text in ("1000", str(1 << 40)):
        monkeypatch.setenv(limits.VARIABLE, text)
        assert limits.max_file() == limits.max_memory() == limits.max_unpacked(100) == int(text)


def test_a_container_has_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "memory.max"
    monkeypatch.setattr(limits, "_CONTAINER", (tmp_path / "none", said))
    machine = limits._machine.__wrapped__
    for text, most in (("3000000000\n", 3_000_000_000), ("max\n", 1 << 60), ("\n", 1 << 60), ("9" * 30, 1 << 60)):
        said.write_text(text)
        assert (machine() == most) == (most < 1 << 60)
        assert 1 << 30 < machine() < most + 1


@pytest.mark.parametrize("context", [_native.BfvContext, _native.CkksContext])
def test_parameters_of_strangers(context: Any) -> None:
    made: Any
    primes = _native.ntt_primes(1 << 17, 60, 64)
    last = 257 if context is _native.BfvContext else 2.0**30
    made = context(8, primes, [], last, allow_insecure=True)
    data = bytearray(made.to_bytes())
    assert len(data) <= 1108
    data[33] = 17
    big = sealed(data)
    before, start = peak(), time.perf_counter()
    for options in ({}, {"max_degree": 1 << 17}):
        with pytest.raises(rs.ParameterError, match=r"max_degree raises it|max_memory raises it") as caught:
            context.from_bytes(big, allow_insecure=True, **options)
        assert len(str(caught.value).splitlines()) == 1
    assert peak() - before < 1 << 24
    assert time.perf_counter() - start < 0.1
    assert context.from_bytes(made.to_bytes(), allow_insecure=True, max_degree=8) == made


def sealed(data: bytearray) -> bytes:
    """The object with a right checksum."""
    import xxhash

    body = bytes(data[:-8])
    return body + xxhash.xxh3_64_intdigest(body).to_bytes(8, "little")


def test_the_fingerprint_field_of_parameters_is_looked_at() -> None:
    primes = _native.ntt_primes(64, 40, 2)
    made = _native.CkksContext(64, primes[:1], primes[1:], 2.0**30, allow_insecure=True)
    for at in range(8, 24):
        for bit in range(8):
            data = bytearray(made.to_bytes())
            data[at] ^= 1 << bit
            with pytest.raises(rs.FormatError, match="fingerprint field"):
                _native.CkksContext.from_bytes(sealed(data), allow_insecure=True)


SHORT_OF_MEMORY = """
import resource, sys
import numpy as np
from ringsmith import _native
def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
primes = _native.ntt_primes(1 << 15, 50, 16)
small = _native.CkksContext(1 << 13, primes[:14], primes[14:], 2.0**40, allow_insecure=True)
keys = _native.KeyGenerator(small, seed=bytes(32))
secret = keys.secret_key()
encoder, encryptor = _native.CkksEncoder(small), _native.CkksEncryptor(small, secret, seed=bytes(32))
evaluator = _native.CkksEvaluator(small, threads=1)
held = [encryptor.encrypt(encoder.encode(np.zeros(4)))]
def context():
    make = _native.CkksContext
    return [make(1 << 15, primes[:14], primes[14:], 2.0**40, allow_insecure=True) for _ in range(8)]
def products():
    return [evaluator.square(held[0]) for _ in range(1000)]
def rotations():
    return keys.galois_keys(secret, list(range(200)))
def written():
    return [keys.relin_key(secret).to_bytes() for _ in range(100)]
work = {"context": context, "products": products, "rotations": rotations, "written": written}[sys.argv[1]]
limit = used() + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    work()
except MemoryError as error:
    print("MemoryError", error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS")
@pytest.mark.parametrize("room", [1 << 20, 1 << 25, 50_000_000])
@pytest.mark.parametrize("work", ["context", "products", "rotations", "written"])
def test_a_shortage_of_memory_is_an_error(work: str, room: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY, work, str(room)], capture_output=True, text=True, check=False,
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    assert done.stdout.startswith("MemoryError")
    assert "panicked" not in done.stderr


def test_np_load_is_not_needed(tmp_path: Path) -> None:
    """An object array, whose reading would run code, is refused by its header."""
    file = io.BytesIO()
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "a.npy").write_bytes(file.getvalue())
    with pytest.raises(rs.InputError, match="holds object"):
        read_table(tmp_path / "a.npy")
