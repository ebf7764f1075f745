# SPDX-License-Identifier: Apache-2.0
"""What repeats others is slow."""

from __future__ import annotations

import pytest

from dv.short_run import mark_repeats


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that are not in the short run."""
    mark_repeats(items)
