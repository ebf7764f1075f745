# SPDX-License-Identifier: Apache-2.0
"""Co-processors as engines of a run: `--on model:PRESET` and `--on rtl:PRESET`.

A whole program is planned for the device, which takes what its preset names; the rest stays on the host. A client
encrypts and decrypts there too. The report says what ran where.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError
from ringsmith.presets import parse_overrides, preset_names
from ringsmith.runtime.devices import Opened, open_device
from ringsmith.runtime.engine import Engine, EngineOptions
from ringsmith.runtime.run_trace import Step, take_ran, write_run
from ringsmith.runtime.timeline import summary


class DeviceEngine:
    """A co-processor that runs programs."""

    recording = None

    def __init__(self, device: Opened, options: EngineOptions) -> None:
        """Use an opened device."""
        self._device = device
        self._native = device.native.alone() if options.device_only else device.native
        self._trace = options.trace
        if self._trace is not None:
            self._native.keep_timeline()

    @property
    def name(self) -> str:
        """The name a report shows."""
        return self._device.name

    @property
    def device(self) -> Any:
        """The native device."""
        return self._native

    def report(self, seconds: float) -> dict[str, Any]:
        """Return what ran where: operations, send, compute and receive of the device, and the host's time."""
        usage = self._native.take_usage()
        shift = self._native.take_shift()
        profile = self._native.last_profile()
        clock = self._device.clock_mhz
        facts: dict[str, Any] = {
            "device": {
                "name": self._device.name,
                "clock_mhz": clock,
                "instructions": usage["instructions"],
                "submissions": usage["submissions"],
                "cycles": shift["cycles"],
                "simulation_s": round(usage["device_seconds"], 3),
            },
            "offloaded": usage["offloaded"],
            "on_host": dict(usage["on_host"]) | _beside(usage["host_work"]),
            "on_host_because": {name: self._device.lacks(name) for name in usage["on_host"]}
            | _because(usage["host_work"]),
            "host_work": [{key: one[key] for key in ("kind", "count", "because")} for one in usage["host_work"]],
            "send": self._moved(usage["send"]) | {"written_bytes": usage["written_bytes"]},
            "compute": {"cycles": usage["compute_cycles"], "ms": round(usage["compute_cycles"] / clock / 1e3, 6)},
            "receive": self._moved(usage["receive"]),
            "operands": usage["operands"],
            "hidden": {
                "cycles": usage["hidden_cycles"],
                "share": round(usage["hidden_cycles"] / max(usage["transfer_cycles"], 1), 4),
            },
            "host": {"ms": round(max(seconds - usage["device_seconds"], 0.0) * 1e3, 3)},
            "timeline": {"summary": "\n".join(summary(f"{self.name}, last program", profile, clock))},
        }
        return facts

    def timed(self, kernel: str, steps: Sequence[Step]) -> None:
        """Write the timeline that was asked for."""
        if self._trace is None:
            return
        cores = take_ran(self._native, steps[0].begun)
        name, clock = f"{self.name} {kernel}", self._device.clock_mhz
        write_run(Path(self._trace), name, steps, cores, device=self.name, clock_mhz=clock)

    def _moved(self, moved: dict[str, Any]) -> dict[str, Any]:
        return {**moved, "ms": round(self._device.link_ms(moved["bytes"], moved["cycles"]), 6)}


def _beside(work: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return by kind the host's operations on polynomials in operations of which the device did the rest."""
    counts: Counter[str] = Counter()
    for one in work:
        counts[one["kind"]] += one["beside"]
    return dict(+counts)


def _because(work: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Say of each of these kinds how many are the host's for which reason."""
    reasons: dict[str, list[str]] = {}
    for one in work:
        if one["beside"]:
            reasons.setdefault(one["kind"], []).append(f"{one['beside']}: {one['because']}")
    return {kind: "; ".join(lines) for kind, lines in reasons.items()}


def open_model(preset: str, options: EngineOptions) -> Engine:
    """Return the engine of the functional model with a preset's timing."""
    return _opened("model", preset, options)


def open_rtl(preset: str, options: EngineOptions) -> Engine:
    """Return the engine of a preset's simulated RTL."""
    return _opened("rtl", preset, options)


def _opened(kind: str, preset: str, options: EngineOptions) -> Engine:
    """Return the engine of a `kind` of device, with a preset."""
    if options.extra.get("polynomial"):
        raise InputError(f"the engine {kind} takes no --polynomial; the recorder does: --on record:FILE")
    if not preset:
        raise InputError(f"--on {kind} needs a preset: {', '.join(f'{kind}:{name}' for name in preset_names())}")
    return DeviceEngine(open_device(kind, preset, parse_overrides(list(options.overrides))), options)
