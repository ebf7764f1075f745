# SPDX-License-Identifier: Apache-2.0
"""The 8-point accelerators of the CKKS-on-Zynq study and our two variants of them (rtl/ntt8)."""
