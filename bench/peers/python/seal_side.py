# SPDX-License-Identifier: Apache-2.0
"""SEAL's side of `bench/interchange.py`, under TenSEAL's interpreter: a client, a server, what a client decrypts.

seal_side.py client FOLDER SCHEME N BITS      makes and saves everything, evaluates, prints the time
seal_side.py server FOLDER SCHEME STEPS       evaluates what another client saved there
seal_side.py decrypt FOLDER SCHEME NAME       prints the values of a ciphertext
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import tenseal.sealapi as seal
from common import measure


def context(folder: Path) -> object:
    """The context of a saved set; the other side judges its security."""
    parms = seal.EncryptionParameters(seal.SCHEME_TYPE.NONE)
    parms.load(str(folder / "parms.seal"))
    return seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.NONE)


def new_set(folder: Path, scheme: str, n: int, bits: list[int]) -> None:
    """Save a set of these primes."""
    parms = seal.EncryptionParameters(getattr(seal.SCHEME_TYPE, scheme.upper()))
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, bits))
    if scheme == "bfv":
        parms.set_plain_modulus(seal.PlainModulus.Batching(n, 20))
    parms.save(str(folder / "parms.seal"))


def loaded(kind: type, ctx: object, path: Path) -> object:
    """An object of a file."""
    made = kind()
    made.load(ctx, str(path))
    return made


def client(folder: Path, scheme: str, n: int, bits: list[int]) -> None:
    """Save keys and two encrypted vectors, i mod 50 and 7 i mod 31, and SEAL's own result."""
    new_set(folder, scheme, n, bits)
    ctx = context(folder)
    keygen = seal.KeyGenerator(ctx)
    public, relin, galois = seal.PublicKey(), seal.RelinKeys(), seal.GaloisKeys()
    keygen.create_public_key(public)
    keygen.create_relin_keys(relin)
    keygen.create_galois_keys([3], galois)  # the Galois element of a rotation by one
    for name, thing in (("secret", keygen.secret_key()), ("public", public), ("relin", relin), ("galois", galois)):
        thing.save(str(folder / f"{name}.seal"))
    encryptor, slots = seal.Encryptor(ctx, public), n if scheme == "bfv" else n // 2
    for name, values in (("x", [i % 50 for i in range(slots)]), ("y", [7 * i % 31 for i in range(slots)])):
        plain, encrypted = seal.Plaintext(), seal.Ciphertext()
        if scheme == "bfv":
            seal.BatchEncoder(ctx).encode(values, plain)
        else:
            seal.CKKSEncoder(ctx).encode([float(v) for v in values], 2.0 ** (30 if n == 4096 else 40), plain)
        encryptor.encrypt(plain, encrypted)
        encrypted.save(str(folder / f"{name}.seal"))
    server(folder, scheme, 1)


def server(folder: Path, scheme: str, steps: int) -> None:
    """Save the rotation of (x + y) · y, rescaled in CKKS, and print the median time in µs."""
    ctx = context(folder)
    x, y = (loaded(seal.Ciphertext, ctx, folder / f"{name}.seal") for name in "xy")
    relin = loaded(seal.RelinKeys, ctx, folder / "relin.seal")
    galois = loaded(seal.GaloisKeys, ctx, folder / "galois.seal")
    evaluator = seal.Evaluator(ctx)
    total, product, turned = seal.Ciphertext(), seal.Ciphertext(), seal.Ciphertext()

    def run() -> None:
        evaluator.add(x, y, total)
        evaluator.multiply(total, y, product)
        evaluator.relinearize_inplace(product, relin)
        if scheme == "bfv":
            evaluator.rotate_rows(product, steps, galois, turned)
        else:
            evaluator.rescale_to_next_inplace(product)
            evaluator.rotate_vector(product, steps, galois, turned)

    median, spread = measure(run)
    turned.save(str(folder / "own.seal"))
    print(json.dumps({"median_us": median, "spread": spread}))


def decrypt(folder: Path, scheme: str, name: str) -> None:
    """Print the values of a ciphertext."""
    ctx = context(folder)
    secret = loaded(seal.SecretKey, ctx, folder / "secret.seal")
    plain = seal.Plaintext()
    seal.Decryptor(ctx, secret).decrypt(loaded(seal.Ciphertext, ctx, folder / name), plain)
    if scheme == "bfv":
        print(json.dumps(list(seal.BatchEncoder(ctx).decode_int64(plain))))
    else:
        print(json.dumps(list(seal.CKKSEncoder(ctx).decode_double(plain))))


def main(verb: str, folder: str, scheme: str, *rest: str) -> None:
    """Do what the command line says."""
    if verb == "client":
        client(Path(folder), scheme, int(rest[0]), [int(bits) for bits in rest[1].split(",")])
    elif verb == "server":
        server(Path(folder), scheme, int(rest[0]))
    else:
        decrypt(Path(folder), scheme, rest[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
