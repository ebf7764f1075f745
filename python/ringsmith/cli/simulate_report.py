# SPDX-License-Identifier: Apache-2.0
"""The report of `ringsmith simulate` on a co-processor: one object, as JSON or as a table."""

from __future__ import annotations

from typing import Any

from ringsmith.cli import simulate_host
from ringsmith.cli.measure import MULTIPLY, RELINEARIZE, ROTATE, is_key_switch, is_whole
from ringsmith.report import simulation
from ringsmith.report.batch import batch_rows, steady_rows
from ringsmith.runtime.devices import OpenDevice
from ringsmith.runtime.timeline import summary


def report_of(device: OpenDevice, op: str, n: int, outcome: dict[str, Any], wall: float) -> dict[str, Any]:
    """Return the report of an outcome of `measure` that took `wall` seconds."""
    profile, usage = outcome["profile"], outcome["usage"]
    in_parts = n > device.preset.n_max
    title = f"{device.name} {op}, n = {n}" + (", last of its parts" if in_parts else "")
    return {
        **simulation.head(device.preset, device.name, op, n, outcome),
        "moduli_bits": list(device.preset.lane_bits()),
        "busy": {"compute": profile["busy_compute"], "memory": profile["busy_memory"], "rns": profile["busy_rns"]},
        "stall": {"slot": profile["stall_hazard"], "unit": profile["stall_unit"]},
        "send": {
            **usage["send"],
            "ms": device.link_ms(usage["send"]["bytes"], usage["send"]["cycles"]),
            "written_bytes": usage["written_bytes"],
        },
        "memory": _memory(device),
        "receive": {**usage["receive"], "ms": device.link_ms(usage["receive"]["bytes"], usage["receive"]["cycles"])},
        "simulation": simulation.speed(wall, device.native.simulated_cycles()),
        "in_parts": in_parts,
        "summary": summary(title, profile, device.clock_mhz),
        "includes": (
            "everything between operands and keys in the host's memory and the result there; transfers beside work"
            if is_whole(op, device.preset.moves)
            else "the work between operands on chip and results on chip; send and receive stand apart"
        ),
        **({"multiplication": whole_of(outcome) | {"plain_modulus": 33}} if op == MULTIPLY else {}),
        **({"rotation": whole_of(outcome)} if op == ROTATE else {}),
        **({"relinearization": whole_of(outcome)} if op == RELINEARIZE else {}),
        **({"key_switch": whole_of(outcome)} if is_key_switch(op, device.preset.moves) else {}),
    }


def whole_of(outcome: dict[str, Any]) -> dict[str, Any]:
    """Return the usage of a whole operation, and its cycles from the first transform to the last result on chip.

    Of several submissions the timelines are the last one's: then all cycles count.
    """
    events = outcome["profile"]["events"]
    begin = min(event[3] for event in events if event[2] == "compute")
    end = max(event[4] for event in events if event[2] in ("compute", "rns"))
    usage = outcome["usage"]
    kept = ("submissions", "instructions", "conversions", "host_operations", "transfer_cycles", "hidden_cycles")
    return {
        "data_primes": outcome["data_primes"],
        "auxiliary_primes": outcome["auxiliary"],
        "work_cycles": end - begin if usage["submissions"] == 1 else outcome["cycles"],
        **{key: usage[key] for key in kept},
    }


def _memory(device: OpenDevice) -> dict[str, Any] | None:
    """The memory behind the data port, as asked for and in cycles; None where a link is in between."""
    if device.preset.host != "axi4":
        return None
    info = device.native.info()
    return {
        "gbs": device.preset.memory_gbs or None,
        "latency_ns": device.preset.memory_latency_ns or None,
        "bytes_per_cycle": info["memory_bytes_per_kilocycle"] / 1000 or None,
        "read_latency_cycles": info["memory_read_latency"],
        "write_latency_cycles": info["memory_write_latency"],
    }


def show(report: dict[str, Any]) -> None:
    """Print a report as a table, with the summary of its timeline."""
    rows = {"send / receive": f"{report['send']['ms']:.3f} / {report['receive']['ms']:.3f} ms"}
    if report["memory"]:
        rows["memory"] = _memory_text(report["memory"])
    if report.get("multiplication", {}).get("host_operations"):
        rows["left to the host"] = f"{report['multiplication']['host_operations']:,} operations, without their time"
    for whole in ("rotation", "relinearization", "key_switch"):
        if whole in report and "batch" not in report:
            rows["first transform to last result on chip"] = f"{report[whole]['work_cycles']:,} cycles"
    if "batch" in report:
        rows |= batch_rows(report["batch"])
    if "orders" in report:
        rows["all digits at a time"] = "{cycles:,} cycles, {saved_percent:.1f} % less".format(**report["orders"])
    if "one_after_the_other" in report:
        rows["relinearised, then rescaled"] = "{work_cycles:,} cycles; with one division {ratio:.2f} of it".format(
            **report["one_after_the_other"]
        )
    if "steady" in report:
        rows |= steady_rows(report["steady"])
    if "feeding" in report:
        rows |= simulate_host.text_rows(report["feeding"])
    simulation.show(report, rows)
    for line in report["summary"]:
        print(line)


def _memory_text(memory: dict[str, Any]) -> str:
    rate = f"{memory['bytes_per_cycle']:g} bytes a cycle" if memory["gbs"] else "a beat every cycle"
    reads, writes = memory["read_latency_cycles"], memory["write_latency_cycles"]
    return f"{rate}, reads answered after {reads} cycles, writes after {writes}"
