# SPDX-License-Identifier: Apache-2.0
"""Textbook oracles in Python integers; they import nothing of ringsmith."""
