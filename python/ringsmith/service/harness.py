# SPDX-License-Identifier: Apache-2.0
"""A server as a process of its own, for tests and benchmarks: on a free port, stopped, killed, started again."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import IO, Any, Self

from ringsmith.service import tenants
from ringsmith.service.database import connect
from ringsmith.service.settings import Settings

_CODE = """
import pickle, sys
from ringsmith.service.serve import serve
serve(pickle.loads(bytes.fromhex(sys.argv[1])))
"""


class Running:
    """One server; `log` has its lines."""

    def __init__(self, store: Path, *, preamble: str = "", **settings: Any) -> None:
        """Start it. `preamble`: code that the process runs first, such as a limit it sets itself."""
        store.mkdir(parents=True, exist_ok=True)
        self.settings = Settings(store, port=0, **settings)
        self._preamble = preamble
        self.log: list[dict[str, Any]] = []
        self.start()

    def start(self) -> None:
        """Start the process and wait until it listens."""
        command = [sys.executable, "-c", self._preamble + _CODE, pickle.dumps(self.settings).hex()]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        # Its own event: the reader of a process before may still be there, as long as a worker has the other end.
        listening, self.url = threading.Event(), ""
        self._reader = threading.Thread(target=self._read, args=(self.process.stderr, listening), daemon=True)
        self._reader.start()
        listening.wait(120)
        if not self.url:
            status = self.process.poll()
            self.process.kill()
            how = "within 120 s" if status is None else f"(status {status})"
            raise RuntimeError(f"the server did not start {how}: {self.log[-3:]}")

    def _read(self, lines: IO[str], listening: threading.Event) -> None:
        for line in lines:
            try:
                told = json.loads(line)
            except ValueError:
                told = {"event": "text", "text": line.rstrip()}
            self.log.append(told)
            if told["event"] == "serving":
                self.url = told["url"]
                listening.set()
        listening.set()

    def tenant(self, name: str) -> str:
        """Add a tenant and return its API key."""
        with closing(connect(self.settings.database)) as connection:
            return tenants.add(connection, name)

    def workers(self) -> list[int]:
        """Return the process numbers of the workers."""
        found = subprocess.run(
            ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(self.process.pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        return [int(line.split()[0]) for line in found.stdout.splitlines() if "spawn_main" in line]

    def memory(self) -> int:
        """Return the bytes that the server and its workers have in memory."""
        total = 0
        for process in [self.process.pid, *self.workers()]:
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                total += int(line.split()[1]) * 1024 if line.startswith("Pss:") else 0
        return total

    def kill(self) -> None:
        """End the process as the kernel would: nothing more of it runs."""
        self.process.kill()
        self._end()

    def stop(self) -> int:
        """Ask the process to end and return its status."""
        self.process.send_signal(signal.SIGTERM)
        return self._end()

    def _end(self) -> int:
        status = self.process.wait(60)
        self._reader.join(10)
        return status

    def __enter__(self) -> Self:
        """Use as a context."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it if it runs."""
        if self.process.poll() is None:
            self.stop()


def alive(process: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
