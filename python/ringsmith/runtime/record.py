# SPDX-License-Identifier: Apache-2.0
"""`--on record:FILE`: a run on this processor that writes down what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ringsmith.errors import InputError
from ringsmith.runtime.engine import Engine, EngineOptions
from ringsmith.runtime.recording import Recording


class Recorder:
    """The engine that records."""

    name = "record"
    device = None

    def __init__(self, recording: Recording) -> None:
        """Record to a place that was checked."""
        self.recording = recording

    def report(self, seconds: float) -> dict[str, Any]:
        """Return the files that were written."""
        return {"recorded": [str(path) for path in self.recording.paths]}


def open_recorder(place: str, options: EngineOptions) -> Engine:
    """Return the engine that writes to a new file."""
    if not place:
        raise InputError("--on record needs a file to write: record:FILE")
    if options.overrides or options.trace is not None:
        raise InputError("the engine record takes no --set and no --trace")
    recording = Recording(Path(place), bool(options.extra.get("polynomial")))
    recording.check()
    return Recorder(recording)
