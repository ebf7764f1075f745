# SPDX-License-Identifier: Apache-2.0
"""Cost of a job, before it starts: from its program's own cost, and this server's measured speed."""

from __future__ import annotations

from ringsmith.service.kinds import Facts
from ringsmith.service.problems import Problem
from ringsmith.service.settings import Quota

#: Seconds a butterfly takes on one core, at first; jobs that ran teach better.
_FIRST = 2e-9
#: Programs whose last runs are remembered at most.
_REMEMBERED = 4096
#: Jobs shorter than this are mostly overhead and teach nothing of long ones.
_TELLING = 0.05
#: Ciphertexts beyond the walk in program order that each thread may have begun.
_AHEAD = 8


class Speed:
    """Seconds of a run for its work, and of the runs of each program."""

    def __init__(self, threads: int) -> None:
        """Start with a guess."""
        self.per_unit = _FIRST / threads
        self._runs: dict[bytes, float] = {}

    def seconds(self, work: int) -> float:
        """Return how long that work takes, about."""
        return work * self.per_unit

    def run(self, program: bytes, work: int) -> float:
        """Return how long a run of a program takes: as long as its last ones."""
        return self._runs.get(program) or self.seconds(work)

    def learn(self, program: bytes, work: int, seconds: float) -> None:
        """Remember how long a run took, the newest with a weight of a tenth."""
        if len(self._runs) >= _REMEMBERED:
            self._runs.clear()
        before = self._runs.get(program, seconds)
        self._runs[program] = before + 0.1 * (seconds - before)
        if seconds >= _TELLING and work:
            self.per_unit += 0.1 * (seconds / work - self.per_unit)


def memory(program: Facts, threads: int) -> int:
    """Return the bytes that a run takes beside its keys."""
    cost = program["cost"]
    return int(cost["memory"]) + (threads > 1) * threads * _AHEAD * int(cost["ciphertext"])


def held(program: Facts, keys: int, threads: int, limit: int) -> tuple[int, int]:
    """Return the bytes that a program takes in a worker's memory, and what evaluation keys of `keys` bytes take.

    A program keeps its tables and what its runs took for scratch; its tenants share it. Keys stay as they came too.
    Beyond the `limit` of a worker the keys of refreshes take less, as far as their halves can be grown at each use.
    """
    loaded = int(program["cost"]["keys"])
    own = int(program["session"]) - loaded + memory(program, threads)
    beyond = max(own + loaded + keys - limit, 0)
    return own, loaded + keys - min(beyond, int(program.get("key_spare", 0)))


def check(program: Facts, key_bytes: int, quota: Quota, key_limit: int, threads: int, speed: Speed) -> None:
    """Refuse a job that takes more than a tenant, or a worker, may have."""
    needed = memory(program, threads)
    if needed > quota.memory:
        raise Problem("over_quota", f"the job takes about {needed} bytes of memory; {quota.memory} are granted")
    if key_bytes > key_limit:
        raise Problem("over_quota", f"its keys take about {key_bytes} bytes when loaded; a worker holds {key_limit}")
    seconds = speed.seconds(int(program["cost"]["work"]))
    if seconds > quota.seconds:
        raise Problem("over_quota", f"the job takes about {seconds:.0f} seconds; {quota.seconds:g} are granted")
