# SPDX-License-Identifier: Apache-2.0
"""Where the files of a workload lie, in the folders that the repositories of fhe-benchmarking agree on.

Stages and harness run in the workload's root, which holds `datasets`, `io` and `measurements`, each with a folder for
each size. A stage gets its size as its first argument, as the workload's own harness gives it: a name or a number.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from ringsmith.errors import RingsmithError


@dataclass(frozen=True)
class Folders:
    """The folders of one size of a workload, below its root; `counted` is set where only matches are counted."""

    size: str
    root: Path = field(default_factory=Path)
    counted: bool = False

    @property
    def data(self) -> Path:
        """Inputs in the clear and the expected answer, which only the client's and the harness's programs read."""
        return self.root / "datasets" / self.size

    @property
    def io(self) -> Path:
        """What client and server hand over, and the client's own files."""
        return self.root / "io" / self.size

    @property
    def keys(self) -> Path:
        """Programs and evaluation keys, for the server."""
        return self.io / "public_keys"

    @property
    def secret(self) -> Path:
        """The client's secret keys."""
        return self.io / "secret_key"

    @property
    def upload(self) -> Path:
        """Ciphertexts for the server."""
        return self.io / "ciphertexts_upload"

    @property
    def download(self) -> Path:
        """Ciphertexts for the client."""
        return self.io / "ciphertexts_download"

    @property
    def between(self) -> Path:
        """What one stage of the client leaves for its next one."""
        return self.io / "intermediate"

    @property
    def prepared(self) -> Path:
        """What the server's preparation leaves for its evaluation."""
        return self.io / "server"

    @property
    def measurements(self) -> Path:
        """The figures of each run."""
        return self.root / "measurements" / (f"count_{self.size}" if self.counted else self.size)


@contextmanager
def stage(sizes: Mapping[str, str]) -> Iterator[Folders]:
    """Enter with the folders of the size that this stage was called with: `sizes` gives its name for each argument.

    Other arguments than `--count_only` are the harness's own and are passed over. What is wrong with a file or an
    argument ends the stage with one line and status 2.
    """
    given = sys.argv[1] if len(sys.argv) > 1 else ""
    name = Path(sys.argv[0]).name
    if given not in sizes:
        refuse(f"{name}: size {given!r}: one of {', '.join(sizes)}")
    folders = Folders(sizes[given], counted="--count_only" in sys.argv[2:])
    if not folders.data.is_dir():
        refuse(
            f"{name}: no folder {folders.data}: start stages in the workload's root, where the harness made its data"
        )
    for folder in (folders.keys, folders.secret, folders.upload, folders.download, folders.between, folders.prepared):
        folder.mkdir(parents=True, exist_ok=True)
    folders.secret.chmod(0o700)
    try:
        yield folders
    except (RingsmithError, OSError) as error:
        refuse(f"{name}: {error}")


def refuse(line: str) -> NoReturn:
    """End the stage with one line."""
    print(line, file=sys.stderr)
    sys.exit(2)


def threads() -> int:
    """Threads of the server, from the environment (default 2)."""
    return int(os.environ.get("BENCHMARK_THREADS", "2"))


class Steps:
    """Seconds of the parts of the server's stage, written for the harness as `server_reported_steps.json`.

    Beside those that pass stand those of the processors, all threads together, which other work on the machine hardly
    lengthens.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Add the seconds of this block to those of `name`."""
        begin = time.perf_counter(), time.process_time()
        yield
        spent = time.perf_counter() - begin[0], time.process_time() - begin[1]
        for kind, seconds in zip((name, f"{name} (processors)"), spent, strict=True):
            self.seconds[kind] = self.seconds.get(kind, 0.0) + seconds

    def again(self, call: Callable[[], object]) -> None:
        """Add the least seconds of as many further evaluations of a message as the harness asks for.

        That is what a server takes which has served: the first evaluation of a process makes tables and starts threads.
        Other work on the machine disturbs any one, so the least counts.
        """
        calls = [Steps() for _ in range(int(os.environ.get("BENCHMARK_AGAIN", "0")))]
        for found in calls:
            with found.step("One message, again"):
                call()
        for kind in calls[0].seconds if calls else ():
            self.seconds[kind] = min(found.seconds[kind] for found in calls)

    def write(self, folders: Folders) -> None:
        """Write them where the harness looks."""
        rounded = {name: round(seconds, 6) for name, seconds in self.seconds.items()}
        (folders.io / "server_reported_steps.json").write_text(json.dumps(rounded), "utf-8")
