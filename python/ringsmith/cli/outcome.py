# SPDX-License-Identifier: Apache-2.0
"""Outcome of a command: its exit status, and its error as one line on stderr. No report shows a variable's value.

`RINGSMITH_TRACEBACK=1` (`--traceback`) adds where an error came from: functions and lines, no values either.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from ringsmith.cli.framework import Abort, ClickException, Exit, UsageError, is_help, message_of
from ringsmith.errors import KernelError, RingsmithError, ToolError
from ringsmith.files import reason

BAD_INPUT = 2
#: A defect of ringsmith itself (EX_SOFTWARE of sysexits.h).
INTERNAL = 70
INTERRUPTED = 130
#: Broken pipe: the status that a shell reports for a process ended by SIGPIPE.
UNREAD = 141
TRACEBACK = "RINGSMITH_TRACEBACK"

_PACKAGE = Path(__file__).resolve().parents[1]


def guarded(command: Callable[[], int]) -> int:
    """Return the status of a command, or of its exception, which is reported in one line."""
    _open_streams()
    threading.excepthook = lambda raised: _tell(raised.exc_value or raised.exc_type())
    sys.unraisablehook = lambda raised: _tell(raised.exc_value or RuntimeError())
    warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
    try:
        status = _finished(command)
        sys.stdout.flush()
    except BaseException as error:
        status = _tell(error)
        _give_up(sys.stdout)
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        _give_up(sys.stderr)
    return status


def _finished(command: Callable[[], int]) -> int:
    """Return the status of a command that came to its end: what it printed is its answer, whatever the status."""
    try:
        return command()
    except Exit as end:
        return end.exit_code


def say(text: str) -> None:
    """Print one line on stderr: what would start another line or steer the terminal is written as an escape."""
    with suppress(OSError, ValueError):
        print("".join(c if c.isprintable() else ascii(c)[1:-1] for c in text), file=sys.stderr, flush=True)


def _open_streams() -> None:
    """Let no file that is opened later take the number of a stream that is closed, and print any name."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _give_up(stream: TextIO) -> None:
    """Discard buffered output that cannot be written, or is no answer: the interpreter must not retry at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _tell(error: BaseException) -> int:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    status, lines = outcome(error)
    for line in lines:
        say(line)
    return status


def outcome(error: BaseException) -> tuple[int, list[str]]:
    """Return the exit status of an exception, and the lines that report it."""
    match error:
        case SystemExit() if isinstance(error.__context__, BrokenPipeError):  # rich's way to say so
            return UNREAD, []
        case SystemExit():
            return error.code if isinstance(error.code, int) else BAD_INPUT, []
        case KernelError() | ToolError():  # The user's own line with a caret; the last lines of a tool.
            return BAD_INPUT, f"error: {error}".splitlines()
        case ClickException() if is_help(error):
            return BAD_INPUT, message_of(error).splitlines()
        case UsageError() if error.ctx is not None:
            return BAD_INPUT, [f"error: {error.ctx.command_path}: {reason(ValueError(message_of(error)))}"]
        case ClickException():
            return BAD_INPUT, [f"error: {message_of(error)}"]
        case RingsmithError():
            return BAD_INPUT, [f"error: {error}"]
        case BrokenPipeError():
            return UNREAD, []
        case KeyboardInterrupt() | Abort():
            return INTERRUPTED, ["interrupted"]
        case MemoryError():
            return BAD_INPUT, [f"error: not enough memory: {reason(error)}"]
        case OSError():
            return BAD_INPUT, [f"error: {f'{error.filename}: ' if error.filename else ''}{reason(error)}"]
    return INTERNAL, [_internal(error)]


def _internal(error: BaseException) -> str:
    own = [f for f in traceback.extract_tb(error.__traceback__) if _PACKAGE in Path(f.filename).parents]
    place = f" at {Path(own[-1].filename).relative_to(_PACKAGE)}:{own[-1].lineno}" if own else ""
    return (
        f"internal error: {type(error).__name__}{place}: {reason(error)}; this is a defect of ringsmith, "
        "not of the input: --traceback shows where"
    )
