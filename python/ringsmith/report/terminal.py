# SPDX-License-Identifier: Apache-2.0
"""Consoles that print names and figures as they are: no `[red]` in a name is a style, no `:smile:` a picture."""

from __future__ import annotations

from rich.console import Console

__all__ = ["Console", "plain_console"]


def plain_console(*, stderr: bool = False) -> Console:
    """Return the console of an answer (stdout) or of what people watch (stderr).

    Styles are given as `Text` or `style=`.
    """
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)
