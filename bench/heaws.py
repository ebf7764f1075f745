# SPDX-License-Identifier: Apache-2.0
"""HEAWS's Table 4 as measurements: multiplication with relinearisation at growing parameters, by the model.

The paper extrapolates from (2^12, 180) by doubling its lanes and its conversion cores with each step. Here each row is
a build of ours, `ringsmith simulate PRESET multiply --allow-insecure` with the primes named: operands, keys and result
in the host's memory, all transfers counted, the result the evaluator's. Where a set has more primes than a base
conversion takes, Lift and Scale are the host's: their operations are counted and take no cycles.

    .venv/bin/python bench/heaws.py [ROW ...] [--json]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ringsmith.runtime.devices import open_device


class Row(NamedTuple):
    """A row of Table 4 (milliseconds of one multiplication in all), our preset for it and its data primes."""

    log2_n: int
    bits: int
    published_ms: float | None
    preset: str
    primes: int


TABLE = (
    Row(12, 180, 4.67, "heaws", 6),
    Row(13, 360, 10.13, "heaws-13", 6),
    Row(14, 720, 21.99, "heaws-14", 12),
    Row(15, 1440, None, "heaws-15", 24),
)


def measured(row: Row) -> dict[str, Any]:
    """Return the figures of a row; ends with an error where the result is not the evaluator's."""
    device = open_device("model", row.preset)
    bits = min(device.preset.lane_bits())
    outcome = device.native.simulate_multiplication(bits, 1 << row.log2_n, primes=row.primes, allow_insecure=True)
    if not outcome["correct"]:
        raise SystemExit(f"error: {row.preset}: the product is not the evaluator's")
    usage, preset = outcome["usage"], device.preset
    cycles = outcome["shift"]["cycles"]
    return {
        **row._asdict(), "lanes": preset.lanes, "butterflies": preset.butterflies, "word_bits": bits, "cycles": cycles,
        "ms": cycles / device.clock_mhz / 1e3, "host_operations": usage["host_operations"],
        "submissions": usage["submissions"], "transfer_cycles": usage["transfer_cycles"],
        "conversion_cycles": usage["conversion_cycles"], "compute_cycles": usage["compute_cycles"],
    }  # fmt: skip


def line(values: dict[str, Any]) -> str:
    """Return a row of the table in Markdown."""
    published = values["published_ms"]
    cells = [
        f"2^{values['log2_n']}, {values['bits']}", f"{published:g}" if published else "",
        f"`{values['preset']}`: {values['lanes']} x {values['butterflies']}, {values['word_bits']} bits",
        str(values["primes"]), f"{values['cycles']:,}", f"{values['ms']:.2f}", f"{values['transfer_cycles']:,}",
        f"{values['conversion_cycles']:,}", f"{values['host_operations']:,}",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


COLUMNS = (
    "n, bits", "theirs, estimated: ms", "build: lanes x butterflies, words", "data primes", "cycles", "ms",
    "transfers", "conversions", "host operations",
)  # fmt: skip


def rows(names: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of these presets, or all."""
    for row in TABLE:
        if not names or row.preset in names:
            yield measured(row)


def main() -> None:
    """Print the table as it grows, or all of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="presets (default: all)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    wanted = parser.parse_args()
    known = [row.preset for row in TABLE]
    if unknown := [name for name in wanted.rows if name not in known]:
        parser.error(f"no row {unknown[0]}; there are {', '.join(known)}")
    if wanted.json:
        print(json.dumps({"rows": list(rows(wanted.rows))}))
        return
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for values in rows(wanted.rows):
        print(line(values), flush=True)


if __name__ == "__main__":
    main()
