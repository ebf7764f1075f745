# SPDX-License-Identifier: Apache-2.0
"""The package's own exceptions: what went wrong, where, with which values, and what would work."""

from __future__ import annotations

from ringsmith.location import Location


class RingsmithError(Exception):
    """Base class of every error this package raises on bad input; the command line exits with status 2."""


class InputError(RingsmithError):
    """Data a user gave has the wrong shape, type, range or content."""


class SeedError(RingsmithError):
    """A seed would be used twice, in a copy of what it was given to, or publish what follows from it."""


class SeedWarning(UserWarning):
    """Data of a caller's own are encrypted with a seed: anyone who knows or guesses the seed has the secret key."""


class ParameterError(RingsmithError):
    """No parameter set satisfies the request, or the requested set is insecure or inconsistent."""


class KernelError(RingsmithError):
    """A kernel cannot be traced or compiled; the message shows the user's own line with a caret.

    `where` is the place in the user's file, or None when the whole kernel is meant.
    """

    def __init__(self, message: str, where: Location | None = None) -> None:
        """Keep the bare message and the place; the text of the exception joins them."""
        self.message = message
        self.where = where
        text = message if where is None else f"{where}: {message}\n{where.caret()}".rstrip()
        super().__init__(text)

    def __reduce__(self) -> tuple[type[KernelError], tuple[str, Location | None]]:
        """Pickle by the two parts, not by the joined text."""
        return type(self), (self.message, self.where)


class FormatError(RingsmithError):
    """Serialized bytes are truncated, corrupted, oversized or of another version."""


class KeyMismatchError(RingsmithError):
    """A ciphertext, key or parameter set does not belong with the others, or a key is missing."""


class DeviceError(RingsmithError):
    """A device refused a program, reported a bus error or timed out."""


class ToolError(RingsmithError):
    """An EDA tool is missing, failed or was killed."""
