# SPDX-License-Identifier: Apache-2.0
"""Silicon figures with open parts: standard-cell area, clock, and power from the activity of a real operation.

All figures are of cells alone, before layout: no wires, no clock tree, no glitches; memories stand apart.
"""
