# SPDX-License-Identifier: Apache-2.0
"""Times TenSEAL's binding of SEAL (`tenseal.sealapi`)."""

from __future__ import annotations

import math

import tenseal.sealapi as seal
from common import report

LIBRARY = "TenSEAL 0.3.18"


def context(scheme: object, n: int, bits: list[int], t: int | None = None) -> object:
    """A SEAL context without a security check, as the peers' sets are given."""
    parms = seal.EncryptionParameters(scheme)
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, bits))
    if t is not None:
        parms.set_plain_modulus(t)
    return seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.NONE)


def keys(ctx: object) -> tuple:
    """Secret, public, relinearisation and Galois keys."""
    keygen = seal.KeyGenerator(ctx)
    public, relin, galois = seal.PublicKey(), seal.RelinKeys(), seal.GaloisKeys()
    keygen.create_public_key(public)
    keygen.create_relin_keys(relin)
    keygen.create_galois_keys([3], galois)  # the Galois element of a rotation by one
    return keygen.secret_key(), public, relin, galois


def bfv(n: int, bits: list[int], t: int = 65537) -> None:
    """BFV operations."""
    ctx = context(seal.SCHEME_TYPE.BFV, n, bits, t)
    secret, public, relin, galois = keys(ctx)
    encoder, evaluator = seal.BatchEncoder(ctx), seal.Evaluator(ctx)
    encryptor, decryptor = seal.Encryptor(ctx, public), seal.Decryptor(ctx, secret)
    x = [(3 * i + 1) % t for i in range(n)]
    y = [(7 * i + 2) % t for i in range(n)]
    px, py = seal.Plaintext(), seal.Plaintext()
    encoder.encode(x, px)
    encoder.encode(y, py)
    cx, cy, c3, out = (seal.Ciphertext() for _ in range(4))
    encryptor.encrypt(px, cx)
    encryptor.encrypt(py, cy)

    def decoded(ct: object) -> list[int]:
        plain = seal.Plaintext()
        decryptor.decrypt(ct, plain)
        return list(encoder.decode_uint64(plain))

    def is_product(ct: object) -> bool:
        return decoded(ct) == [a * b % t for a, b in zip(x, y, strict=True)]

    report(LIBRARY, "bfv-encrypt", n, bits, lambda: encryptor.encrypt(px, out), lambda: decoded(out) == x)
    plain = seal.Plaintext()
    report(LIBRARY, "bfv-decrypt", n, bits, lambda: decryptor.decrypt(cx, plain), lambda: decoded(cx) == x)
    report(LIBRARY, "bfv-multiply", n, bits, lambda: evaluator.multiply(cx, cy, c3), lambda: is_product(c3))
    report(LIBRARY, "bfv-relinearize", n, bits, lambda: evaluator.relinearize(c3, relin, out), lambda: is_product(out))
    report(
        LIBRARY,
        "bfv-rotate",
        n,
        bits,
        lambda: evaluator.rotate_rows(cx, 1, galois, out),
        lambda: decoded(out)[0] == x[1],
    )


def ckks(n: int, bits: list[int]) -> None:
    """CKKS operations."""
    ctx = context(seal.SCHEME_TYPE.CKKS, n, bits)
    secret, public, relin, galois = keys(ctx)
    encoder, evaluator = seal.CKKSEncoder(ctx), seal.Evaluator(ctx)
    encryptor, decryptor = seal.Encryptor(ctx, public), seal.Decryptor(ctx, secret)
    scale = 2.0**40
    x = [math.sin(i) for i in range(n // 2)]
    y = [math.cos(i) for i in range(n // 2)]
    px, py = seal.Plaintext(), seal.Plaintext()
    encoder.encode(x, scale, px)
    encoder.encode(y, scale, py)
    cx, cy, c3, out, low = (seal.Ciphertext() for _ in range(5))
    encryptor.encrypt(px, cx)
    encryptor.encrypt(py, cy)

    def near(ct: object, want: list[float]) -> bool:
        plain = seal.Plaintext()
        decryptor.decrypt(ct, plain)
        return all(abs(a - b) < 1e-3 for a, b in zip(encoder.decode_double(plain), want, strict=False))

    product = [a * b for a, b in zip(x, y, strict=True)]
    report(LIBRARY, "ckks-encrypt", n, bits, lambda: encryptor.encrypt(px, out), lambda: near(out, x))
    report(LIBRARY, "ckks-multiply", n, bits, lambda: evaluator.multiply(cx, cy, c3), lambda: near(c3, product))
    report(
        LIBRARY, "ckks-relinearize", n, bits, lambda: evaluator.relinearize(c3, relin, out), lambda: near(out, product)
    )
    report(LIBRARY, "ckks-rescale", n, bits, lambda: evaluator.rescale_to_next(out, low), lambda: near(low, product))
    report(
        LIBRARY,
        "ckks-rotate",
        n,
        bits,
        lambda: evaluator.rotate_vector(cx, 1, galois, low),
        lambda: near(low, x[1:] + x[:1]),
    )


if __name__ == "__main__":
    bfv(4096, [36, 36, 37])
    bfv(8192, [43, 43, 44, 44, 44])
    ckks(8192, [45] * 4)
    ckks(16384, [45] * 8)
    ckks(32768, [45] * 15)
