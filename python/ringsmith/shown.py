# SPDX-License-Identifier: Apache-2.0
"""How objects look in a notebook: their `repr` above a table of facts. No secret is a fact."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


class Shown:
    """An object that notebooks show as a table; facts are (label, text)."""

    __slots__ = ()

    def _facts(self) -> Sequence[tuple[str, str]]:
        return ()

    def _repr_html_(self) -> str:
        """Return the object as HTML."""
        rows = "".join(
            f'<tr><th style="text-align:left">{escape(label)}</th><td style="text-align:left">{escape(text)}</td></tr>'
            for label, text in self._facts()
        )
        return f"<code>{escape(repr(self))}</code>" + (f"<table>{rows}</table>" if rows else "")
