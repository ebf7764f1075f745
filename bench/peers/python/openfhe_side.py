# SPDX-License-Identifier: Apache-2.0
"""OpenFHE's side of `bench/interchange.py`, under CPython 3.10: a client, a server, what a client decrypts.

openfhe_side.py client FOLDER SCHEME N BITS      makes and saves everything, evaluates, prints the time
openfhe_side.py server FOLDER SCHEME STEPS       evaluates what another client saved there
openfhe_side.py decrypt FOLDER SCHEME NAME       prints the values of a ciphertext
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import openfhe
from common import measure
from openfhe import BINARY, PKESchemeFeature, Serialize

PLAIN_MODULUS = 65537


def new_context(scheme: str, n: int, bits: list[int]) -> object:
    """A set of as many data primes as there are bits, in BFV of the size that OpenFHE chooses."""
    if scheme == "ckks":
        params = openfhe.CCParamsCKKSRNS()
        params.SetFirstModSize(bits[0])
        params.SetScalingModSize(bits[1])
        params.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDMANUAL)
    else:
        params = openfhe.CCParamsBFVRNS()
        params.SetPlaintextModulus(PLAIN_MODULUS)
    params.SetMultiplicativeDepth(len(bits) - 1)
    params.SetSecurityLevel(openfhe.SecurityLevel.HEStd_NotSet)  # the other side judges it
    params.SetRingDim(n)
    made = openfhe.GenCryptoContext(params)
    for feature in (PKESchemeFeature.PKE, PKESchemeFeature.KEYSWITCH, PKESchemeFeature.LEVELEDSHE):
        made.Enable(feature)
    return made


def put(folder: Path, name: str, thing: object) -> None:
    """Save an object."""
    (folder / f"{name}.bin").write_bytes(Serialize(thing, BINARY))


def get(folder: Path, name: str, kind: str) -> object:
    """An object of a file."""
    read = getattr(openfhe, f"Deserialize{kind}String")
    return read((folder / f"{name}.bin").read_bytes(), BINARY)


def client(folder: Path, scheme: str, n: int, bits: list[int]) -> None:
    """Save keys and two encrypted vectors, i mod 50 and 7 i mod 31, and OpenFHE's own result."""
    context = new_context(scheme, n, bits)
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalRotateKeyGen(keys.secretKey, [1])
    for name, thing in (("parms", context), ("secret", keys.secretKey), ("public", keys.publicKey)):
        put(folder, name, thing)
    saved = context.SerializeEvalMultKey(str(folder / "relin.bin"), BINARY)
    if not (saved and context.SerializeEvalAutomorphismKey(str(folder / "galois.bin"), BINARY)):
        raise SystemExit("OpenFHE wrote no keys")
    slots = n if scheme == "bfv" else n // 2
    for name, values in (("x", [i % 50 for i in range(slots)]), ("y", [7 * i % 31 for i in range(slots)])):
        if scheme == "bfv":
            plain = context.MakePackedPlaintext(values)
        else:
            plain = context.MakeCKKSPackedPlaintext([float(v) for v in values])
        put(folder, name, context.Encrypt(keys.publicKey, plain))
    evaluate(folder, scheme, 1, context)


def server(folder: Path, scheme: str, steps: int) -> None:
    """Evaluate what is in a folder."""
    context = get(folder, "parms", "CryptoContext")
    loaded = context.DeserializeEvalMultKey(str(folder / "relin.bin"), BINARY)
    if not (loaded and context.DeserializeEvalAutomorphismKey(str(folder / "galois.bin"), BINARY)):
        raise SystemExit("OpenFHE reads no keys")
    evaluate(folder, scheme, steps, context)


def evaluate(folder: Path, scheme: str, steps: int, context: object) -> None:
    """Save the rotation of (x + y) · y, rescaled in CKKS, and print the median time in µs."""
    x, y = (get(folder, name, "Ciphertext") for name in "xy")

    def run() -> object:
        product = context.EvalMult(context.EvalAdd(x, y), y)
        return context.EvalRotate(product if scheme == "bfv" else context.Rescale(product), steps)

    median, spread = measure(run)
    put(folder, "own", run())
    print(json.dumps({"median_us": median, "spread": spread}))


def decrypt(folder: Path, scheme: str, name: str) -> None:
    """Print the values of a ciphertext."""
    context = get(folder, "parms", "CryptoContext")
    secret, ciphertext = get(folder, "secret", "PrivateKey"), get(folder, name.removesuffix(".bin"), "Ciphertext")
    plain = context.Decrypt(secret, ciphertext)
    if scheme == "bfv":
        print(json.dumps(list(plain.GetPackedValue())))
    else:
        print(json.dumps([value.real for value in plain.GetCKKSPackedValue()]))


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
