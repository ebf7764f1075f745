# SPDX-License-Identifier: Apache-2.0
"""The ledger as one self-contained HTML page: sortable, filtered by paper and text, readable on a phone."""

from __future__ import annotations

import html
from pathlib import Path

from ringsmith.claims.ledger import PAPERS, Claim, Ledger

HERE = Path(__file__).resolve().parent


COLUMNS = ("paper", "quantity", "published", "ours", "ratio", "estimate", "how")


def escape(value: object) -> str:
    """A value as text that adds no tag and ends no attribute: whatever an entry says passes through here."""
    return html.escape(str(value))


def number(value: float | int | str | None) -> str:
    """A figure as people write it: thousands separated, at most five digits after the point."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if value == int(value) and abs(value) >= 1:
        return f"{int(value):,}"
    return f"{value:.5g}"


def unit(claim: Claim) -> str:
    """The published figure's unit; none where the paper gives no figure."""
    return "" if claim.published == "not given" else f" {claim.unit}"


def times(ratio: float | None) -> str:
    """A ratio, to three digits."""
    return "–" if ratio is None else f"{ratio:.3g}×" if ratio < 100 else f"{ratio:,.0f}×"


def arrow(ratio: float | None) -> str:
    """A sign that tells above from below without colour."""
    return "" if ratio is None else "▲ " if ratio >= 1 else "▼ "


def page(ledger: Ledger) -> str:
    """The whole document."""
    measured = sum(claim.ours is not None for claim in ledger.claims)
    better = sum((claim.ratio or 0) > 1 for claim in ledger.claims)
    below = sum(_is_below(claim) for claim in ledger.claims)
    heads = "".join(f'<th aria-sort="none"><button>{name}</button></th>' for name in COLUMNS)
    options = "".join(f"<option>{name}</option>" for name in PAPERS)
    errata = "".join(
        f'<li id="e{escape(e.number)}" value="{escape(e.number)}"><b>{escape(e.paper)}</b>: {escape(e.text)}</li>'
        for e in ledger.errata
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>ringsmith: claims ledger</title><style>{_asset("page.css")}</style></head><body>
<h1>Claims ledger</h1>
<p>{len(ledger.claims)} published figures of five papers and of the agreed benchmarks, each beside ours: {measured}
measured, {better} better than published, the rest open with the reason. A ratio above 1 means ours is better. An
estimate is no value of ours: a search's estimate, another processor, or cells at 180 nm carried to the paper's node and
voltage by a rule; how, its row says. The {below} figures below 1 stand first, the worst at the top, each with its
reason.</p>
<div class="tools"><input id="find" type="search" placeholder="find" aria-label="find">
<select id="paper" aria-label="paper"><option value="">all papers</option>{options}</select>
<span id="count"></span></div>
<table id="claims"><thead><tr>{heads}</tr></thead><tbody>
{"".join(map(_row, sorted(ledger.claims, key=_order)))}
</tbody></table>
<h2>Where the papers are wrong</h2><ol>{errata}</ol>
<script>{_asset("page.js")}</script></body></html>
"""


def _is_below(claim: Claim) -> bool:
    return claim.ratio is not None and claim.ratio < 1


def _order(claim: Claim) -> float:
    """Rows below 1 come first, the least ratio first; others stay in the ledger's order."""
    return claim.ratio if claim.ratio is not None and claim.ratio < 1 else 1.0


def _asset(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _row(claim: Claim) -> str:
    cites = " ".join(f'<a href="#e{escape(n)}">[{escape(n)}]</a>' for n in claim.errata)
    note = f" {escape(claim.note)}" if claim.note else ""
    quantity = (
        f"{escape(claim.quantity)} {cites}<details><summary><small>includes</small></summary>"
        f"<small>{escape(claim.includes)}. Source: {escape(claim.source)}.{note}</small></details>"
    )
    below = f'<span class="bad">below 1:</span> {escape(claim.note or claim.includes)} ' if _is_below(claim) else ""
    how = below + (f"<code>{escape(claim.command or claim.figure)}</code>" if claim.command or claim.figure else "")
    if claim.why_open:
        how += f' <span class="open">open: {escape(claim.why_open)}</span>'
    if estimated := claim.estimate_command or claim.estimate_figure:
        how += f" estimate: <code>{escape(estimated)}</code>"
    ratio = claim.ratio
    tone = "" if ratio is None else " good" if ratio >= 1 else " bad"
    cells = (
        _cell("paper", f"<span>{escape(claim.paper)}<br><small>{escape(claim.where)}</small></span>"),
        _cell("quantity", f"<span>{quantity}</span>"),
        _figure("published", claim.published, number(claim.published) + unit(claim)),
        _figure("ours", claim.ours, number(claim.ours)),
        _figure("ratio", ratio, arrow(ratio) + times(ratio), tone),
        _figure("estimate", claim.estimate, number(claim.estimate)),
        _cell("how", f"<span>{how}</span>"),
    )
    return f'<tr id="{escape(claim.id)}" data-paper="{escape(claim.paper)}">{"".join(cells)}</tr>\n'


def _cell(name: str, content: str) -> str:
    return f'<td data-name="{name}">{content}</td>'


def _figure(name: str, value: float | int | str | None, text: str, tone: str = "") -> str:
    data = f' data-value="{value}"' if isinstance(value, int | float) else ""
    return f'<td class="number{tone}" data-name="{name}"{data}>{escape(text)}</td>'
