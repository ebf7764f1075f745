# SPDX-License-Identifier: Apache-2.0
"""The language of kernels: declared arguments, tensors with numpy's functions, ciphertexts of manual mode, refusals.
`trace` runs a kernel's function on such stand-ins and gives the graph, or the circuit of a manual kernel."""
