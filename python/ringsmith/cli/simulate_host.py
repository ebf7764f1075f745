# SPDX-License-Identifier: Apache-2.0
"""What an operation takes of the host in a build with a controller, beside the same build without one.

The operands are on the chip. A run counts from the host's first register access to the one that sees the end; what is
in the controller's memory already is not counted (`load_*`: once, for a program that is run again and again).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ringsmith import _native
from ringsmith.presets import OPERATIONS, Preset
from ringsmith.runtime.devices import OpenDevice, open_device

#: Who feeds the command queue: the host, waiting for each instruction or not, or the controller.
FEEDS = {
    "one": "host, an instruction at a time",
    "queue": "host, as the queue has room",
    "controller": "controller",
}
#: Lines that a serial host's register accesses can take; data take the byte port, which is the fastest.
LINES = {"serial": ("byte", "spi", "uart"), "axi4": ("axi",)}


def applies(preset: Preset, op: str, n: int) -> bool:
    """Return whether there is something to compare: a controller, and one program of instructions."""
    return preset.controller != "none" and op in OPERATIONS and n <= preset.n_max


def compare(preset: Preset, op: str, n: int) -> list[dict[str, Any]]:
    """Run the operation fed by the host and by the controller, over every line.

    Returns rows: `by` (of FEEDS), `line`, `cycles`, `more_percent` than the core alone, `core_cycles`, `transactions`,
    `load_transactions`, `load_cycles`, `correct`.
    """
    rows = []
    for made in (replace(preset, controller="none"), preset):
        for line in LINES[made.host]:
            device = open_device("rtl", made, options=f"registers={line}" if made.host == "serial" else "")
            rows += _runs(device, op, n, line)
    order = list(FEEDS)
    return sorted(rows, key=lambda row: (order.index(row["by"]), LINES[preset.host].index(row["line"])))


def _runs(device: OpenDevice, op: str, n: int, line: str) -> list[dict[str, Any]]:
    moduli = _native.default_moduli(list(device.preset.lane_bits()), n, device.preset.n_max)
    outcome = device.native.simulate_operation(op, moduli, n, values=device.preset.values)
    text = outcome["assembly"].splitlines()
    work = _native.assemble("\n".join(row for row in text if not row.startswith(("load", "store"))))
    common = {"line": line, "core_cycles": outcome["cycles"], "correct": outcome["correct"]}
    if device.preset.controller == "none":
        return [
            {"by": "one", **common, **_sum([_run(device, [word]) for word in work], outcome["cycles"])},
            {"by": "queue", **common, **_sum([_run(device, work)], outcome["cycles"])},
        ]
    loaded = _run(device, work)
    row = _sum([_run(device, work)], outcome["cycles"])
    return [{"by": "controller", **common, **row, **{key: loaded[key] for key in loaded if key.startswith("load_")}}]


def _run(device: OpenDevice, words: list[int]) -> dict[str, int]:
    device.native.run(words)
    used = device.native.last_round()
    assert used is not None  # a device that is simulated
    return used


def _sum(rounds: list[dict[str, int]], core_cycles: int) -> dict[str, Any]:
    whole = {key: sum(used[key] for used in rounds) for key in rounds[0]}
    return {**whole, "more_percent": 100 * (whole["cycles"] / core_cycles - 1)}


def text_rows(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return rows of a table by their names."""
    return {
        f"fed by {FEEDS[row['by']]}, {row['line']}": (
            f"{row['cycles']:,} cycles ({row['more_percent']:+.1f} %), {row['transactions']} host transactions"
        )
        for row in rows
    }
