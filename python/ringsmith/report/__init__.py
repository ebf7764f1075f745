# SPDX-License-Identifier: Apache-2.0
"""Reports: one object with the facts of a run, and its skins (terminal, JSON)."""
