# SPDX-License-Identifier: Apache-2.0
"""`python -m ringsmith.hw.registers [--check]`: write, or compare, what is made from spec/registers.rdl."""

from __future__ import annotations

import sys

from ringsmith.hw.registers import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
