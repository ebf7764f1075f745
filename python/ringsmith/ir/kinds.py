# SPDX-License-Identifier: Apache-2.0
# Generated from spec/operations.yaml by `python -m ringsmith.gen`; do not edit.
"""Kinds of homomorphic operations, and what is known of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Kind(StrEnum):
    """Kind of a homomorphic operation; the names are those of the reports."""

    #: The next ciphertext that the client sends.
    INPUT = "input"
    #: A fresh encryption of zero under the public key, by the evaluator.
    ENCRYPT_ZERO = "encrypt_zero"
    #: a + b.
    ADD = "add"
    #: a − b.
    SUB = "sub"
    #: −a.
    NEGATE = "negate"
    #: a + plaintext.
    ADD_PLAIN = "add_plain"
    #: a − plaintext.
    SUB_PLAIN = "sub_plain"
    #: a · plaintext.
    MULTIPLY_PLAIN = "multiply_plain"
    #: a · b, three polynomials.
    MULTIPLY = "multiply"
    #: a², three polynomials.
    SQUARE = "square"
    #: Back to two polynomials (a key switch).
    RELINEARIZE = "relinearize"
    #: The slots of every row moved left by that many places (a key switch).
    ROTATE = "rotate"
    #: Value and scale divided by the last prime, which is dropped.
    RESCALE = "rescale"
    #: The last primes dropped (CKKS), or divided out (BFV), down to the step's level.
    MOD_DROP = "mod_drop"
    #: The author's promise that values are at most the bound, and errors at most another: those that matter later, or
    #: everywhere. Nothing runs.
    WITHIN = "within"
    #: The two rows of a BFV ciphertext swapped (a key switch).
    SWAP_ROWS = "swap_rows"
    #: Back to two polynomials, value and scale divided by the last prime, with one division for both (a key switch).
    RELINEARIZE_RESCALE = "relinearize_rescale"
    #: The linear transform of that number among the program's.
    LINEAR_TRANSFORM = "linear_transform"
    #: The same values with the levels that the program's bootstrapping leaves (many key switches).
    BOOTSTRAP = "bootstrap"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a kind; the words are those of `spec/operations.yaml`. 0 polynomials taken: any number."""

    code: int
    schemes: tuple[str, ...]
    operands: int
    takes: int
    attributes: tuple[str, ...]
    parts: str | int
    level: str
    scale: str
    key: str
    runs: bool


#: The facts of each kind.
FACTS: Mapping[Kind, Facts] = MappingProxyType(
    {
        Kind.INPUT: Facts(0, ("bfv", "ckks"), 0, 0, (), 2, "top", "set", "none", False),
        Kind.ENCRYPT_ZERO: Facts(1, ("bfv", "ckks"), 0, 0, (), 2, "chosen", "chosen", "public", True),
        Kind.ADD: Facts(2, ("bfv", "ckks"), 2, 0, (), "same", "same", "same", "none", True),
        Kind.SUB: Facts(3, ("bfv", "ckks"), 2, 0, (), "same", "same", "same", "none", True),
        Kind.NEGATE: Facts(4, ("bfv", "ckks"), 1, 0, (), "same", "same", "same", "none", True),
        Kind.ADD_PLAIN: Facts(5, ("bfv", "ckks"), 1, 0, ("plaintext",), "same", "same", "same", "none", True),
        Kind.SUB_PLAIN: Facts(6, ("bfv", "ckks"), 1, 0, ("plaintext",), "same", "same", "same", "none", True),
        Kind.MULTIPLY_PLAIN: Facts(7, ("bfv", "ckks"), 1, 0, ("plaintext",), "same", "same", "product", "none", True),
        Kind.MULTIPLY: Facts(8, ("bfv", "ckks"), 2, 2, (), 3, "same", "product", "none", True),
        Kind.SQUARE: Facts(9, ("bfv", "ckks"), 1, 2, (), 3, "same", "square", "none", True),
        Kind.RELINEARIZE: Facts(10, ("bfv", "ckks"), 1, 3, (), 2, "same", "same", "relinearization", True),
        Kind.ROTATE: Facts(11, ("bfv", "ckks"), 1, 2, ("rotation",), 2, "same", "same", "rotation", True),
        Kind.RESCALE: Facts(12, ("ckks",), 1, 0, (), "same", "next", "divided", "none", True),
        Kind.MOD_DROP: Facts(13, ("bfv", "ckks"), 1, 0, (), "same", "lower", "same", "none", True),
        Kind.WITHIN: Facts(14, ("bfv", "ckks"), 1, 0, ("promise",), "same", "same", "same", "none", False),
        Kind.SWAP_ROWS: Facts(15, ("bfv",), 1, 2, (), 2, "same", "same", "row_swap", True),
        Kind.RELINEARIZE_RESCALE: Facts(16, ("ckks",), 1, 3, (), 2, "next", "divided", "relinearization", True),
        Kind.LINEAR_TRANSFORM: Facts(
            17, ("bfv", "ckks"), 1, 2, ("transform",), 2, "same", "product", "transform", True
        ),
        Kind.BOOTSTRAP: Facts(18, ("ckks",), 1, 2, (), 2, "refreshed", "set", "bootstrapping", True),
    }
)
