# SPDX-License-Identifier: Apache-2.0
"""Whatever goes wrong: one line on stderr, a documented status, and no value of any variable."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ringsmith.cli.framework import Abort, Exit, UsageError
from ringsmith.cli.outcome import guarded
from ringsmith.errors import InputError, KernelError, ToolError
from ringsmith.location import Location

SECRETS = ("4711.25", "swordfish", "0xdeadbeef")
# Breaks the compiler of kernels while rows, a seed and a key are local variables of several frames.
CRASH = """
import sys
from ringsmith.runtime import runner
def broken(kernel, shapes, encryption, tower_bits):
    rows, seed, key = [4711.25] * 3, "swordfish", "0xdeadbeef"
    {crash}
runner.compile_kernel = broken
from ringsmith.cli import main
sys.argv = ["ringsmith", *sys.argv[1:]]
main()
"""
KERNEL = """
import ringsmith as rs
@rs.kernel(x=rs.Encrypted(3, bound=5000), tolerance=1e-3)
def score(x):
    return 2 * x
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "rows.csv").write_text("4711.25,4711.25,4711.25\n")
    return tmp_path


def crashed(folder: Path, crash: str, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CRASH.format(crash=crash), "run", "kernel.py", "--input", "rows.csv"]
    return subprocess.run(
        [*command, "--seed", "swordfish", *more], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "RINGSMITH_TRACEBACK": "", **environment},
    )  # fmt: skip


CRASHES = {
    "own": "return rows.nonsense",
    "deep": "def again(): return again()\n    again()",
    "worker": "from concurrent.futures import ThreadPoolExecutor\n"
    "    with ThreadPoolExecutor(2) as pool: list(pool.map(lambda seed: seed[rows], [key]))",
    # The level of instructions is looked at again when the engine is used first: a true panic of the native module.
    "panic": "import os; os.environ['RINGSMITH_SIMD'] = 'sse9'; from ringsmith import _native\n"
    "    _native.BfvContext(n=1024, moduli=[12289], special=[], plain_modulus=257)",
}


@pytest.mark.parametrize("crash", CRASHES.values(), ids=CRASHES)
def test_a_defect_is_one_line_without_values(files: Path, crash: str) -> None:
    done = crashed(files, crash)
    assert done.returncode == 70
    assert done.stdout == ""
    warning, error = done.stderr.splitlines()
    assert warning.startswith("warning: --seed with --input")
    assert error.startswith("internal error: ")
    assert not any(secret in done.stderr for secret in SECRETS)


@pytest.mark.parametrize("how", [("--traceback",), {"RINGSMITH_TRACEBACK": "1"}])
@pytest.mark.parametrize("crash", CRASHES.values(), ids=CRASHES)
def test_a_traceback_shows_lines_and_still_no_values(files: Path, crash: str, how: Any) -> None:
    done = crashed(files, crash, *how) if isinstance(how, tuple) else crashed(files, crash, **how)
    assert done.returncode == 70
    assert "Traceback (most recent call last)" in done.stderr
    assert "in broken" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("internal error: ")
    assert not any(secret in done.stderr for secret in SECRETS)


