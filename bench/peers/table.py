# SPDX-License-Identifier: Apache-2.0
"""The table of a peer run: ours, the best peer and the ratio, on the terminal and as a page."""

from __future__ import annotations

import statistics
from collections import defaultdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

OURS = "ringsmith"
# Ends the name of a library that ran without vector instructions; such rows are compared with each other.
PORTABLE = ", portable"
Key = tuple[str, int, str, int]


def split(bits: list[int]) -> str:
    """`4x45` for a chain of equal primes, `36+36+37` else, `own` where the library does not say."""
    if not bits:
        return "own"
    return f"{len(bits)}x{bits[0]}" if len(set(bits)) == 1 and len(bits) > 1 else "+".join(map(str, bits))


def grouped(rows: list[dict]) -> dict[Key, dict[str, dict]]:
    """Rows by (operation, n, moduli, threads), then by library; one with its own chain stands beside each of that n.

    Of several splits of the moduli into data and special primes a library's fastest stands.
    """
    groups: dict[Key, dict[str, dict]] = defaultdict(dict)
    for row in rows:
        if row["moduli_bits"]:
            group = groups[row["operation"], row["n"], split(row["moduli_bits"]), row["threads"]]
            other = group.get(row["library"], row)
            group[row["library"]] = min(row, other, key=lambda row: row["median_us"])
    for row in rows:
        if not row["moduli_bits"]:
            for key, group in groups.items():
                if key[0] == row["operation"] and key[1] == row["n"] and key[3] == row["threads"]:
                    group.setdefault(row["library"], row)
    return dict(sorted(groups.items(), key=lambda item: (item[0][3], item[0][0], item[0][1], item[0][2])))


def best_peer(group: dict[str, dict], ours: str = OURS) -> dict | None:
    """The fastest correct library that is not ours."""
    peers = [row for name, row in group.items() if name != ours and row["correct"]]
    return min(peers, key=lambda row: row["median_us"], default=None)


def with_vectors(rows: list[dict]) -> list[dict]:
    """The rows of libraries that used vector instructions."""
    return [row for row in rows if not row["library"].endswith(PORTABLE)]


BATCH = "-batch"
TURNS = ("operation", "n", "moduli", "one thread", "two threads", "ratio")
# Least speed-up expected of a second thread.
WANTED = 1.8


def second_thread(rows: list[dict]) -> list[tuple[str, ...]]:
    """The speed-up of our batches by a second thread: their cells, the lowest ratio first."""
    groups = grouped([row for row in rows if row["library"] == OURS])
    out = []
    for (operation, n, moduli, threads), group in groups.items():
        one = groups.get((operation + BATCH, n, moduli, 1))
        if threads == 2 and one:
            pair = (one[OURS]["median_us"], group[OURS]["median_us"])
            out.append((pair[0] / pair[1], operation, n, moduli, *pair))
    return [
        (operation, str(n), moduli, f"{one:.1f}", f"{two:.1f}", f"{ratio:.2f}")
        for ratio, operation, n, moduli, one, two in sorted(out)
    ]


def second_thread_summary(turns: list[tuple[str, ...]]) -> str:
    """One line: how many batches, the median ratio, how many are too low."""
    ratios = [float(line[-1]) for line in turns]
    low = sum(ratio < WANTED for ratio in ratios)
    what = f"A second thread brings {len(ratios)} batches a factor of {statistics.median(ratios):.2f} (median)"
    return f"{what}, {low} of them less than {WANTED}."


LEFT_OUT = (
    "**Not among the peers**: OpenFHE built from source with HEXL, which no registry ships; its wheel has no HEXL.",
    "Measured elsewhere by hand, n = 4096, HPSPOVERQ: a BFV multiplication 707 µs, with relinearisation 814 µs; ours",
    "there 180 and 257 µs. It is the strongest BFV peer known to us.",
)

COLUMNS = ("operation", "n", "moduli", "threads", OURS, "spread", "best peer", "its time", "ratio")


def lines(rows: list[dict], name: str = OURS) -> list[tuple[str, ...]]:
    """The cells of the table, one line per operation and parameter set; `name` is what ours is called."""
    out: list[tuple[str, ...]] = []
    for (operation, n, moduli, threads), group in grouped(rows).items():
        ours, peer = group.get(name), best_peer(group, name)
        ratio = f"{peer['median_us'] / ours['median_us']:.2f}" if ours and peer else "-"
        own = (f"{ours['median_us']:.1f}", f"{100 * ours['spread']:.0f} %") if ours else ("-", "-")
        other = (peer["library"], f"{peer['median_us']:.1f}") if peer else ("-", "-")
        out.append((operation, str(n), moduli, str(threads), *own, *other, ratio))
    return out


