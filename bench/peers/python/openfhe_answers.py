# SPDX-License-Identifier: Apache-2.0
"""Answers and precision of OpenFHE (CPython 3.10's wheel): a JSON object a set for `bench/peers/answers.py`.

OpenFHE draws its primes; the data primes are read from the bytes of its context. It tells no noise budget.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import openfhe
from cases import PLAIN_MODULUS, tell
from openfhe_bench import bfv_parameters, context


class OpenFhe:
    """The operations of a circuit in OpenFHE."""

    def __init__(self, scheme: str, n: int, bits: list[int]) -> None:
        """Ask for as many data primes, of the bits of the second one (the first CKKS prime of its own)."""
        self.exact, self.n = scheme == "bfv", n
        if self.exact:
            params = bfv_parameters(n, 60, 2)
        else:
            params = openfhe.CCParamsCKKSRNS()
            params.SetMultiplicativeDepth(len(bits) - 2)
            params.SetScalingModSize(bits[1])
            params.SetFirstModSize(bits[0])
            params.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDMANUAL)
            params.SetSecurityLevel(openfhe.SecurityLevel.HEStd_NotSet)
            params.SetRingDim(n)
        self.context, self.keys = context(params)
        self.primes = list(_single_moduli(json.loads(openfhe.Serialize(self.context, openfhe.JSON))))

    def encode(self, values: np.ndarray) -> Any:
        """A plaintext."""
        if not self.exact:
            return self.context.MakeCKKSPackedPlaintext(values.tolist())
        return self.context.MakePackedPlaintext([int(v) - PLAIN_MODULUS * (2 * v > PLAIN_MODULUS) for v in values])

    def encrypt(self, values: np.ndarray) -> Any:
        """A ciphertext under the public key."""
        return self.context.Encrypt(self.keys.publicKey, self.encode(values))

    def add(self, a: Any, b: Any) -> Any:
        """a + b."""
        return self.context.EvalAdd(a, b)

    def multiply(self, a: Any, b: Any) -> Any:
        """a·b, relinearised and, in CKKS, rescaled."""
        return self._lowered(self.context.EvalMult(a, b))

    def multiply_plain(self, a: Any, values: np.ndarray) -> Any:
        """a times a plaintext, rescaled in CKKS."""
        return self._lowered(self.context.EvalMult(a, self.encode(values)))

    def _lowered(self, a: Any) -> Any:
        return a if self.exact else self.context.Rescale(a)

    def rotate(self, a: Any) -> Any:
        """Slots moved left by one: in both rows in BFV."""
        return self.context.EvalRotate(a, 1)

    def decrypt(self, a: Any) -> np.ndarray:
        """The values of a ciphertext."""
        plain = self.context.Decrypt(self.keys.secretKey, a)
        plain.SetLength(self.n if self.exact else self.n // 2)
        if self.exact:
            return np.array(plain.GetPackedValue()) % PLAIN_MODULUS
        return np.array(plain.GetRealPackedValue())

    def budget(self, _: Any) -> None:
        """Unknown."""
        return


def _single_moduli(value: Any) -> Any:
    """Yield the moduli of one word in the bytes of a context: the data primes."""
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if name == "cm" and isinstance(inner["v"], int):
            yield inner["v"]
        elif isinstance(inner, dict | list):
            yield from _single_moduli(inner)


if __name__ == "__main__":
    tell(OpenFhe, "data")
