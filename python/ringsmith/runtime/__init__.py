# SPDX-License-Identifier: Apache-2.0
"""Running kernels and programs: client and server, engines, files, and the whole run with its report."""
