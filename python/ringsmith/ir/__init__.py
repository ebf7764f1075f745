# SPDX-License-Identifier: Apache-2.0
"""Intermediate representations of a kernel: tensor graph, operations on packed slots, circuit with levels and scales.

Nothing here decides anything: the front end makes the graph, the compiler the rest.
"""
