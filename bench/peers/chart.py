# SPDX-License-Identifier: Apache-2.0
"""The bar chart of a peer run as a plain SVG: time relative to ours, one group per operation, logarithmic axis."""

from __future__ import annotations

import math
from pathlib import Path
from xml.sax.saxutils import escape

from table import OURS, grouped, with_vectors

# (operation, n, moduli): what a reader asks first.
SHOWN = (
    ("ntt", 16384, "45"),
    ("ntt", 16384, "60"),
    ("bfv-encrypt", 4096, "36+36+37"),
    ("bfv-decrypt", 4096, "36+36+37"),
    ("bfv-multiply-relinearize", 4096, "36+36+37"),
    ("bfv-multiply-relinearize", 8192, "43+43+44+44+44"),
    ("ckks-encrypt", 16384, "8x45"),
    ("ckks-relinearize", 16384, "8x45"),
    ("ckks-relinearize", 32768, "15x45"),
)
COLOURS = ("#1b7f5c", "#5b6ee1", "#8f9bb3", "#d08c2f", "#c0504d", "#7a5195", "#4f9bbd", "#666666", "#e377c2", "#bcbd22")
TITLE = "Time per operation, one thread (log scale; shorter is better)"
LEFT, WIDTH, BAR, GAP = 220, 520, 13, 16


def bar_chart(rows: list[dict], machine: str, path: Path) -> None:
    """Write the chart of the one-thread rows, measured on a machine; does nothing if ours was not measured."""
    groups = {key[:3]: group for key, group in grouped(with_vectors(rows)).items() if key[3] == 1}
    shown = [(key, groups[key]) for key in SHOWN if OURS in groups.get(key, {})]
    if not shown:
        return
    names = [OURS, *sorted({name for _, group in shown for name in group if name != OURS})]
    colour = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    longest = max(row["median_us"] / group[OURS]["median_us"] for _, group in shown for row in group.values())
    scale = WIDTH / math.log2(2 * longest)
    parts, y = _legend(names, colour, machine), 82
    for (operation, n, moduli), group in shown:
        ours = group[OURS]["median_us"]
        for line, (label, weight) in enumerate(((operation, 600), (f"n = {n}, {moduli}", 400))):
            at = f'x="{LEFT - 10}" y="{y + BAR + GAP * line}" text-anchor="end" font-weight="{weight}"'
            parts.append(f"<text {at}>{escape(label)}</text>")
        for row in sorted(group.values(), key=lambda row: row["median_us"]):
            length = max(2.0, scale * math.log2(2 * row["median_us"] / ours)) if row["median_us"] * 2 > ours else 2.0
            text = f"{row['median_us']:.0f} µs ({row['median_us'] / ours:.1f}×)"
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{colour[row["library"]]}"/>'
            )
            parts.append(f'<text x="{LEFT + length + 5:.1f}" y="{y + BAR - 3}" font-size="10">{text}</text>')
            y += BAR
        y += GAP
    path.parent.mkdir(parents=True, exist_ok=True)
    view = f'viewBox="0 0 {LEFT + WIDTH + 130} {y + 10}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {view} font-family="sans-serif" font-size="12">'
    path.write_text("\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>", ""]))


def _legend(names: list[str], colour: dict[str, str], machine: str) -> list[str]:
    where = f'<tspan font-size="11" font-weight="400" dx="8">{escape(machine)}</tspan>'
    parts = [f'<text x="12" y="20" font-size="14" font-weight="700">{TITLE}{where}</text>']
    x, y = 12, 32
    for name in names:
        if x + 30 + 7 * len(name) > LEFT + WIDTH:
            x, y = 12, y + 20
        parts.append(f'<rect x="{x}" y="{y}" width="11" height="11" fill="{colour[name]}"/>')
        parts.append(f'<text x="{x + 16}" y="{y + 10}">{escape(name)}</text>')
        x += 30 + 7 * len(name)
    return parts
