# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the command-line library under one name each, in every version of typer that the package allows.

Since 0.26 typer has its own copy of click: an exception of an installed `click` is then never raised, and click need
not be there. typer's public `BadParameter` leads to the classes of the copy in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

Abort = typer.Abort
Exit = typer.Exit

__all__ = ["Abort", "ClickException", "Exit", "UsageError", "is_help", "message_of"]

if TYPE_CHECKING:
    from click import ClickException, UsageError
else:
    UsageError, ClickException = typer.BadParameter.__mro__[1:3]


def message_of(error: ClickException) -> str:
    """Return what an error says; the hint at a mistyped command once, also where typer and click both give it."""
    if type(error).__name__ == "NoSuchCommand" and "Did you mean" in error.message:
        return error.message
    return error.format_message()


def is_help(error: BaseException) -> bool:
    """Say whether an error is the help text of a command that was given no arguments."""
    return isinstance(error, UsageError) and type(error).__name__ == "NoArgsIsHelpError"
