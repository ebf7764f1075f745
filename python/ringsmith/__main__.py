# SPDX-License-Identifier: Apache-2.0
"""`python -m ringsmith`: the command line."""

from __future__ import annotations

from ringsmith.cli import main

if __name__ == "__main__":
    main()
