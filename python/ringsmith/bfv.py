# SPDX-License-Identifier: Apache-2.0
"""BFV, exact arithmetic on encrypted integers: the engine's objects for clients and servers.

A client holds a `SecretKey`, an `Encryptor` and a `Decryptor`; a server holds a `Context`, the evaluation keys
it was sent and an `Evaluator`, and never needs the secret key.
"""

from __future__ import annotations

from ringsmith._native import BfvCiphertext as Ciphertext
from ringsmith._native import BfvContext as Context
from ringsmith._native import BfvDecryptor as Decryptor
from ringsmith._native import BfvEncoder as Encoder
from ringsmith._native import BfvEncryptor as Encryptor
from ringsmith._native import BfvEstimate as Estimate
from ringsmith._native import BfvEstimator as Estimator
from ringsmith._native import BfvEvaluator as Evaluator
from ringsmith._native import BfvPlaintext as Plaintext
from ringsmith._native import GaloisKeys, KeyGenerator, PublicKey, RelinKey, SecretKey
from ringsmith.runtime.polynomials import PolynomialCircuit, PolynomialServer

__all__ = [
    "Ciphertext",
    "Context",
    "Decryptor",
    "Encoder",
    "Encryptor",
    "Estimate",
    "Estimator",
    "Evaluator",
    "GaloisKeys",
    "KeyGenerator",
    "Plaintext",
    "PolynomialCircuit",
    "PolynomialServer",
    "PublicKey",
    "RelinKey",
    "SecretKey",
]
