# SPDX-License-Identifier: Apache-2.0
"""The rounds of a peer run: which program has run in which of them, and of each row the least disturbed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from table import BATCH

#: A program by its name, and the cores that it runs on.
Step = tuple[str, int]


@dataclass
class Run:
    """A run as far as it has come: `done` has a list of steps for each round, `rows` the best of all rounds.

    It is written after every step, so that one that was stopped goes on with the next. `stopped` has the reason of each
    program that ended without rows.
    """

    machine: str
    rounds: int
    done: list[list[Step]] = field(default_factory=list)
    stopped: dict[str, str] = field(default_factory=dict)
    rows: list[dict] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Run | None:
        """Return what `write` wrote; none where nothing is, or rows of a time when nothing more was kept."""
        kept = json.loads(path.read_text()) if path.exists() else None
        if not isinstance(kept, dict):
            return None
        run = cls(**kept)
        run.done = [[(name, cores) for name, cores in steps] for steps in run.done]
        return run

    def write(self, path: Path) -> None:
        """Write it whole or not at all."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1))
        part.replace(path)

    def missing(self, steps: Iterable[Step]) -> list[tuple[int, Step]]:
        """Return what is still to be done of these steps, by the number of the round from 1 on."""
        steps, done = list(steps), [*self.done, *([] for _ in range(self.rounds - len(self.done)))]
        return [(number, step) for number, past in enumerate(done, 1) for step in steps if step not in past]

    def add(self, number: int, step: Step, rows: list[dict]) -> None:
        """Take the rows of a step of a round; none where it could not run."""
        self.done += [[] for _ in range(number - len(self.done))]
        self.done[number - 1].append(step)
        best: dict[tuple, list[dict]] = {}
        keep_best(best, self.rows)
        keep_best(best, rows)
        self.rows = [row for turns in best.values() for row in turns]


def go_on(run: Run, steps: list[Step], rounds: int, rows_of: Callable[[int, Step], list[dict]], path: Path) -> None:
    """Do what is missing of a run, or as many rounds more where nothing is; it is written after every step."""
    if not run.missing(steps):
        run.rounds += rounds
    for number, step in run.missing(steps):
        run.add(number, step, rows_of(number, step))
        run.write(path)


def keep_best(best: dict[tuple, list[dict]], rows: list[dict]) -> None:
    """Of all rows for the same thing (rounds, splits of the moduli) keep the least disturbed."""
    for turns in taking_turns(rows):
        first = turns[0]
        key = (first["library"], first["operation"], first["n"], tuple(first["moduli_bits"]), first["threads"])
        best[key] = less_disturbed(best.get(key, turns), turns)


def taking_turns(rows: list[dict]) -> list[list[dict]]:
    """The rows that took turns, together: a batch on all threads, and the same on one, which a program prints next."""
    out: list[list[dict]] = []
    for row in rows:
        if row["operation"].endswith(BATCH):
            out[-1].append(row)
        else:
            out.append([row])
    return out


def less_disturbed(a: list[dict], b: list[dict]) -> list[dict]:
    """Of two timings of the same the one with the lower medians; a row is right only if it is in both."""
    lower = min(a, b, key=lambda turns: sum(row["median_us"] for row in turns))
    correct = [x["correct"] and y["correct"] for x, y in zip(a, b, strict=True)]
    return [{**row, "correct": right} for row, right in zip(lower, correct, strict=True)]
