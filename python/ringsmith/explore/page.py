# SPDX-License-Identifier: Apache-2.0
"""A search as one self-contained HTML page: plots with linked selection, a table with filters, each point's box."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith.explore import energy, host
from ringsmith.explore.design import parameters_text, preset_text
from ringsmith.explore.point import Point
from ringsmith.explore.resources import FITTED, NAMES, knobs_of, model, trust
from ringsmith.explore.search import Search
from ringsmith.explore.verify import Verified

HERE = Path(__file__).resolve().parent
_REASONS = 12


def page(title: str, search: Search, verified: Mapping[str, Verified]) -> str:
    """Return the document of a search with a front."""
    front = {point.name for point in search.front}
    done = [point for point in search.points if point.status == "done"]
    ordered = sorted(done, key=lambda point: (point.latency_ms or 0.0, point.name))
    points = [_entry(search, point, point.name in front, verified.get(point.name)) for point in ordered]
    data = {
        "board": search.board.name,
        "points": points,
        "error_label": "minus the bits of noise budget" if search.exact else "log2 of the error",
    }
    reasons = "".join(f"<li>{n:,}: {html.escape(why)}</li>" for why, n in search.infeasible.most_common(_REASONS))
    told = (
        search.board.clock,
        trust(search.board.family),
        energy.trust(),
        f"host: {host.LABEL}; it is not the board's",
    )
    trusted = "".join(f"<li>{html.escape(line)}</li>" for line in told)
    head = html.escape(f"{title} on {search.board.name}")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>ringsmith explore: {head}</title><style>{_asset("page.css")}</style></head><body>
<h1>{head}</h1>
<p>{search.total:,} points: {sum(search.infeasible.values()):,} infeasible, {search.pruned:,} superfluous by their
bound, {len(done):,} evaluated, {len(front):,} on the front.</p>
<p>{_alone(search)}</p>
<ul>{trusted}</ul>
<div class="plots" id="plots"></div><div id="box"></div>
<div class="tools"><input id="find" type="search" placeholder="find" aria-label="find">
<label>at most <input id="slowest" type="number" min="0" step="any"> ms</label>
<label>at most <input id="share" type="number" min="0" max="100" step="any"> % of the board</label>
<label><input id="best" type="checkbox"> front only</label><span id="count"></span></div>
<div class="scroll"><table><thead><tr id="heads"></tr></thead><tbody id="rows"></tbody></table></div>
<h2>Infeasible</h2><ul>{reasons}</ul>
<script type="application/json" id="data">{json.dumps(data).replace("<", chr(92) + "u003c")}</script>
<script>{_asset("page.js")}</script></body></html>
"""


def _alone(search: Search) -> str:
    """Say which point is the fastest, and which of those that leave nothing to the host."""
    first = html.escape(f"The fastest: {search.front[0].name}")
    if not search.on_device:
        return f"{first}. Every design leaves something to the host."
    return f"{first}; of those that leave nothing to the host: {html.escape(search.on_device[0].name)}."


def _asset(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _entry(search: Search, point: Point, is_front: bool, verified: Verified | None) -> dict[str, Any]:
    """Return what the page's script shows of a point."""
    values = point.to_dict()
    names = (
        "name", "latency_ms", "host_ms", "port_ms", "cycles", "error_bits", "security_bits", "traffic_bytes",
        "host_operations", "energy_uj",
    )  # fmt: skip
    entry = {name: values[name] for name in names} | dict(point.resources)
    entry |= {"status": "front" if is_front else "done", "share_percent": 100 * point.share}
    entry |= {"verified_cycles": verified.measured if verified else None, "timeline": _timeline(point)}
    entry |= {"facts": _facts(search, point, verified), "taken": _taken(search, point), "files": []}
    if is_front:
        entry["files"] = [
            ("preset", preset_text(search.preset(point))),
            ("parameters", parameters_text(search.candidates[point.params])),
        ]
    return entry


def _timeline(point: Point) -> list[tuple[str, int]]:
    """Return the cycles: transfers behind work, work alone, transfers alone, the rest."""
    usage = point.usage or {}
    hidden = int(usage["hidden_cycles"])
    transfers = int(usage["transfer_cycles"]) - hidden
    work = int(usage["compute_cycles"])
    alone = min(max(work - hidden, 0), int(usage["cycles"]) - hidden - transfers)
    rest = int(usage["cycles"]) - hidden - transfers - alone
    return [("transfers behind work", hidden), ("work alone", alone), ("transfers alone", transfers), ("other", rest)]


def _facts(search: Search, point: Point, verified: Verified | None) -> list[tuple[str, Any]]:
    facts: list[tuple[str, Any]] = [
        ("latency, ms", point.latency_ms),
        ("of it the device's, ms", point.device_ms),
        (f"of it the host's ({host.LABEL}), ms", point.host_ms),
        *([("of it the serial port's, ms", point.port_ms)] if point.port_ms else []),
        (f"{point.runs} runs, ms", point.batch_ms),
        ("runs a second", point.per_second),
        ("noise budget, bits", -point.error_bits) if search.exact else ("log2 of the error", point.error_bits),
        ("security, bits", point.security_bits),
        ("bytes on the wire", point.traffic_bytes),
        ("operations on the host", point.host_operations),
        *((f"{one['kind']} on the host: {one['because']}", one["count"]) for one in _work(point)),
        ("predicted cycles", point.cycles),
        ("energy in 180 nm cells, not of the board, uJ", point.energy_uj),
        ("of it cells, uJ", point.cells_uj),
        ("of it memories, uJ", point.memories_uj),
    ]
    if verified is not None:
        facts.append((f"cycles on {verified.engine}", verified.measured))
    return facts


def _work(point: Point) -> list[dict[str, Any]]:
    """Return the host's operations by kind and reason."""
    return [dict(one) for one in (point.usage or {}).get("host_work", [])]


def _taken(search: Search, point: Point) -> list[tuple[str, list[tuple[str, float]], float]]:
    """Return each resource: its parts (LUTs and flip-flops by group of modules), what the board has."""
    preset = search.preset(point)
    groups = model(search.board.family).by_group(knobs_of(preset.to_dict()))
    rows = []
    for what, amount in point.resources.items():
        available = float(getattr(search.board, what))
        if available:
            parts = [("used", amount)]
            if what in FITTED:
                parts = [(group, max(float(np.rint(groups[group][what])), 0.0)) for group in groups]
            rows.append((NAMES[what], parts, available))
    return rows
