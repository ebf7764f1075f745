# SPDX-License-Identifier: Apache-2.0
"""Passes on the graph of tensor operations, which know nothing of slots."""
