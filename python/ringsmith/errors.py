# SPDX-License-Identifier: Apache-2.0
"""The package's own exceptions: what went wrong, where, with which values, and what would work."""

from __future__ import annotations


class RingsmithError(Exception):
    """Base class of every error this package raises on bad input; the command line exits with status 2."""


class InputError(RingsmithError):
    """Data a user gave has the wrong shape, type, range or content."""


class ParameterError(RingsmithError):
    """No parameter set satisfies the request, or the requested set is insecure or inconsistent."""


class KernelError(RingsmithError):
    """A kernel cannot be traced or compiled; the message shows the user's own line with a caret."""


class FormatError(RingsmithError):
    """Serialized bytes are truncated, corrupted, oversized or of another version."""


class KeyMismatchError(RingsmithError):
    """A ciphertext, key or parameter set does not belong with the others, or a key is missing."""


class DeviceError(RingsmithError):
    """A device refused a program, reported a bus error or timed out."""


class ToolError(RingsmithError):
    """An EDA tool is missing, failed or was killed."""
