# SPDX-License-Identifier: Apache-2.0
"""Prints spec/vectors/openfhe.txt: objects that OpenFHE wrote, by its wheel.

    python3.10 -m venv venv && venv/bin/pip install openfhe==1.6.1.0.22.4 && venv/bin/python vectors.py > openfhe.txt

OpenFHE draws its own randomness: each run prints other bytes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import openfhe
from openfhe import BINARY, JSON, PKESchemeFeature, Serialize

N = 16
PLAIN_MODULUS = 65537


def parameters(scheme: str, technique: str, depth: int) -> Any:
    """The parameters of a case."""
    if scheme == "ckks":
        made = openfhe.CCParamsCKKSRNS()
        made.SetScalingModSize(40)
        made.SetFirstModSize(50)
        made.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDMANUAL)
        made.SetNumLargeDigits(2)
    else:
        made = openfhe.CCParamsBFVRNS()
        made.SetPlaintextModulus(PLAIN_MODULUS)
    made.SetKeySwitchTechnique(getattr(openfhe.KeySwitchTechnique, technique))
    made.SetMultiplicativeDepth(depth)
    made.SetSecurityLevel(openfhe.SecurityLevel.HEStd_NotSet)
    made.SetRingDim(N)
    return made


def saved(save: Any, form: Any) -> bytes:
    """What a function that saves to a file writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "keys"
        if not save(str(path), form):
            raise SystemExit("OpenFHE wrote no keys")
        return path.read_bytes()


def show(name: str, data: bytes | str) -> None:
    """Print an object."""
    print(f"{name}: {zlib.compress(data.encode() if isinstance(data, str) else data, 9).hex()}")


def case(name: str, scheme: str, technique: str, depth: int) -> None:
    """Print the objects of one set: x and y encrypted, keys, and what OpenFHE makes of them."""
    print(f"\ncase: {name}")
    context = openfhe.GenCryptoContext(parameters(scheme, technique, depth))
    for feature in (PKESchemeFeature.PKE, PKESchemeFeature.KEYSWITCH, PKESchemeFeature.LEVELEDSHE):
        context.Enable(feature)
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalRotateKeyGen(keys.secretKey, [1, -2])
    slots = N if scheme == "bfv" else N // 2
    values = {"x": [i - slots // 2 for i in range(slots)], "y": [3 * i % 7 for i in range(slots)]}
    made = {}
    for one, numbers in values.items():
        print(f"values {one}: {' '.join(map(str, numbers))}")
        encode = context.MakePackedPlaintext if scheme == "bfv" else context.MakeCKKSPackedPlaintext
        made[one] = context.Encrypt(keys.publicKey, encode(numbers if scheme == "bfv" else [float(v) for v in numbers]))
    made["product"] = context.EvalMult(made["x"], made["y"])
    if scheme == "ckks":
        made["product"] = context.Rescale(made["product"])
    made["unswitched"] = context.EvalMultNoRelin(made["x"], made["y"])
    made |= {"parameters": context, "public": keys.publicKey, "secret": keys.secretKey}
    for one, thing in made.items():
        show(one, Serialize(thing, BINARY))
    show("relin", saved(context.SerializeEvalMultKey, BINARY))
    show("galois", saved(context.SerializeEvalAutomorphismKey, BINARY))
    if scheme == "ckks":
        for one in ("parameters", "public", "x"):
            show(f"{one} json", Serialize(made[one], JSON))
        show("relin json", saved(context.SerializeEvalMultKey, JSON))
        show("galois json", saved(context.SerializeEvalAutomorphismKey, JSON))


CASES = {"bfv": ("bfv", "BV", 1), "bfv hybrid": ("bfv", "HYBRID", 2), "ckks": ("ckks", "HYBRID", 2)}


def main(only: str | None = None) -> None:
    """Print a case, or all, each in a process of its own: OpenFHE saves the rotation keys of all contexts together."""
    if only is not None:
        case(only, *CASES[only])
        return
    print("# SPDX-License-Identifier: Apache-2.0")
    print(
        "# Objects of OpenFHE's wheel 1.6.1, BFV and CKKS, made by tests/openfhe/vectors.py, read by "
        "python/ringsmith/interchange/test_openfhe.py; bytes compressed with zlib, hexadecimal",
        flush=True,
    )
    for name in CASES:
        subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
