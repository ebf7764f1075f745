# SPDX-License-Identifier: Apache-2.0
"""What a user writes: declared arguments, tensors with numpy's functions, ciphertexts of manual mode, and what is
refused. `trace` runs a kernel's function on such stand-ins and gives the graph, or the circuit of a manual kernel."""
