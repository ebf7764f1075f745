# SPDX-License-Identifier: Apache-2.0
"""The terminal skin of a report."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ringsmith.runtime.report import Report


def render(report: Report) -> RenderableType:
    """Return a report for the terminal."""
    parts: list[RenderableType] = [
        _operations(report),
        _times(report),
        _bytes(report),
        *_rounds(report),
        *_approximated(report),
        *_engine(report),
        _verdict(report),
    ]
    return Group(*parts)


def _operations(report: Report) -> Table:
    """Operation counts, one column for each packing."""
    columns: dict[str, Mapping[str, int]] = {f"{report.variant} (run)": report.operations, **report.variants}
    table = Table("operation", *columns, title=f"operations of {report.kernel}", title_justify="left")
    names = dict.fromkeys(name for counts in columns.values() for name in counts if name != "key_switch")
    for name in (*names, "key_switch"):
        table.add_row(name, *(f"{counts.get(name, 0):,}" for counts in columns.values()))
    return table


def _times(report: Report) -> Table:
    table = Table("step", "ms", title="time", title_justify="left")
    for name, value in report.time_ms.items():
        table.add_row(name, f"{value:,.1f}")
        if name == "evaluate":
            for kind, part in sorted(report.evaluation_ms.items(), key=lambda item: -item[1]):
                table.add_row(f"  {kind}", f"{part:,.1f}", style="dim")
    return table


def _bytes(report: Report) -> Table:
    table = Table("what", "bytes", "ciphertexts", title="sizes", title_justify="left")
    sizes, counts = report.bytes, report.ciphertexts
    table.add_row("to the server", f"{sizes['ciphertexts_in']:,}", str(counts["in"]))
    table.add_row("back to the client", f"{sizes['ciphertexts_out']:,}", str(counts["out"]))
    table.add_row("evaluation keys, once", f"{sizes['keys']:,}", "")
    table.add_row("peak memory of the process", f"{report.peak_memory:,}", "")
    return table


def _rounds(report: Report) -> list[Table]:
    """Bytes and times of each round of a client-aided run."""
    if not report.rounds:
        return []
    columns = "round", "sent", "received", "client ms", "wire ms", "server ms"
    table = Table(*columns, title="rounds: bytes (ciphertexts), time", title_justify="left")
    for number, one in enumerate(report.rounds, start=1):
        moved = (f"{one[f'{way}_bytes']:,} ({one[way]})" for way in ("sent", "received"))
        times = (f"{one[f'{part}_ms']:,.1f}" for part in ("client", "wire", "server"))
        table.add_row(str(number), *moved, *times)
    return [table]


def _approximated(report: Report) -> list[Table]:
    """The distance of each polynomial from the function it stands for, on the values of this run."""
    if not report.approximated:
        return []
    columns = "function", "values", "in its gap", "stated error", "largest error"
    table = Table(*columns, title="polynomials in place of functions", title_justify="left")
    for use in report.approximated:
        found = f"{use.found:.3g}" if use.holds else f"{use.found:.3g}: not the function it stands for"
        table.add_row(use.name, f"{use.values:,}", f"{use.in_gap:,}" if use.in_gap else "", f"{use.stated:.3g}", found)
    return [table]


def _engine(report: Report) -> list[Table]:
    """The engine's facts: one table for each group of facts."""
    tables = []
    for title, facts in report.engine_facts.items():
        if not isinstance(facts, Mapping):
            facts = {"": facts}
        table = Table("what", "value", title=title, title_justify="left")
        for name, value in facts.items():
            table.add_row(str(name), f"{value:,}" if isinstance(value, int | float) else str(value))
        tables.append(table)
    return tables


def _verdict(report: Report) -> Text:
    """The answer in one line."""
    words = "correct" if report.correct else "WRONG"
    text = f"{words} on {report.engine}: largest error {report.max_abs_error:.3g}, tolerance {report.tolerance:.3g}"
    if report.function_error is not None:
        text += f"; from the functions themselves {report.function_error:.3g}"
    return Text(text, style="bold green" if report.correct else "bold red")
