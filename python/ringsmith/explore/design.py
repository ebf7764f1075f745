# SPDX-License-Identifier: Apache-2.0
"""A point as what other verbs take: the TOML of its preset, the Python of its parameter set."""

from __future__ import annotations

import json

from ringsmith.explore.parameters import Candidate, request_of
from ringsmith.presets import Preset


def preset_text(preset: Preset) -> str:
    """Return a preset as the TOML that `--set` and every verb with a preset takes."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in preset.to_dict().items()]
    return "\n".join(["# SPDX-License-Identifier: Apache-2.0", *lines, ""])


def parameters_text(candidate: Candidate) -> str:
    """Return a parameter set as Python: the `params=` of a kernel."""
    request = request_of(candidate.params)
    fields = {
        name: getattr(request, name) for name in ("n", "moduli", "special", "dnum", "log2_scale", "plain_modulus")
    }
    given = ", ".join(f"{name}={value!r}" for name, value in fields.items() if value not in (None, ()))
    return f"rs.ParamRequest({given})"
