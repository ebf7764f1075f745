# SPDX-License-Identifier: Apache-2.0
"""Programs that HEIR printed: its text for ckks, bgv, lwe and orion as kernels."""
