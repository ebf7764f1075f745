# SPDX-License-Identifier: Apache-2.0
"""`ringsmith help`: the pages of the documentation, which every installed package carries."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from ringsmith.errors import InputError
from ringsmith.report.terminal import plain_console
from ringsmith.shipped import pages

EXAMPLES = """Examples:

ringsmith help

ringsmith help python

ringsmith help service | less
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="help", epilog=EXAMPLES)(show_page)


def show_page(
    topic: Annotated[str | None, typer.Argument(help="a page; without it: the list of pages")] = None,
) -> None:
    """Read a page of the documentation: formatted on a terminal, as Markdown in a pipe."""
    found = pages()
    if topic is None:
        width = max(map(len, found), default=0)
        print("\n".join(f"{name:<{width}}  {_title(page)}" for name, page in found.items()))
        return
    if topic not in found:
        near = get_close_matches(topic, found, n=1)
        raise InputError(f"no page {topic!r}; {f'{near[0]!r}? ' if near else ''}`ringsmith help` lists them")
    text = found[topic].read_text(encoding="utf-8")
    if sys.stdout.isatty():
        plain_console().print(Markdown(text))
    else:
        print(text, end="")


def _title(page: Path) -> str:
    lines = page.read_text(encoding="utf-8").splitlines()
    return next((line.lstrip("# ") for line in lines if line.startswith("# ")), "")
