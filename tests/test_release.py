# SPDX-License-Identifier: Apache-2.0
"""The version has one home, and the changelog knows it."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest

import ringsmith as rs

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^## (?:(\d+\.\d+\.\d+) \((\d{4}-\d{2}-\d{2})\)|Unreleased)$")


def sections(text: str) -> list[tuple[str, date] | None]:
    """Return version and date of each section of a changelog, None for what is unreleased."""
    found: list[tuple[str, date] | None] = []
    for line in text.splitlines():
        if not line.startswith("## "):
            continue
        match = HEADING.match(line)
        assert match, f"{line}: '## VERSION (YYYY-MM-DD)' or '## Unreleased' is meant"
        found.append((match[1], date.fromisoformat(match[2])) if match[1] else None)
    return found


def test_the_newest_release_is_the_version() -> None:
    found = sections((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    released = [section for section in found if section]
    assert None not in found[1:]
    assert released == sorted(released, key=lambda section: section[1], reverse=True)
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    assert released[0][0] == version == rs.__version__


def test_a_heading_of_another_form_is_found() -> None:
    with pytest.raises(AssertionError, match="is meant"):
        sections("## 0.2.0 (soon)\n")
    assert sections("## Unreleased\n## 0.1.0 (2026-11-23)\n") == [None, ("0.1.0", date(2026, 11, 23))]
