# SPDX-License-Identifier: Apache-2.0
# Generated from spec/operations.yaml by `python -m ringsmith.gen`; do not edit.
"""Operations on ciphertexts by code: name, number of operands, attributes."""

CIPHER_OPERATIONS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("input", 0, ()),
    ("encrypt_zero", 0, ()),
    ("add", 2, ()),
    ("sub", 2, ()),
    ("negate", 1, ()),
    ("add_plain", 1, ("plaintext",)),
    ("sub_plain", 1, ("plaintext",)),
    ("multiply_plain", 1, ("plaintext",)),
    ("multiply", 2, ()),
    ("square", 1, ()),
    ("relinearize", 1, ()),
    ("rotate", 1, ("rotation",)),
    ("rescale", 1, ()),
    ("mod_drop", 1, ()),
    ("within", 1, ("promise",)),
    ("swap_rows", 1, ()),
    ("relinearize_rescale", 1, ()),
    ("linear_transform", 1, ("transform",)),
    ("bootstrap", 1, ()),
)
