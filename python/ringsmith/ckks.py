# SPDX-License-Identifier: Apache-2.0
"""CKKS, approximate arithmetic on encrypted real and complex numbers: the engine's objects for clients and servers.

A client holds a `SecretKey`, an `Encryptor` and a `Decryptor`; a server holds a `Context`, the evaluation keys
it was sent and an `Evaluator`, and never needs the secret key.
"""

from __future__ import annotations

from ringsmith._native import CkksCiphertext as Ciphertext
from ringsmith._native import CkksContext as Context
from ringsmith._native import CkksDecryptor as Decryptor
from ringsmith._native import CkksEncoder as Encoder
from ringsmith._native import CkksEncryptor as Encryptor
from ringsmith._native import CkksEstimate as Estimate
from ringsmith._native import CkksEstimator as Estimator
from ringsmith._native import CkksEvaluator as Evaluator
from ringsmith._native import CkksPlaintext as Plaintext
from ringsmith._native import GaloisKeys, KeyGenerator, PublicKey, RelinKey, SecretKey

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
    "PublicKey",
    "RelinKey",
    "SecretKey",
]
