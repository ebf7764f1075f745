# SPDX-License-Identifier: Apache-2.0
"""Two series of half-hourly demand, each in units that make its mean 6.

A row has the 48 readings before its target, the latest last, then columns that anybody knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HALF_HOURS = 48
MEAN = 6.0
#: In kWh, the largest reading of the published data.
LARGEST = 23.0


@dataclass(frozen=True)
class Rows:
    """Inputs, one row a forecast, and targets."""

    inputs: Array
    targets: Array

    def part(self, begin: float, end: float) -> Rows:
        """Return the rows from one share of the whole to another."""
        first, last = (round(share * len(self.targets)) for share in (begin, end))
        return Rows(self.inputs[first:last], self.targets[first:last])

    @property
    def naive(self) -> Array:
        """The latest reading as the forecast."""
        return self.inputs[:, HALF_HOURS - 1]


@dataclass(frozen=True)
class Series:
    """Rows with what the columns are and the unit of demand."""

    name: str
    unit: str
    columns: tuple[str, ...]
    rows: Rows


def _rows(demand: Array, known: Array) -> Rows:
    """Return a row for each half hour that has a day before it; `known` has a row of columns for each half hour."""
    windows = np.lib.stride_tricks.sliding_window_view(demand[:-1], HALF_HOURS)
    return Rows(np.column_stack([windows, known[HALF_HOURS:]]), demand[HALF_HOURS:])


def _lags() -> tuple[str, ...]:
    return tuple(f"demand {lag} half hours ago" for lag in range(HALF_HOURS, 0, -1))


def taylor() -> Series:
    """Demand in England and Wales, 5 June to 27 August 2000: 4,032 half hours (Taylor 2003, in the package pmdarima).

    There is no temperature with it. Known columns: time of day (in two hours), weekday (1 to 7), working day (2) or
    not (0).
    """
    from pmdarima.datasets import load_taylor

    megawatts: Any = np.asarray(load_taylor(), np.float64)
    unit = megawatts.mean() / MEAN
    at = np.arange(len(megawatts))
    weekday = at // HALF_HOURS % 7 + 1  # 5 June 2000 was a Monday
    known = np.column_stack([at % HALF_HOURS / 4, weekday, np.where(weekday <= 5, 2.0, 0.0)])
    columns = (*_lags(), "time of day", "weekday", "working day")
    return Series("England and Wales", f"{unit:,.0f} MW", columns, _rows(megawatts / unit, known))


def households(days: int = 536, seed: int = 2018) -> Series:
    """Ten made-up households, in kWh: two peaks a day, weekends, seasons, and noise that lasts for hours.

    536 days make the 25,680 rows of the published data, which may not be passed on. Known columns, as there:
    temperature (degrees Celsius), month, weekday.
    """
    rng = np.random.default_rng(seed)
    steps = days * HALF_HOURS
    at = np.arange(steps)
    hour, day = at % HALF_HOURS / 2, at // HALF_HOURS
    season = np.cos(2 * np.pi * (day - 15) / 365.25)
    temperature = 10 - 6 * season + 3 * np.sin(2 * np.pi * (hour - 9) / 24) + _lasting(rng, steps, 0.995, 2.0)
    weekend = day % 7 >= 5
    total = np.zeros(steps)
    for _ in range(10):
        morning, evening = rng.normal(8, 0.7), rng.normal(19, 0.7)
        peaks = 0.9 * _peak(hour, morning + weekend, 1.5) + 1.6 * _peak(hour, evening, 2.5)
        level = (0.35 + peaks) * (1 + 0.15 * season) * np.where(weekend, 1.15, 1.0)
        total += rng.uniform(0.7, 1.3) * level * np.exp(_lasting(rng, steps, 0.72, 0.78))
    total = np.minimum(total * MEAN / total.mean(), LARGEST)
    known = np.column_stack([temperature.clip(-15, 22), 1 + day // 30.44 % 12, day % 7])
    return Series("ten households", "1 kWh", (*_lags(), "temperature", "month", "weekday"), _rows(total, known))


def _peak(hour: Array, centre: Any, width: float) -> Array:
    return np.exp(-0.5 * ((hour - centre) / width) ** 2)


def _lasting(rng: np.random.Generator, steps: int, memory: float, deviation: float) -> Array:
    """Return noise of a standard deviation, each value `memory` of the one before and something new."""
    noise = np.empty(steps)
    value = 0.0
    for index, new in enumerate(rng.normal(0, deviation * np.sqrt(1 - memory**2), steps)):
        value = memory * value + new
        noise[index] = value
    return noise