def test_a_mistake_in_the_kernel_file_stays_the_users(files: Path) -> None:
    (files / "kernel.py").write_text(KERNEL.replace("2 * x", "x.nonsense"))
    command = [sys.executable, "-m", "ringsmith", "run", "kernel.py"]
    done = subprocess.run(command, cwd=files, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith("error: kernel.py:5: ")
    done = subprocess.run([*command, "--traceback"], cwd=files, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" in done.stderr


@pytest.mark.parametrize("words", [["srve"], ["shwo", "tiny"], ["explor"]])
def test_a_mistyped_command_is_hinted_at_once(words: list[str]) -> None:
    command = [sys.executable, "-m", "ringsmith", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.count("Did you mean") == 1


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """`guarded` is for a process of its own: give back what it replaces."""
    import warnings

    for owner, name in ((threading, "excepthook"), (sys, "unraisablehook"), (warnings, "showwarning")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.delenv("RINGSMITH_TRACEBACK", raising=False)


def raising(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


@pytest.mark.usefixtures("hooks")
@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (InputError("x\ny\x1b[31m\u202e\x00"), 2, "error: x\\ny\\x1b[31m\\u202e\\x00\n"),
        (InputError("na\udcffme ü"), 2, "error: na\\udcffme ü\n"),
        (KernelError("no", Location(__file__, 3, 0, 0)), 2, None),
        (ToolError("yosys failed:\nlast\nlines"), 2, "error: yosys failed:\nlast\nlines\n"),
        (UsageError("no such\noption"), 2, "error: no such\\noption\n"),
        (OSError(28, "No space left on device", "out.csv"), 2, "error: out.csv: No space left on device\n"),
        (PermissionError(13, "Permission denied"), 2, "error: Permission denied\n"),
        (MemoryError(), 2, "error: not enough memory: MemoryError\n"),
        (MemoryError("Unable to allocate 1 TiB\nfor x"), 2, "error: not enough memory: Unable to allocate 1 TiB\n"),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (Abort(), 130, "interrupted\n"),
        (Exit(1), 1, ""),
        (SystemExit(3), 3, ""),
    ],
)
def test_statuses(capsys: pytest.CaptureFixture[str], error: BaseException, status: int, said: str | None) -> None:
    assert guarded(raising(error)) == status
    assert said in (None, capsys.readouterr().err)


@pytest.mark.usefixtures("hooks")
@pytest.mark.parametrize("error", [ValueError("a\nb" * 500), RecursionError(), AssertionError(), BaseException("x")])
def test_anything_else_is_a_defect(capsys: pytest.CaptureFixture[str], error: BaseException) -> None:
    assert guarded(raising(error)) == 70
    text = capsys.readouterr().err
    assert len(text.splitlines()) == 1
    assert text.startswith(f"internal error: {type(error).__name__}")
    assert len(text) < 400


@pytest.mark.usefixtures("hooks")
def test_an_error_that_no_one_waits_for_is_one_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    class Bad:
        def __del__(self) -> None:
            raise ValueError("two\nlines")

    def command() -> int:
        thread = threading.Thread(target=raising(ValueError("two\nlines")))
        thread.start()
        thread.join()
        Bad()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(raising(ValueError("never asked for")))
        return 0

    assert guarded(command) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all("internal error: ValueError" in line and "two" in line for line in lines)


def test_an_interrupt_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "ringsmith", "run", str(tmp_path / "slow.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        assert child.stderr.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (130, "", "interrupted\n")


def shell(command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RINGSMITH": f"{sys.executable} -m ringsmith", "RINGSMITH_TRACEBACK": ""}
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(
    ("command", "status", "lines"),
    [
        ("$RINGSMITH claims --json | true; exit ${PIPESTATUS[0]}", 141, 0),
        ("$RINGSMITH claims | true; exit ${PIPESTATUS[0]}", 141, 0),
        ("$RINGSMITH --help | true; exit ${PIPESTATUS[0]}", 141, 0),
        ("$RINGSMITH claims >/dev/full", 2, 1),
        ("$RINGSMITH claims --json >/dev/full", 2, 1),
        ("$RINGSMITH claims >&-", 0, 0),
        ("$RINGSMITH claims --paper none 2>&-", 2, 0),
        ("$RINGSMITH claims --paper none 2>/dev/full", 2, 0),
        ("$RINGSMITH claims --paper none >&- 2>&- <&-", 2, 0),
        ("PYTHONIOENCODING=ascii $RINGSMITH claims", 0, 0),
        ("LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 $RINGSMITH --help", 0, 0),
    ],
)
def test_streams_that_fail(command: str, status: int, lines: int) -> None:
    done = shell(command)
    assert (done.returncode, len(done.stderr.splitlines())) == (status, lines), done.stderr


def test_the_help_tells_the_statuses() -> None:
    shown = " ".join(shell("$RINGSMITH --help").stdout.split())
    for words in ("0 right", "1 the answer is wrong", "2 the input", "70 a defect", "130 interrupted", "--traceback"):
        assert words in shown


@pytest.mark.parametrize("status", [0, 1])
def test_what_a_command_printed_is_read_whatever_its_status(status: int) -> None:
    source = f"""
import sys, typer
from ringsmith.cli.outcome import guarded
def command():
    print("answer")
    raise typer.Exit({status})
sys.exit(guarded(command))
"""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False, env=buffered)
    assert (done.returncode, done.stdout, done.stderr) == (status, "answer\n", "")
