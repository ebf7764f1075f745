# SPDX-License-Identifier: Apache-2.0
"""From the graph of tensor operations to operations on packed vectors of a given number of slots."""
