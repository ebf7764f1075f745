# SPDX-License-Identifier: Apache-2.0
"""This machine's processor, as stored results and prices name it."""

from __future__ import annotations

import platform
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


def processor_name() -> str:
    """Return the processor's name on one line, with family and model where the system tells them.

    A virtual machine calls processors of several generations by one name.
    """
    try:
        lines = CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.machine()
    fields = {key.strip(): " ".join(value.split()) for key, _, value in (line.partition(":") for line in lines)}
    if "model name" not in fields:
        return platform.machine()
    if "cpu family" not in fields:
        return fields["model name"]
    return f"{fields['model name']}, family {fields['cpu family']} model {fields.get('model', 'unknown')}"
