# SPDX-License-Identifier: Apache-2.0
"""The processor's name from what systems write."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from ringsmith import processor

X86 = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD   EPYC: 7003\n\nprocessor\t: 1\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (X86, "AMD EPYC: 7003, family 25 model 1"),
        ("model name\t: Intel(R) Atom\n", "Intel(R) Atom"),
        ("processor\t: 0\nCPU part\t: 0xd0c\n", platform.machine()),
        ("", platform.machine()),
        (None, platform.machine()),
    ],
)
def test_the_name_is_one_line(text: str | None, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "CPUINFO", tmp_path / "cpuinfo")
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    assert processor.processor_name() == name
