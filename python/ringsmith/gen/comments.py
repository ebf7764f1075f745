# SPDX-License-Identifier: Apache-2.0
"""Comments of generated files."""

from __future__ import annotations

from textwrap import TextWrapper

#: Columns of a line of comment.
WIDTH = 120


def comment(text: str, marker: str = "//", indent: int = 0) -> list[str]:
    """Return `text` as lines of comment behind `marker`, indented by `indent` columns, of at most `WIDTH` columns."""
    start = f"{' ' * indent}{marker} "
    wrapper = TextWrapper(WIDTH, initial_indent=start, subsequent_indent=start)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return wrapper.wrap(text)
