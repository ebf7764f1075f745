# SPDX-License-Identifier: Apache-2.0
"""The server of `bench/resnet20.py`, a process of its own: it has what a client sends, and no secret key.

    python bench/resnet20_server.py FOLDER --threads 1 [--resume]

Reads `program`, `keys`, `sent-0`, `sent-1`, ... of the folder; leaves `result-0`, ... there, and in `report-0.json`
and so on the seconds of each part of a run (from one refresh to the next), of each kind of operation, and the most
memory it took so far; `report.json` has what is of all images. With `--resume` images that have a result are left out,
and the one that a killed run was at goes on from its last refresh.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import ringsmith as rs
from ringsmith.runtime.messages import Encryptions, Keys


class Parts:
    """Notes what each part of a run took, and says it on standard error; a part ends with a refresh."""

    def __init__(self, program: rs.Program) -> None:
        """Begin the clock."""
        steps = [line for line in program.native.listing().splitlines() if line.startswith("%")]
        made = [line for line in steps if line.split()[2] != "input"]
        self._ends = [number for number, line in enumerate(made, 1) if line.split()[2] == "bootstrap"] + [len(made)]
        self._start = self._last = time.perf_counter()
        self._done = 0
        self.rows: list[dict[str, float]] = []

    def __call__(self, done: int, total: int) -> None:
        """Take note of what is done, of how many steps. The first part has the steps of the state of an earlier run."""
        while len(self.rows) < len(self._ends) and done >= self._ends[len(self.rows)]:
            now = time.perf_counter()
            self.rows.append({"steps": done - self._done, "seconds": now - self._last})
            told = f"part {len(self.rows)} of {len(self._ends)}, {done} of {total} steps"
            print(f"{told}: {now - self._last:.1f} s, {now - self._start:.1f} s in all", file=sys.stderr, flush=True)
            self._last, self._done = now, done


def peak() -> int:
    """Return the most bytes that this process has taken: getrusage would count its parent's from before it began."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def serve(folder: Path, threads: int, resume: bool, insecure: bool) -> dict[str, Any]:
    """Evaluate all that was sent, or all that has no result yet; return what it took to begin."""
    start = time.perf_counter()
    data = (folder / "program").read_bytes()
    program = rs.Program.from_bytes(data, allow_insecure=insecure)
    del data
    read = time.perf_counter()
    server = program.server(Keys.from_bytes((folder / "keys").read_bytes()), threads=threads)
    # What was sent is not needed beside the keys that were made of it.
    del server.keys
    report = {
        "program_seconds": read - start, "load_seconds": time.perf_counter() - read, "load_peak_bytes": peak(),
    }  # fmt: skip
    images = len(list(folder.glob("sent-*")))
    for number in range(images):
        result = folder / f"result-{number}"
        if resume and result.exists():
            continue
        print(f"image {number + 1} of {images}", file=sys.stderr, flush=True)
        sent, parts = Encryptions.from_bytes((folder / f"sent-{number}").read_bytes()), Parts(program)
        start = time.perf_counter()
        done = server.run(sent, {}, progress=parts, state=str(folder / "state") if resume else None)
        seconds = time.perf_counter() - start
        took = {"seconds": seconds, "parts": parts.rows, "kinds": done.seconds, "peak_bytes": peak()}
        (folder / f"report-{number}.json").write_text(json.dumps(took))
        done.result.save(result)
    return report


def main() -> None:
    """Serve what is in a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="go on with what a killed run left in the folder")
    parser.add_argument("--allow-insecure", action="store_true", help="for tests: a set that is not secure")
    given = parser.parse_args()
    report = serve(given.folder, given.threads, given.resume, given.allow_insecure)
    (given.folder / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main()
