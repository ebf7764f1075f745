# SPDX-License-Identifier: Apache-2.0
"""Bytes of other libraries: their parameters, keys and ciphertexts read as the engine's objects, and written."""
