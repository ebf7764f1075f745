# SPDX-License-Identifier: Apache-2.0
"""Run every heavy check whole and write down what ran when: `tools/check_all.py [NAME ...] [--list] [--again]`.

The shortest first, by the last time; a check that passed on this very commit is left out, and so are tests that passed
in `test-hw-full`, so that a run that was stopped goes on where it was; proofs and measurements keep what they have by
themselves. Each writes its words to build/checks/NAME.log and its outcome to
spec/results/checks.toml. Status 0: all passed; 1: one failed; 2: one could not be run here, or a name is none.
"""

from __future__ import annotations

import argparse
import datetime
import os
import runpy
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "spec" / "results" / "checks.toml"
LOGS = ROOT / "build" / "checks"
PROCESSOR = ROOT / "python" / "ringsmith" / "processor.py"
#: The checks: each a target of make, with what it adds to `make test`.
CHECKS = {
    "first-run": "how long a newcomer waits for `make run`",
    "audit": "known vulnerabilities, licences and sources of all that is locked",
    "test-long": "the engine's tests that take minutes: bounds on errors at real degrees",
    "test-simd": "the engine's tests under every instruction set of this processor",
    "test-arm": "the engine's tests on AArch64, under qemu-user",
    "constant-time": "secrets in branches, addresses and times",
    "sanitize": "AddressSanitizer, ThreadSanitizer, Miri",
    "fuzz": "every decoder for a minute",
    "prove": "proofs of the RTL, and their planted mistakes",
    "test-hw-full": "every test marked slow, every width, degree and preset",
    "claims": "every figure that is older than today's sources, measured again",
}
PASSED, FAILED, NOT_RUN = "passed", "failed", "could not be run"
_HEADER = """\
# SPDX-License-Identifier: Apache-2.0
#
# What ran when, written by `make check-all`: the last run of each heavy check, whole.
"""


@dataclass(frozen=True)
class Ran:
    """The last run of a check: its commit (with a + where files were changed), how it ended, where, how long."""

    commit: str
    date: str
    outcome: str
    seconds: int
    on: str


def stored(path: Path) -> dict[str, Ran]:
    """Return the last run of each check."""
    entries = tomllib.loads(path.read_text()) if path.exists() else {}
    return {name: Ran(**entry) for name, entry in entries.items() if name in CHECKS}


def save(path: Path, runs: Mapping[str, Ran]) -> None:
    """Write them in the order of the checks, whole or not at all."""
    text = _HEADER
    for name in CHECKS:
        if name in runs:
            lines = (f"{key} = {_shown(value)}" for key, value in asdict(runs[name]).items())
            text += "\n" + "\n".join([f"[{name}]", *lines]) + "\n"
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)


def _shown(value: str | int) -> str:
    return str(value) if isinstance(value, int) else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def commit() -> str:
    """The commit that is checked out; a + behind it says that files were changed since, the store apart."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"check-all: what runs is written down by its commit: {done.stderr.strip()}", file=sys.stderr)
            sys.exit(2)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", ".", f":!{STORE.relative_to(ROOT).as_posix()}")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def machine() -> str:
    """The processor and how many of its cores a check may use."""
    # By its file: the package itself needs more than the Python that runs this has.
    name = runpy.run_path(str(PROCESSOR))["processor_name"]()
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def order(names: list[str], runs: Mapping[str, Ran]) -> list[str]:
    """The checks by the time that they took last; those that never ran stay behind them as they stand in the list."""
    return sorted(names, key=lambda name: runs[name].seconds if name in runs else sys.maxsize)


def run(name: str, here: str, *, again: bool = False) -> Ran:
    """Run a check, its words in its log; an interrupt ends all that it started.

    Tests of pytest that passed on this commit are in a file (see conftest.py) and are left out, unless it runs `again`.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    passed = LOGS / f"{name}-{here}.passed"
    if again or here.endswith("+"):
        passed.unlink(missing_ok=True)
    started = time.monotonic()
    with (LOGS / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            ["make", "--no-print-directory", name],
            cwd=ROOT,
            env={**os.environ, "RINGSMITH_PASSED": str(passed)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait()
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    if status < 0:
        # Killed from outside: that says nothing of the commit.
        raise KeyboardInterrupt
    # make turns each failure into its own 2 and says what the recipe's was.
    text = (LOGS / f"{name}.log").read_text(errors="replace")
    outcome = PASSED if status == 0 else NOT_RUN if f"{name}] Error 2" in text else FAILED
    today = datetime.date.today().isoformat()
    return Ran(here, today, outcome, round(time.monotonic() - started), machine())


def table(runs: Mapping[str, Ran]) -> str:
    """What ran when, a line a check."""
    lines = []
    for name, what in CHECKS.items():
        ran = runs.get(name)
        last = f"{ran.outcome} on {ran.commit}, {ran.date}, {ran.seconds} s, {ran.on}" if ran else "has not run"
        lines.append(f"{name:14} {what}\n{'':14} {last}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run what is asked; the exit status as above."""
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="make check-all", description=about, epilog=more)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"checks to run, all without: {', '.join(CHECKS)}")
    parser.add_argument("--list", action="store_true", help="run nothing; print the last run of each")
    parser.add_argument("--again", action="store_true", help="run also what passed on this commit")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.names if name not in CHECKS]:
        parser.error(f"no check is named {unknown[0]!r}: {', '.join(CHECKS)}")
    runs, here = stored(STORE), commit()
    if asked.list:
        print(table(runs), flush=True)
        return 0
    wanted = order(asked.names or list(CHECKS), runs)
    for number, name in enumerate(wanted, 1):
        last = runs.get(name)
        if last and last.outcome == PASSED and last.commit == here and not here.endswith("+") and not asked.again:
            print(f"check-all: {number} of {len(wanted)}, {name}: passed on this commit, {last.date}")
            continue
        took = f", {last.seconds} s the last time" if last else ""
        print(f"check-all: {number} of {len(wanted)}, {name}{took} (build/checks/{name}.log)", flush=True)
        runs[name] = run(name, here, again=asked.again)
        save(STORE, runs)
        print(f"check-all: {name}: {runs[name].outcome}, {runs[name].seconds} s", flush=True)
    print(table(runs), flush=True)
    outcomes = {runs[name].outcome for name in wanted}
    return 1 if FAILED in outcomes else 2 if NOT_RUN in outcomes else 0


if __name__ == "__main__":
    # A kill ends what was started as an interrupt does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Who reads has seen enough; what is left to print goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
