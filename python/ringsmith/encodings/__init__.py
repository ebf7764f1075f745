# SPDX-License-Identifier: Apache-2.0
"""Encodings of real numbers as plaintext polynomials, for sets whose plaintext modulus has no slots."""
