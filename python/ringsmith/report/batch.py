# SPDX-License-Identifier: Apache-2.0
"""Time breakdown of several cores in a batch, and its bottleneck."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Categories of a core's cycles, by priority: a cycle counts in the first that holds.
KINDS = {
    "compute": "transforms and products",
    "conversion": "base conversion",
    "memory": "waiting for memory",
    "idle": "idle",
}
# A data port that is busy for this part of the time is the bottleneck, whatever the cores do.
_FULL = 0.9


def batch_report(shift: Mapping[str, Any], count: int, clock_mhz: float) -> dict[str, Any]:
    """Return rate, shares of each core's time and of the data port's, and the limit, from cycles at a clock in MHz."""
    cycles = max(shift["cycles"], 1)
    cores = [{kind: core[kind] / cycles for kind in KINDS} for core in shift["cores"]]
    total = {kind: sum(core[kind] for core in cores) / max(len(cores), 1) for kind in KINDS}
    port = shift["port_cycles"] / cycles
    return {
        "count": count,
        "per_second": count * clock_mhz * 1e6 / cycles,
        "cores": cores,
        "port": port,
        "transfers": shift["transfers"],
        "port_transfers": shift["port_transfers"],
        "limit": "data port" if port > _FULL else KINDS[max(total, key=lambda kind: total[kind])],
    }


def batch_rows(batch: Mapping[str, Any]) -> dict[str, str]:
    """Return rows of a table by their names."""
    rows = {f"{batch['count']} in all": f"{batch['per_second']:,.0f} a second"}
    for number, core in enumerate(batch["cores"]):
        rows[f"core {number}"] = ", ".join(f"{100 * core[kind]:.1f} % {text}" for kind, text in KINDS.items())
    common = batch["transfers"] - batch["port_transfers"]
    rows["data port"] = f"{100 * batch['port']:.1f} % busy, {batch['port_transfers']} transfers"
    if common:
        rows["data port"] += f"; {common} more were loads in common"
    rows["limit"] = batch["limit"]
    return rows


#: Units, and the cycles that their instructions were in flight.
_UNITS = {
    "compute": "compute_cycles",
    "base conversion and moves": "conversion_cycles",
    "transfers": "transfer_cycles",
}


def half_of(batch: int, cores: int) -> int:
    """Return how many of a batch are its first half, as many on each core: those that fill the pipelines."""
    return max(batch // (2 * cores), 1) * cores


def steady_report(many: Mapping[str, Any], half: Mapping[str, Any], further: int, latency: int) -> dict[str, Any]:
    """Return what each of `further` operations adds, in cycles, and the busy share of each unit in that time.

    `many` and `half` are measurements of all of them and of those before; `latency` is that of one a core. Where the
    further ones fill gaps of those before, a unit may have more to do than the time added; its share is 1 then.
    """
    cores = len(many["shift"]["cores"])
    added = max(many["shift"]["cycles"] - half["shift"]["cycles"], 1)
    busy = {unit: many["usage"][key] - half["usage"][key] for unit, key in _UNITS.items()}
    return {
        "cycles_each": added / further,
        "further": further,
        "latency_cycles": latency,
        "cores": cores,
        "busy": {unit: min(cycles / (added * cores), 1.0) for unit, cycles in busy.items()},
    }


def steady_rows(steady: Mapping[str, Any]) -> dict[str, str]:
    """Return rows of a table by their names."""
    busy = ", ".join(f"{100 * share:.1f} % {unit}" for unit, share in steady["busy"].items())
    first = "one by itself" if steady["cores"] == 1 else f"the first {steady['cores']}, one a core"
    return {
        first: f"{steady['latency_cycles']:,} cycles",
        f"each of the last {steady['further']}": f"{steady['cycles_each']:,.0f} cycles: {busy}",
    }
