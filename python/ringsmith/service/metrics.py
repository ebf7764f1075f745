# SPDX-License-Identifier: Apache-2.0
"""Prometheus metrics: counts and sizes of the whole server, no tenant, no name of anything."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)


#: The states that a job ends in.
ENDED = ("done", "failed", "cancelled")


class _Durations(Collector):
    """A histogram to which adding costs next to nothing: of one thread, made up when it is asked for."""

    def __init__(self, name: str, text: str, registry: CollectorRegistry) -> None:
        self._name, self._text = name, text
        self._counts, self._sum = [0] * (len(_SECONDS) + 1), 0.0
        registry.register(self)

    def add(self, seconds: float, count: int) -> None:
        self._counts[bisect_left(_SECONDS, seconds)] += count
        self._sum += seconds * count

    def collect(self) -> Iterator[Metric]:
        bounds = [*map(str, _SECONDS), "+Inf"]
        buckets = list(zip(bounds, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(self._name, self._text, buckets, self._sum)


class Metrics:
    """One server's."""

    def __init__(self) -> None:
        """Start at zero."""
        registry = self.registry = CollectorRegistry()
        self.requests = Counter(
            "ringsmith_requests", "Requests answered", ["method", "route", "status"], registry=registry
        )
        self.request_seconds = Histogram(
            "ringsmith_request_seconds", "Time to answer a request", ["route"], buckets=_SECONDS, registry=registry
        )
        self.jobs = Counter("ringsmith_jobs", "Jobs that ended", ["state"], registry=registry)
        self._of_state = {state: self.jobs.labels(state) for state in ENDED}
        self._job_seconds = _Durations("ringsmith_job_seconds", "From submission to end", registry)
        self.key_loads = Counter("ringsmith_key_uses", "Jobs by whether keys were held", ["keys"], registry=registry)
        self.worker_deaths = Counter("ringsmith_worker_deaths", "Workers that died with a job", registry=registry)
        self.gauges = {
            name: Gauge(f"ringsmith_{name}", text, registry=registry)
            for name, text in {
                "queue_jobs": "Jobs that wait",
                "running_jobs": "Jobs that run",
                "workers_ready": "Workers with their engine loaded",
                "keys_held": "Key sets in memory, all workers",
                "key_bytes_held": "Bytes of keys in memory, all workers",
                "key_evictions": "Key sets dropped for others since the workers started",
                "store_blobs": "Blobs in the store",
                "store_bytes": "Bytes of blobs in the store",
                "store_commits": "Commits since the server started",
            }.items()
        }

    @cache  # noqa: B019 -- one object, as many labels as routes and statuses
    def _of_request(self, method: str, route: str, status: int) -> tuple[Counter, Histogram]:
        return self.requests.labels(method, route, str(status)), self.request_seconds.labels(route)

    def ended(self, state: str, seconds: float, count: int = 1) -> None:
        """Count the end of `count` jobs."""
        self._of_state[state].inc(count)
        self._job_seconds.add(seconds, count)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        counter, histogram = self._of_request(method, route, status)
        counter.inc()
        histogram.observe(seconds)

    def text(self, values: dict[str, float]) -> bytes:
        """Return the exposition, with the gauges' values of now."""
        for name, value in values.items():
            self.gauges[name].set(value)
        return generate_latest(self.registry)
