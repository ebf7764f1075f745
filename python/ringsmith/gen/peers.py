# SPDX-License-Identifier: Apache-2.0
"""`docs/bench-peers.md` from `spec/results/peers`: what a reader came for first, then each machine whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ringsmith.results.peers import Level, Machine, Row, load_machines
from ringsmith.results.records import Record, load_records

PAGE = Path("docs") / "bench-peers.md"
HEAD = """# ringsmith beside other libraries

<!-- Generated from spec/results/peers by `python -m ringsmith.gen`; `make bench WHAT=peers` adds its machine there. -->

How many times as long the fastest of the other libraries takes, on one core with the same parameters, from the least to
the greatest of all degrees and moduli measured. Above 1 ringsmith is faster; every result is checked by decryption.
"""
READING = """
## How to read the tables
Medians in µs of one run, of its rounds the least disturbed. Of several splits into data and special primes
each library's fastest stands. A row on two threads: [performance](performance.md#two-threads). **Not among the peers**:
OpenFHE built from source with HEXL, which no registry ships; its wheel has no HEXL.{hexl}

![Time per operation beside the peers](bench-peers.svg)
"""
#: The record of the peer that is built by hand.
HEXL = "openfhe-hexl"
BY_HAND = """ By hand, n = {n:.0f}, HPSPOVERQ, it
takes {multiply_us:.0f} µs for a BFV multiplication and {relinearised_us:.0f} µs with relinearisation, ringsmith on the
same machine {ours_multiply_us:.0f} and {ours_relinearised_us:.0f} µs: the strongest BFV peer known to us."""
#: The levels of the first table, and what stands behind the processor's name.
BESIDE: dict[Level, str] = {"best": "", "avx2": ", held to AVX2"}
#: The lower levels of a machine's section: title and what was held how.
HELD: dict[Level, str] = {
    "avx2": """### Held to AVX2

Ours with `RINGSMITH_SIMD=avx2`, HEXL with `HEXL_DISABLE_AVX512DQ`, fhe.rs and tfhe-ntt built without AVX-512; other
peers as they are, with wider vectors where they use them.""",
    "portable": """### Without vector instructions

Ours with `RINGSMITH_SIMD=portable`.""",
}
COLUMNS = ("operation", "n", "moduli", "threads", "ringsmith", "spread", "best peer", "its time", "ratio")


def render(root: Path) -> dict[Path, str]:
    """Return the page by its place; nothing where no machine is stored."""
    machines = load_machines(root / "spec" / "results" / "peers")
    records = load_records(root / "spec" / "results" / "records.toml")
    return {PAGE: page(machines, records)} if machines else {}


def page(machines: tuple[Machine, ...], records: tuple[Record, ...]) -> str:
    """Return the page of these machines, with the peer that is built by hand where its record is there."""
    reading = READING.format(hexl="".join(BY_HAND.format(**record.values) for record in records if record.id == HEXL))
    return HEAD + "\n" + "\n".join(_summary(machines)) + "\n" + reading + "".join(map(_section, machines))


def _summary(machines: tuple[Machine, ...]) -> list[str]:
    operations = sorted({row.operation for machine in machines for row in machine.rows})
    shown = [(machine, level) for machine in machines for level in BESIDE if any(_at(machine, level))]
    names = (f"{short(machine)}{BESIDE[level]}" for machine, level in shown)
    lines = _table(("operation", *names, "fastest peer, mostly"), [])
    for operation in operations:
        ratios = [machine.ratios(operation, level) for machine, level in shown]
        if any(ratios):
            cells = [_range(found) if found else "–" for found in ratios]
            lines.append(f"| {operation} | {' | '.join(cells)} | {_rival(machines, operation)} |")
    return lines


def _at(machine: Machine, level: Level) -> list[Row]:
    return [row for row in machine.rows if row.level == level]


def short(machine: Machine) -> str:
    """Return the processor without its caches."""
    return machine.machine.partition(", L1")[0]


def _range(ratios: list[float]) -> str:
    ends = [f"{ratio:.2f}" for ratio in (ratios[0], ratios[-1])]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _rival(machines: tuple[Machine, ...], operation: str) -> str:
    rows = [row for machine in machines for row in machine.rows if row.operation == operation and row.threads == 1]
    return Counter(row.peer for row in rows if row.peer and row.level in BESIDE).most_common(1)[0][0]


def _section(machine: Machine) -> str:
    out = ["", f"## {short(machine)}", ""]
    out += [f"`{machine.command}`, commit {machine.commit}, {machine.date}, {machine.machine}.", ""]
    out += [f"Peers: {', '.join(machine.peers)}."]
    out += [f"Left out: {name} ({reason})." for name, reason in sorted(machine.left_out.items())]
    out += ["", *_table(COLUMNS, map(_cells, _at(machine, "best")))]
    for title, text in machine.tables.items():
        out += ["", f"### {title}", "", text]
    for level, head in HELD.items():
        if rows := _at(machine, level):
            out += ["", head, "", *_table(COLUMNS, map(_cells, rows))]
    if machine.limits:
        out += ["", "The transforms against their arithmetic limit, best (median):", "", "```", machine.limits, "```"]
    return "\n".join(out) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    ours = (row.operation, str(row.n), row.moduli, str(row.threads), f"{row.ours_us:.1f}", f"{100 * row.spread:.0f} %")
    return (*ours, *((row.peer, f"{row.peer_us:.1f}", f"{row.ratio:.2f}") if row.ratio else ("-", "-", "-")))


def _table(columns: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> list[str]:
    head = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return head + ["| " + " | ".join(line) + " |" for line in body]
