# SPDX-License-Identifier: Apache-2.0
"""The terminal table of a peer run: ours, each peer, and the ratio to the best peer."""

from __future__ import annotations

from collections import defaultdict

from rich.console import Console
from rich.table import Table

OURS = "ringsmith"
Key = tuple[str, int, str, int]


def split(bits: list[int]) -> str:
    """`4x45` for a chain of equal primes, `36+36+37` else, `own` where the library does not say."""
    if not bits:
        return "own"
    return f"{len(bits)}x{bits[0]}" if len(set(bits)) == 1 and len(bits) > 1 else "+".join(map(str, bits))


def grouped(rows: list[dict]) -> dict[Key, dict[str, dict]]:
    """Rows by (operation, n, moduli, threads), then by library; one with its own chain stands beside each of that n."""
    groups: dict[Key, dict[str, dict]] = defaultdict(dict)
    for row in rows:
        if row["moduli_bits"]:
            groups[row["operation"], row["n"], split(row["moduli_bits"]), row["threads"]][row["library"]] = row
    for row in rows:
        if not row["moduli_bits"]:
            for key, group in groups.items():
                if key[0] == row["operation"] and key[1] == row["n"] and key[3] == row["threads"]:
                    group.setdefault(row["library"], row)
    return dict(sorted(groups.items(), key=lambda item: (item[0][3], item[0][0], item[0][1], item[0][2])))


def best_peer(group: dict[str, dict]) -> dict | None:
    """The fastest correct library that is not ours."""
    peers = [row for name, row in group.items() if name != OURS and row["correct"]]
    return min(peers, key=lambda row: row["median_us"], default=None)


def print_table(rows: list[dict]) -> None:
    """One line per operation and parameter set."""
    table = Table(title="µs per operation (median), one run on this machine")
    for name in ("operation", "n", "moduli", "threads", OURS, "spread", "best peer", "its time", "ratio"):
        table.add_column(name, justify="right" if name not in ("operation", "best peer") else "left")
    for (operation, n, moduli, threads), group in grouped(rows).items():
        ours, peer = group.get(OURS), best_peer(group)
        ratio = f"{peer['median_us'] / ours['median_us']:.2f}" if ours and peer else "-"
        table.add_row(
            operation,
            str(n),
            moduli,
            str(threads),
            f"{ours['median_us']:.1f}" if ours else "-",
            f"{100 * ours['spread']:.0f} %" if ours else "-",
            peer["library"] if peer else "-",
            f"{peer['median_us']:.1f}" if peer else "-",
            ratio,
        )
    Console(width=130).print(table)
