# SPDX-License-Identifier: Apache-2.0
"""Hardware flow: the only place of the project that starts EDA tools (simulate, generate, lint, prove)."""
