# SPDX-License-Identifier: Apache-2.0
"""What a search found: a summary for the terminal, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ringsmith.errors import InputError
from ringsmith.explore import energy
from ringsmith.explore.point import Point
from ringsmith.explore.resources import trust
from ringsmith.explore.search import Search
from ringsmith.explore.verify import Verified
from ringsmith.files import replacing

#: Columns of a CSV file.
COLUMNS = (
    "name", "status", "latency_ms", "cycles", "runs", "batch_ms", "per_second", "share", "lut", "ff", "dsp",
    "bram36", "uram", "error_bits", "traffic_bytes", "security_bits", "host_operations", "energy_uj", "cells_uj",
    "memories_uj",
)  # fmt: skip
_BEST = 5
_REASONS = 8


def summary(search: Search, ran: Sequence[Verified] = ()) -> RenderableType:
    """Return the five fastest points of the front, why others do not do, and how far the estimates can be trusted."""
    front = search.front
    evaluated = sum(point.status == "done" for point in search.points)
    counted = (
        f"{search.total:,} points: {sum(search.infeasible.values()):,} infeasible, {search.pruned:,} superfluous by "
        f"their bound, {evaluated:,} evaluated, {len(front):,} on the front"
    )
    lines = [f"{search.board.name}: the fastest of the front"]
    lines += [line for point in front[:_BEST] for line in _lines(point, exact=search.exact)]
    reasons = [f"  {count:>9,} {why}" for why, count in search.infeasible.most_common(_REASONS)]
    figures = [trust(), energy.trust(), *(one.line() for one in ran)]
    short = (Text(line, no_wrap=True, overflow="ellipsis") for line in reasons)
    return Group(*map(Text, [*lines, "", counted]), *short, *map(Text, figures))


def _lines(point: Point, *, exact: bool) -> list[str]:
    taken = point.resources
    error = f"{-point.error_bits:.1f} bits of noise budget" if exact else f"error 2^{point.error_bits:.1f}"
    batch = f", {point.runs} runs {point.batch_ms:,.3f} ms" if point.runs > 1 else ""
    return [
        f"{point.latency_ms:>10,.3f} ms  {point.name}" + batch,
        f"{'':15}LUT {taken['lut']:,.0f}, DSP {taken['dsp']:,.0f}, RAMB36 {taken['bram36']:g}: "
        f"{100 * point.share:.0f} % of the board",
        f"{'':15}{error}, {point.security_bits:.0f} bits of security, {point.traffic_bytes:,} bytes, "
        f"{point.host_operations} host operations",
        f"{'':15}{point.energy_uj:,.4g} uJ a run in 180 nm cells: cells {point.cells_uj:,.4g}, memories "
        f"{point.memories_uj:,.4g}",
    ]


def nothing_fits(search: Search) -> InputError:
    """Return the error of a space without a feasible point: the commonest reason, and the nearest miss."""
    why, count = (search.infeasible.most_common(1) or [("the space is empty", 0)])[0]
    near = ""
    if search.nearest is not None:
        near = f"; the nearest miss is {search.nearest[1]}, {search.nearest[2]}"
    return InputError(
        f"none of {search.total:,} points is feasible on {search.board.name}: {count:,} times {why}{near}"
    )


def rows(search: Search) -> Iterator[dict[str, Any]]:
    """Yield the evaluated points, the front first."""
    front = search.front
    names = {point.name for point in front}
    rest = sorted((point for point in search.points if point.name not in names), key=lambda point: point.name)
    for point in (*front, *rest):
        values = point.to_dict() | dict(point.resources)
        yield values | {"status": "front" if point.name in names else point.status}


def write_csv(path: Path, search: Search) -> None:
    """Write the evaluated points as CSV."""
    with replacing(path) as file:
        lines = [",".join(COLUMNS)]
        lines += [",".join("" if row[key] is None else str(row[key]) for key in COLUMNS) for row in rows(search)]
        file.write("\n".join([*lines, ""]).encode())


def as_json(search: Search, ran: Sequence[Verified] = ()) -> dict[str, Any]:
    """Return all that a search found, ready for JSON."""
    return {
        "board": search.board.name,
        "points": search.total,
        "evaluated": len(search.points),
        "superfluous": search.pruned,
        "infeasible": dict(search.infeasible.most_common()),
        "refused": {one.name: one.reason for one in search.refused},
        "resources": trust(),
        "energy": energy.trust(),
        "verified": [one.to_dict() for one in ran],
        "fastest": {**next(rows(search)), **next(rows(search))["resources"]} if search.front else None,
        "front": [row for row in rows(search) if row["status"] == "front"],
    }
