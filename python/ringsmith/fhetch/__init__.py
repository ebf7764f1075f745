# SPDX-License-Identifier: Apache-2.0
"""Traces in the flat form of the FHETCH polynomial language, of any recorder: reading and exact values."""
