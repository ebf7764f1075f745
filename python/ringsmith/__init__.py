# SPDX-License-Identifier: Apache-2.0
"""ringsmith: computations on encrypted data, on a CPU or on a co-processor it generates itself."""

from __future__ import annotations

from ringsmith._native import __version__

__all__ = ["__version__"]
