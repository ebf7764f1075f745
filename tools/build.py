# SPDX-License-Identifier: Apache-2.0
"""Compile the engine into .venv: `python tools/build.py`, from any folder.

On a terminal one line says how many crates are done, which are being compiled and, the first time, how long the rest
takes; elsewhere a line every half minute says the same. All that the compiler prints is in build/build.log; if it
fails, the end of that is shown, and the status is the compiler's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / "build" / "build.log"
COMMAND = [str(ROOT / ".venv/bin/maturin"), "develop", "--release", "--locked"]
#: Share of the first build's time in percent, for crates with more than two (`cargo build --timings`); the others share
#: the rest evenly.
SHARE = {
    "ringsmith-rlwe": 20,
    "ringsmith-ntt": 16,
    "ringsmith-ckks": 12,
    "ringsmith-program": 6,
    "ringsmith-bfv": 4,
    "ringsmith-backend": 4,
    "ringsmith-python": 4,
    "ringsmith-rns": 3,
    "syn": 3,
    "pyo3": 3,
    "ringsmith-offload": 2,
    "zerocopy": 2,
    "pyo3-macros-backend": 2,
}
BAR = re.compile(r"Building \[[=> ]*\] (\d+)/(\d+)(?:: (.*))?")
LINES_EVERY_S = 30.0


class Build:
    """How far the compiler is, read from what it prints."""

    def __init__(self, first: bool) -> None:
        """Begin now; `first`: nothing is compiled yet, so that the time left can be told."""
        self.first = first
        self.started = time.monotonic()
        self.done, self.total = 0, 0
        self.now: list[str] = []
        self.seen: set[str] = set()

    def read(self, line: str) -> None:
        """Take a line of the compiler, a progress bar or what it begins with."""
        if found := re.search(r"Compiling (\S+) v", line):
            self.seen.add(found[1])
        if found := BAR.search(line):
            self.done, self.total = int(found[1]), int(found[2])
            self.now = [name.split("(")[0].strip(" .") for name in (found[3] or "").split(",")]

    def share_done(self) -> float:
        """The share of the whole work that is done, 0 to 1."""
        finished = self.seen - set(self.now)
        heavy = sum(SHARE.get(name, 0) for name in finished)
        small = max(0, self.done - len(finished & SHARE.keys())) / max(1, self.total - len(SHARE))
        return (heavy + small * (100 - sum(SHARE.values()))) / 100

    def __str__(self) -> str:
        """The line for the terminal."""
        seconds = time.monotonic() - self.started
        text = f"build: compiling the engine, {seconds:.0f} s"
        if self.total:
            text += f", crate {self.done} of {self.total}"
        share = self.share_done()
        if self.first and share > 0.1:
            text += f", about {seconds * (1 - share) / share:.0f} s left"
        return text + (f" ({', '.join(name for name in self.now if name)})" if any(self.now) else "")


def show(build: Build, finished: threading.Event) -> None:
    """Print where the build is until it ends."""
    if not sys.stdout.isatty():
        print("build: compiling the engine (some minutes the first time)", flush=True)
        while not finished.wait(LINES_EVERY_S):
            print(build, flush=True)
        return
    while not finished.wait(0.5):
        print(f"\r\033[K{str(build)[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)
    print("\r\033[K", end="", flush=True)


def compile_engine(build: Build) -> int:
    """Run the compiler, its words in the log; its status."""
    LOG.parent.mkdir(exist_ok=True)
    settings = {"CARGO_TERM_PROGRESS_WHEN": "always", "CARGO_TERM_PROGRESS_WIDTH": "120", "CARGO_TERM_COLOR": "never"}
    with LOG.open("w") as log, subprocess.Popen(
        COMMAND, cwd=ROOT, env=os.environ | settings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:  # universal newlines: the bar's carriage returns end lines too
            build.read(line)
            if not BAR.search(line):
                log.write(line)
    return process.returncode


def main() -> int:
    """Compile, and say how it went."""
    build, finished = Build(first=not (ROOT / "target/release").exists()), threading.Event()
    shown = threading.Thread(target=show, args=(build, finished))
    shown.start()
    try:
        status = compile_engine(build)
    except KeyboardInterrupt:
        status = 130
    finally:
        finished.set()
        shown.join()
    seconds = time.monotonic() - build.started
    if status == 0:
        print(f"build: the engine is compiled, {seconds:.0f} s")
    elif status != 130:
        print(f"build: failed with status {status} after {seconds:.0f} s; the end of {LOG.relative_to(ROOT)}:")
        print("".join(LOG.read_text().splitlines(keepends=True)[-40:]), end="")
    return status


if __name__ == "__main__":
    sys.exit(main())
