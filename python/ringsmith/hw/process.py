# SPDX-License-Identifier: Apache-2.0
"""Child processes of the flow: logged, killed as a group on interrupt, with progress lines on stderr."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ringsmith.errors import ToolError

TAIL_LINES = 30


@dataclass(frozen=True)
class Finished:
    """Outcome of a child process: exit status, merged stdout and stderr, wall seconds."""

    status: int
    output: str
    seconds: float

    def tail(self) -> str:
        """The last lines of the output, for an error message."""
        return "\n".join(self.output.splitlines()[-TAIL_LINES:])


def say(text: str) -> None:
    """Print one progress line on stderr."""
    print(text, file=sys.stderr, flush=True)


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    log: Path | None = None,
) -> Finished:
    """Run a command to its end; its output also goes to `log`. Raises ToolError if it cannot start or times out.

    The command and all it started die with the time limit, an interrupt, or a request to terminate this process.
    """
    with terminate_as_interrupt():
        return _run([str(part) for part in command], cwd, env, timeout_s, log)


@contextmanager
def terminate_as_interrupt() -> Iterator[None]:
    """Let SIGTERM unwind the main thread as SIGINT does, so that the children are killed on the way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(
    argv: list[str], cwd: Path | None, env: Mapping[str, str] | None, timeout_s: float | None, log: Path | None
) -> Finished:
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**os.environ, **env} if env else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"cannot start {argv[0]}: {error.strerror}") from None
    try:
        output, _ = child.communicate(timeout=timeout_s)
    except BaseException as error:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise ToolError(f"{Path(argv[0]).name} did not finish within {timeout_s:g} s") from None
        raise
    if log is not None:
        log.write_text(f"$ {' '.join(argv)}\n{output}")
    return Finished(child.returncode, output, time.monotonic() - started)


def checked(what: str, finished: Finished, *, ok: Callable[[Finished], bool] = lambda f: f.status == 0) -> Finished:
    """Pass a good outcome on; raise ToolError with the tail of the output otherwise."""
    if not ok(finished):
        raise ToolError(f"{what} failed (exit status {finished.status}):\n{finished.tail()}")
    return finished
