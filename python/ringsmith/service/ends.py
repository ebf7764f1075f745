# SPDX-License-Identifier: Apache-2.0
"""Ends of jobs as the store keeps them."""

from __future__ import annotations

import json
import time

from ringsmith.service.files import own_name
from ringsmith.service.job import Job
from ringsmith.service.kinds import RESULT
from ringsmith.service.pool import Lost
from ringsmith.service.rows import Blob, End
from ringsmith.service.worker import Done, Failed, Outcomes


def end_of(job: Job, outcome: Done | Failed, outcomes: Outcomes | Lost) -> End:
    """Return a job's end as the store keeps it."""
    if isinstance(outcome, Failed):
        return End(job.row, "failed", json.dumps({"code": outcome.code, "message": outcome.message}))
    assert not isinstance(outcome.result, tuple), "a result that was not copied"
    assert isinstance(outcomes, Outcomes), "a result of a worker that was lost"
    report = {
        "warm_keys": outcomes.warm,
        "load_seconds": outcomes.load_seconds,
        "run_seconds": outcome.run_seconds,
        "operations": {name: round(seconds, 6) for name, seconds in outcome.operations.items()},
        "worker_memory": outcomes.memory,
        "wait_seconds": (job.started or time.time()) - job.row.created,
    }
    blob = Blob(own_name(), RESULT, outcome.size, outcomes.facts)
    return End(job.row, "done", None, (blob, outcome.result), json.dumps(report))
