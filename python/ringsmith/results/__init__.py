# SPDX-License-Identifier: Apache-2.0
"""The store of results: what a command of ours printed, when, with which sources; each figure has one home here."""

from __future__ import annotations

from ringsmith.results.records import Record, load_records
from ringsmith.results.runs import Run, load_runs
from ringsmith.results.store import RESULTS, Result, read, rounded, save

__all__ = ["RESULTS", "Record", "Result", "Run", "load_records", "load_runs", "read", "rounded", "save"]
