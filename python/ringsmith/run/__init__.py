# SPDX-License-Identifier: Apache-2.0
"""Running kernels: compilation, client and server, engines, inputs, and the whole run with its report."""