def portable_lines(rows: list[dict]) -> list[tuple[str, ...]]:
    """The same for the rows without vector instructions, where there is something to compare."""
    portable = [row for row in rows if row["library"].endswith(PORTABLE)]
    return [line for line in lines(portable, OURS + PORTABLE) if line[-1] != "-"]


BUDGETS = ("operation", "n", "moduli", OURS, "peers")


def budget_lines(rows: list[dict]) -> list[tuple[str, ...]]:
    """Bits of noise budget that results have left, where a library tells them: a fast operation may have spent more."""
    out: list[tuple[str, ...]] = []
    for (operation, n, moduli, threads), group in grouped(with_vectors(rows)).items():
        left = {name: row["noise_budget_bits"] for name, row in group.items() if "noise_budget_bits" in row}
        ours = left.pop(OURS, None)
        if threads == 1 and ours is not None and left:
            peers = ", ".join(f"{name} {bits:g}" for name, bits in sorted(left.items()))
            out.append((operation, str(n), moduli, f"{ours:g}", peers))
    return out


def print_table(rows: list[dict]) -> None:
    """The table on the terminal."""
    turns = second_thread(rows)
    tables = {
        "µs per operation (median), one run on this machine": (COLUMNS, lines(with_vectors(rows))),
        "The same without vector instructions": (COLUMNS, portable_lines(rows)),
        "µs per item of a batch, on one thread and on two, in turns": (TURNS, turns),
        "bits of noise budget left": (BUDGETS, budget_lines(rows)),
    }
    for title, (columns, body) in tables.items():
        table = Table(title=title)
        for name in columns:
            table.add_column(name, justify="left" if name in ("operation", "best peer", "peers") else "right")
        for line in body:
            table.add_row(*line)
        if body:
            Console(width=130).print(table)
    if turns:
        print(second_thread_summary(turns))


def write_markdown(rows: list[dict], limits: str, path: Path) -> None:
    """The same table as a page, and below it the transforms against their limit."""
    libraries = ", ".join(sorted(name for name in {row["library"] for row in rows} if not name.startswith(OURS)))
    head = [
        "# ringsmith beside other libraries",
        "",
        "Written by `make bench WHAT=peers`: medians in µs of one run on one machine, of its rounds the least",
        "disturbed; every result is checked by decryption.",
        f"Peers: {libraries}.",
        "Of several splits into data and special primes (n = 32768: 14+1, 12+3) each library's fastest stands.",
        "At n = 4096 the same 180 bits of data stand as 6x30 (7x30 with the special prime) and as 4x45 (5x45).",
        "What a row on two threads means: [performance.md](performance.md).",
        "",
        *LEFT_OUT,
        "",
        "![Time per operation beside the peers](bench-peers.svg)",
        "",
        *_markdown(COLUMNS, lines(with_vectors(rows))),
    ]
    turns = second_thread(rows)
    if turns:
        head += ["", "## A second thread", "", second_thread_summary(turns), "", *_markdown(TURNS, turns)]
    left = budget_lines(rows)
    if left:
        what = (
            "SEAL and Lattigo encrypt over all primes and divide by the special ones: they start with 4 to 5 bits "
            "more. `bfv-encrypt-extended` is that way of ours, an option ([bfv.md](bfv.md#encryption-over-qp)), "
            "beside theirs."
        )
        head += ["", "## Noise budget left, in bits", "", what, "", *_markdown(BUDGETS, left)]
    portable, body = portable_lines(rows), []
    if portable:
        title = ["", "## Without vector instructions", "", f"Ours with `RINGSMITH_SIMD={PORTABLE[2:]}`.", ""]
        body = title + _markdown(COLUMNS, portable)
    tail = ["", "The transforms against their arithmetic limit, best (median):", "", "```", limits.rstrip(), "```", ""]
    path.write_text("\n".join([*head, *body, *(tail if limits else [""])]))


def _markdown(columns: tuple[str, ...], body: list[tuple[str, ...]]) -> list[str]:
    head = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return head + ["| " + " | ".join(line) + " |" for line in body]
