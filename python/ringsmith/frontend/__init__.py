# SPDX-License-Identifier: Apache-2.0
"""Kernels: from a decorated Python function to a circuit of homomorphic operations.

The road is `trace` (function -> graph of tensor operations), `lower` (graph -> operations on packed vectors of a
given number of slots), `schedule` (-> circuit with relinearisations, rescales, levels and scales).
"""

from ringsmith.frontend import numpy_functions as numpy_functions  # Tensors answer numpy through it.
