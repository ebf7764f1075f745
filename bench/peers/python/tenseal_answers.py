# SPDX-License-Identifier: Apache-2.0
"""Answers and noise of SEAL, through TenSEAL's binding: a JSON object a set for `bench/peers/answers.py`."""

from __future__ import annotations

import numpy as np
import tenseal.sealapi as seal
from cases import PLAIN_MODULUS, SCALE, tell


class Seal:
    """The operations of a circuit in SEAL."""

    def __init__(self, scheme: str, n: int, bits: list[int]) -> None:
        """Choose primes of these bits, the last one special, and make keys."""
        self.exact = scheme == "bfv"
        parms = seal.EncryptionParameters(seal.SCHEME_TYPE.BFV if self.exact else seal.SCHEME_TYPE.CKKS)
        parms.set_poly_modulus_degree(n)
        parms.set_coeff_modulus(seal.CoeffModulus.Create(n, bits))
        if self.exact:
            parms.set_plain_modulus(PLAIN_MODULUS)
        self.primes = [modulus.value() for modulus in parms.coeff_modulus()]
        context = seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.NONE)
        keygen = seal.KeyGenerator(context)
        public, self.relin, self.galois = seal.PublicKey(), seal.RelinKeys(), seal.GaloisKeys()
        keygen.create_public_key(public)
        keygen.create_relin_keys(self.relin)
        keygen.create_galois_keys([3], self.galois)  # the Galois element of a rotation by one
        self.encoder = seal.BatchEncoder(context) if self.exact else seal.CKKSEncoder(context)
        self.encryptor = seal.Encryptor(context, public)
        self.decryptor = seal.Decryptor(context, keygen.secret_key())
        self.evaluator = seal.Evaluator(context)

    def encode(self, values: np.ndarray) -> object:
        """A plaintext."""
        plain = seal.Plaintext()
        if self.exact:
            self.encoder.encode(values.tolist(), plain)
        else:
            self.encoder.encode(values.tolist(), SCALE, plain)
        return plain

    def encrypt(self, values: np.ndarray) -> object:
        """A ciphertext under the public key."""
        made = seal.Ciphertext()
        self.encryptor.encrypt(self.encode(values), made)
        return made

    def add(self, a: object, b: object) -> object:
        """a + b."""
        made = seal.Ciphertext()
        self.evaluator.add(a, b, made)
        return made

    def multiply(self, a: object, b: object) -> object:
        """a·b, relinearised and, in CKKS, rescaled."""
        made = seal.Ciphertext()
        self.evaluator.multiply(a, b, made)
        self.evaluator.relinearize_inplace(made, self.relin)
        if not self.exact:
            self.evaluator.rescale_to_next_inplace(made)
        return made

    def multiply_plain(self, a: object, values: np.ndarray) -> object:
        """a times a plaintext, rescaled in CKKS."""
        made = seal.Ciphertext()
        self.evaluator.multiply_plain(a, self.encode(values), made)
        if not self.exact:
            self.evaluator.rescale_to_next_inplace(made)
        return made

    def rotate(self, a: object) -> object:
        """Slots moved left by one: in both rows in BFV."""
        made = seal.Ciphertext()
        turn = self.evaluator.rotate_rows if self.exact else self.evaluator.rotate_vector
        turn(a, 1, self.galois, made)
        return made

    def decrypt(self, a: object) -> np.ndarray:
        """The values of a ciphertext."""
        plain = seal.Plaintext()
        self.decryptor.decrypt(a, plain)
        return np.array(self.encoder.decode_uint64(plain) if self.exact else self.encoder.decode_double(plain))

    def budget(self, a: object) -> float:
        """Bits of noise budget, a whole number."""
        return float(self.decryptor.invariant_noise_budget(a))


if __name__ == "__main__":
    tell(Seal, "primes")
