# SPDX-License-Identifier: Apache-2.0
"""Encryption parameters: named sets, security figures, static noise, and the choice of a set for a kernel."""
