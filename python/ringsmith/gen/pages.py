# SPDX-License-Identifier: Apache-2.0
"""Figures in pages: `spec/results/pages/NAME.md` printed as `docs/results/NAME.md`, and references in other pages.

A template holds `{{ expression }}` where a figure stands. In any other page a figure is followed by a comment that says
where it comes from, `317,943<!--= heaws-multiply.cycles -->`; the number before the comment is filled in. An expression
is made of names of figures (`claims.figures`), numbers, `+ - * /` and brackets, with spaces between them; ` : ` and a
format may follow, the digits after the point (`.2`) or a percentage (`%`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ringsmith.claims.figures import Figures, figures
from ringsmith.errors import InputError
from ringsmith.results import Result
from ringsmith.results.expression import evaluate, names_in
from ringsmith.results.measure import stale

REFERENCE = re.compile(r"(?P<shown>[\d?][\d,.]*(?: %)?)<!--= (?P<what>.+?) -->")
PLACE = re.compile(r"\{\{ (?P<what>.+?) \}\}")
#: What begins the list of old figures at the end of a page; it alone depends on today's sources.
OLD = "\n## Older than today's sources\n"


def render(root: Path) -> dict[Path, str]:
    """Return the pages of a tree that show figures, by their place, with the text they must have.

    Raises:
        InputError: a reference cannot be read, or no value of it is stored; the message names the page.
    """
    known = figures(root / "spec")
    old = stale(known.wanted, known.stored)
    found = {}
    for template in sorted((root / "spec" / "results" / "pages").glob("*.md")):
        found[Path("docs") / "results" / template.name] = _page(template, known, old)
    for path in _pages(root):
        text = path.read_text(encoding="utf-8")
        if REFERENCE.search(text):
            found[path.relative_to(root)] = refreshed(text, known, path.name)
    return found


def _pages(root: Path) -> Iterator[Path]:
    """Yield the pages that may refer to figures."""
    yield from (path for name in ("README.md", "SECURITY.md") if (path := root / name).exists())
    yield from sorted((root / "docs").glob("*.md"))


def refreshed(text: str, known: Figures, where: str) -> str:
    """Return a page with the number before each reference as it is stored."""

    def filled(match: re.Match[str]) -> str:
        return f"{shown(match['what'], known, where)}<!--= {match['what']} -->"

    return REFERENCE.sub(filled, text)


def _page(template: Path, known: Figures, old: Mapping[str, str]) -> str:
    """Return a page of results with its figures, and with those that are older than today's sources at its end."""
    text, where = template.read_text(encoding="utf-8"), template.name
    said = PLACE.sub(lambda match: shown(match["what"], known, where), text)
    title, _, rest = said.partition("\n")
    origin = f"<!-- Generated from spec/results/pages/{where} by `python -m ringsmith.gen`. -->"
    used = {known.named[name].command for match in PLACE.finditer(text) for name in _names(match["what"], known)}
    lines = [_age(known.stored[command], old[command]) for command in sorted(used & set(old))]
    return f"{title}\n\n{origin}\n{rest}" + (f"{OLD}\n" + "\n".join(lines) + "\n" if lines else "")


def _age(result: Result, reason: str) -> str:
    return f"- `{result.command}`: of {result.date}, commit {result.commit} ({reason})"


def without_ages(text: str) -> str:
    """Return a page without the list of its old figures, which changes with every source."""
    return text.partition(OLD)[0]


def _names(what: str, known: Figures) -> list[str]:
    return [word for word in what.split() if word in known.named]


def shown(what: str, known: Figures, where: str) -> str:
    """Return what a page shows for a reference. Raises InputError that names the page."""
    expression, _, form = what.partition(" : ")
    for name in names_in(expression):
        known.value(name)
    try:
        value = evaluate(expression, known.value)
    except InputError as error:
        raise InputError(f"{where}: the reference '{what}' cannot be read: {error}") from None
    return formatted(value, form, f"{where}: the reference '{what}'")


def formatted(value: float, form: str, where: str = "") -> str:
    """Return a number as pages show it: thousands separated, a whole one without a point unless a format asks."""
    if form == "%":
        return f"{100 * value:.0f} %"
    if form and not re.fullmatch(r"\.\d", form):
        raise InputError(f"{where} has the format '{form}'; known: .0 to .9 and %")
    if not form and value != int(value):
        raise InputError(f"{where} is {value}, not whole: give a format, as ' : .2'")
    return f"{value:,{form or '.0'}f}"
