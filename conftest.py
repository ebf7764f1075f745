# SPDX-License-Identifier: Apache-2.0
"""What every test finds."""

import os
import signal
from pathlib import Path

import pytest

# A shell starts what it puts in the background with interrupts ignored, and what that starts inherits it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Compiling simulated devices at -O1 takes twice as long as at -O0, simulating on them a quarter: about as long together
# on a fresh machine, a third on one that has them. Processes that tests start inherit it, and so share one simulator.
os.environ.setdefault("RINGSMITH_SIM_EFFORT", "-O1")


class Passed:
    """Tests that passed, by line in a file: a run of hours that was stopped leaves them out when it is started again.

    Only the process that hands tests out writes; its workers read what was there before any of them began.
    """

    def __init__(self, path: Path, *, hands_out: bool) -> None:
        """Take what earlier runs left."""
        self.path, self.hands_out = path, hands_out
        self.before = path.with_suffix(".before")
        if hands_out:
            self.before.write_text(path.read_text() if path.exists() else "")
        self.earlier = set(self.before.read_text().splitlines())

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what passed."""
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in self.earlier])
        items[:] = [item for item in items if item.nodeid not in self.earlier]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write down a test that passed; fixtures that fail afterwards are errors of the run that has them."""
        if self.hands_out and report.when == "call" and report.passed:
            with self.path.open("a") as file:
                file.write(f"{report.nodeid}\n")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Nothing left to run is no failure where all of it has passed."""
        if self.earlier and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK


def pytest_configure(config: pytest.Config) -> None:
    """Go on where an earlier run was stopped, if RINGSMITH_PASSED names its file (`make check-all`)."""
    if path := os.environ.get("RINGSMITH_PASSED"):
        config.pluginmanager.register(Passed(Path(path), hands_out=not hasattr(config, "workerinput")))
