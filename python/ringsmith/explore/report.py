# SPDX-License-Identifier: Apache-2.0
"""What a search found: a summary for the terminal, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ringsmith.errors import InputError
from ringsmith.explore import energy, host
from ringsmith.explore.point import Point
from ringsmith.explore.resources import trust
from ringsmith.explore.search import Search
from ringsmith.explore.verify import Verified
from ringsmith.files import replacing

#: Columns of a CSV file.
COLUMNS = (
    "name", "status", "latency_ms", "host_ms", "port_ms", "cycles", "runs", "batch_ms", "per_second", "share", "lut",
    "ff", "dsp", "bram36", "uram", "error_bits", "traffic_bytes", "security_bits", "host_operations", "energy_uj",
    "cells_uj", "memories_uj",
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
    lines += _on_device(search)
    reasons = [f"  {count:>9,} {why}" for why, count in search.infeasible.most_common(_REASONS)]
    figures = [
        search.board.clock,
        trust(search.board.family),
        energy.trust(),
        f"host: {host.LABEL}; it is not the board's",
        *(one.line() for one in ran),
    ]
    short = (Text(line, no_wrap=True, overflow="ellipsis") for line in reasons)
    return Group(*map(Text, [*lines, "", counted]), *short, *map(Text, figures))


def _on_device(search: Search) -> list[str]:
    """Return the fastest point that leaves nothing to the host, by name if it was shown; or that there is none."""
    alone = search.on_device
    if not alone:
        return ["every design leaves something to the host"]
    told = "the fastest that leaves nothing to the host"
    if alone[0] in search.front[:_BEST]:
        return [f"{told} is {alone[0].name}"]
    return [told, *_lines(alone[0], exact=search.exact)]


def _lines(point: Point, *, exact: bool) -> list[str]:
    taken = point.resources
    error = f"{-point.error_bits:.1f} bits of noise budget" if exact else f"error 2^{point.error_bits:.1f}"
    port = f", {point.port_ms:,.3f} ms of it on the serial port" if point.port_ms else ""
    batch = f", {point.runs} runs {point.batch_ms:,.3f} ms" if point.runs > 1 else ""
    return [
        f"{point.latency_ms:>10,.3f} ms  {point.name}" + port + batch,
        f"{'':15}LUT {taken['lut']:,.0f}, DSP {taken['dsp']:,.0f}, RAMB36 {taken['bram36']:g}: "
        f"{100 * point.share:.0f} % of the board",
        f"{'':15}{error}, {point.security_bits:.0f} bits of security, {point.traffic_bytes:,} bytes, {_host(point)}",
        f"{'':15}{point.energy_uj:,.4g} uJ a run in 180 nm cells: cells {point.cells_uj:,.4g}, memories "
        f"{point.memories_uj:,.4g}",
    ]


def _host(point: Point) -> str:
    """Say what the host does and how much of the latency that is."""
    if not point.host_operations:
        return "nothing on the host"
    return f"{point.host_operations:,} operations on the host ({point.host_ms:,.3f} ms of it)"


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
        yield _row(point, "front" if point.name in names else point.status)


def _row(point: Point, status: str) -> dict[str, Any]:
    return point.to_dict() | dict(point.resources) | {"status": status}


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
        "clock": search.board.clock,
        "resources": trust(search.board.family),
        "energy": energy.trust(),
        "verified": [one.to_dict() for one in ran],
        "host": host.LABEL,
        "fastest": next(rows(search)) if search.front else None,
        "fastest_on_device": _row(search.on_device[0], "front") if search.on_device else None,
        "front": [row for row in rows(search) if row["status"] == "front"],
    }
