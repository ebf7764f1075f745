# SPDX-License-Identifier: Apache-2.0
"""The table of a peer run: ours, the best peer and the ratio, on the terminal and as rows of the store."""

from __future__ import annotations

import statistics
from collections import defaultdict

from rich.console import Console
from rich.table import Table

from ringsmith.results.peers import Level, Row

OURS = "ringsmith"
# Ends of the name of a library that ran without vector instructions, or without AVX-512 where the processor has it.
PORTABLE = ", portable"
AVX2 = ", AVX2"
# The same by the level as the store calls it.
ENDS: dict[Level, str] = {"best": "", "avx2": AVX2, "portable": PORTABLE}
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


def at(rows: list[dict], level: Level) -> list[dict]:
    """The rows that are compared at a level.

    Those with its end. For AVX2 also the rows of each peer that has no build or setting for it: such a peer may use
    wider vectors, ours may not.
    """
    if level == "best":
        return [row for row in rows if not row["library"].endswith((PORTABLE, AVX2))]
    names = {row["library"] for row in rows if row["library"].endswith(ENDS[level])}
    if level == "avx2" and names:
        others = {row["library"] for row in rows if not row["library"].startswith(OURS)}
        names |= {name for name in others if name + AVX2 not in names}
    return [row for row in rows if row["library"] in names]


def with_vectors(rows: list[dict]) -> list[dict]:
    """The rows of libraries at their best."""
    return at(rows, "best")


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


def held_lines(rows: list[dict], level: Level) -> list[tuple[str, ...]]:
    """The same for the rows of a lower level, where there is something to compare."""
    return [line for line in lines(at(rows, level), OURS + ENDS[level]) if line[-1] != "-"]


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
        "The same held to AVX2": (COLUMNS, held_lines(rows, "avx2")),
        "The same without vector instructions": (COLUMNS, held_lines(rows, "portable")),
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


def stored(rows: list[dict]) -> list[Row]:
    """The lines of all tables as the store keeps them; lines that ours is not in are left out."""
    out = []
    for level, end in ENDS.items():
        for (operation, n, moduli, threads), group in grouped(at(rows, level)).items():
            ours, peer = group.get(OURS + end), best_peer(group, OURS + end)
            if ours is None or (level == "portable" and peer is None):
                continue
            row = {"ours_us": round(ours["median_us"], 1), "spread": round(ours["spread"], 2)}
            if peer:
                ratio = round(peer["median_us"] / ours["median_us"], 2)
                row |= {"peer": peer["library"], "peer_us": round(peer["median_us"], 1), "ratio": ratio}
            out.append(Row(operation=operation, n=n, moduli=moduli, threads=threads, level=level, **row))
    return out


def further_tables(rows: list[dict]) -> dict[str, str]:
    """The tables of the second thread and of noise budgets as Markdown, by title."""
    out = {}
    if turns := second_thread(rows):
        out["A second thread"] = "\n".join([second_thread_summary(turns), "", *_markdown(TURNS, turns)])
    if left := budget_lines(rows):
        what = (
            "SEAL and Lattigo encrypt over all primes and divide by the special ones: they start with 4 to 5 bits "
            "more. `bfv-encrypt-extended` is that way of ours, an option ([bfv.md](bfv.md#encryption-over-qp)), "
            "beside theirs."
        )
        out["Noise budget left, in bits"] = "\n".join([what, "", *_markdown(BUDGETS, left)])
    return out


def _markdown(columns: tuple[str, ...], body: list[tuple[str, ...]]) -> list[str]:
    head = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return head + ["| " + " | ".join(line) + " |" for line in body]
