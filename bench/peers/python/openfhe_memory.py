# SPDX-License-Identifier: Apache-2.0
"""Sizes of OpenFHE's keys and ciphertexts as bytes, and the peak memory of a small workload.

Its Python interface does not show the residues in memory; the binary form holds 8 bytes for each, so it stands for
both.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import openfhe
from openfhe_bench import LIBRARY, bfv_parameters, ckks_parameters, context


def serialized(value: object) -> int:
    """Bytes of an object in OpenFHE's binary form."""
    return len(openfhe.Serialize(value, openfhe.BINARY))


def evaluation_keys() -> dict[str, int]:
    """Bytes of the relinearisation key and of the one rotation key that the context holds."""
    return {
        "relin_key": len(openfhe.SerializeEvalMultKeyString(openfhe.BINARY, "")),
        "rotation_key": len(openfhe.SerializeEvalAutomorphismKeyString(openfhe.BINARY, "")),
    }


def bfv() -> dict:
    """The set (8192, {43,43,44,44}+44), as near as OpenFHE's own choice of primes comes."""
    n, t = 8192, 65537
    ctx, keys = context(bfv_parameters(n, 44, 3))
    x = [(3 * i + 1) % 1000 for i in range(n)]
    y = [(7 * i + 2) % 30 for i in range(n)]
    cx = ctx.Encrypt(keys.publicKey, ctx.MakePackedPlaintext(x))
    cy = ctx.Encrypt(keys.publicKey, ctx.MakePackedPlaintext(y))
    plain = ctx.Decrypt(keys.secretKey, ctx.EvalMult(cx, cy))
    plain.SetLength(n)
    correct = [v % t for v in plain.GetPackedValue()] == [a * b for a, b in zip(x, y, strict=True)]
    return row("bfv", n, [43, 43, 44, 44, 44], keys, cx, correct)


def ckks() -> dict:
    """The set of 16384 with 7+1 primes of 45 bits; OpenFHE adds special primes of its own choice."""
    n = 16384
    ctx, keys = context(ckks_parameters(n, 6))
    x = [math.sin(i) for i in range(n // 2)]
    y = [math.cos(i) for i in range(n // 2)]
    cx = ctx.Encrypt(keys.publicKey, ctx.MakeCKKSPackedPlaintext(x))
    cy = ctx.Encrypt(keys.publicKey, ctx.MakeCKKSPackedPlaintext(y))
    plain = ctx.Decrypt(keys.secretKey, ctx.EvalMult(cx, cy))
    plain.SetLength(n // 2)
    got = plain.GetRealPackedValue()
    correct = all(abs(g - a * b) < 1e-3 for g, a, b in zip(got, x, y, strict=False))
    return row("ckks", n, [45] * 8, keys, cx, correct)


def row(scheme: str, n: int, bits: list[int], keys: object, ct: object, correct: bool) -> dict:
    """The output row of a scheme."""
    sizes = {"public_key": serialized(keys.publicKey), "ciphertext": serialized(ct), **evaluation_keys()}
    objects = {name: {"memory_bytes": None, "serialized_bytes": size} for name, size in sizes.items()}
    return {"scheme": scheme, "n": n, "moduli_bits": bits, "library": LIBRARY, "objects": objects, "correct": correct}


def nothing() -> dict:
    """The baseline of the interpreter and the library before they compute anything."""
    return {"scheme": "nothing", "n": 0, "moduli_bits": [], "library": LIBRARY, "objects": {}, "correct": True}


def peak_rss() -> int:
    """The most memory in bytes that this process has had at a time."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    made = {"bfv": bfv, "ckks": ckks, "nothing": nothing}[sys.argv[1]]()
    print(json.dumps({**made, "peak_rss_bytes": peak_rss()}))
