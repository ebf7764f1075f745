# SPDX-License-Identifier: Apache-2.0
"""Times a bootstrapping of OpenFHE's wheel and prints one JSON line: `openfhe_bootstrap.py LOG_N REPEATS`.

Degree 2^16 with 128 bits, all slots, ten levels left; smaller degrees are for trying it out and have no security. A
sparse secret stands in while the modulus is raised where the wheel knows that, else the secret is uniform.
"""

from __future__ import annotations

import json
import math
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import openfhe

LEVELS, SECURE = 10, 16
#: Digits of a key switch: with more of them the special primes are shorter. The fewest with which 128 bits are reached.
DIGITS = range(3, 13)
FEATURES = ("PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE", "FHE")


def context(log_n: int) -> tuple[object, int, str]:
    """Return a context, its depth and how its secret is drawn."""
    kinds = openfhe.SecretKeyDist
    kind = next(name for name in ("SPARSE_ENCAPSULATED", "UNIFORM_TERNARY") if hasattr(kinds, name))
    budget = [4, 3] if log_n >= SECURE else [2, 2]
    depth = LEVELS + openfhe.CryptoContext.GetBootstrapDepth(budget, getattr(kinds, kind))
    params = openfhe.CCParamsCKKSRNS()
    params.SetSecretKeyDist(getattr(kinds, kind))
    level = openfhe.SecurityLevel
    params.SetSecurityLevel(level.HEStd_128_classic if log_n >= SECURE else level.HEStd_NotSet)
    params.SetRingDim(1 << log_n)
    params.SetScalingModSize(50)
    params.SetFirstModSize(56)
    params.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDAUTO)
    params.SetMultiplicativeDepth(depth)
    made = secure(params)
    for feature in FEATURES:
        made.Enable(getattr(openfhe.PKESchemeFeature, feature))
    made.EvalBootstrapSetup(budget, [0, 0], 1 << (log_n - 1))
    return made, depth, kind


def secure(params: object) -> object:
    """Return the context with the fewest digits that its degree has 128 bits with."""
    for digits in DIGITS:
        params.SetNumLargeDigits(digits)
        try:
            return openfhe.GenCryptoContext(params)
        except RuntimeError as error:
            refusal = error
    raise refusal


def main(log_n: int, repeats: int) -> None:
    """Make keys, refresh a random message, compare."""
    made, depth, kind = context(log_n)
    slots = 1 << (log_n - 1)
    start = time.perf_counter()
    keys = made.KeyGen()
    made.EvalMultKeyGen(keys.secretKey)
    made.EvalBootstrapKeyGen(keys.secretKey, slots)
    key_seconds = time.perf_counter() - start
    message = [random.uniform(-1, 1) for _ in range(slots)]
    plaintext = made.MakeCKKSPackedPlaintext(message, 1, depth - 1)
    fastest = math.inf
    for _ in range(repeats):
        sent = made.Encrypt(keys.publicKey, plaintext)
        start = time.perf_counter()
        result = made.EvalBootstrap(sent)
        fastest = min(fastest, time.perf_counter() - start)
    found = made.Decrypt(result, keys.secretKey)
    found.SetLength(slots)
    errors = [abs(a - b) for a, b in zip(found.GetRealPackedValue(), message, strict=True)]
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:  # in memory the keys would be there twice
        wire = 0
        for write in (made.SerializeEvalAutomorphismKey, made.SerializeEvalMultKey):
            written = Path(folder) / write.__name__
            if not write(str(written), openfhe.BINARY):
                sys.exit("OpenFHE's keys could not be written")
            wire += written.stat().st_size
    row = {
        "library": "OpenFHE 1.6.1", "set": f"{kind}, 50-bit scale", "n": 1 << log_n, "slots": slots,
        "levels": depth - result.GetLevel() - (result.GetNoiseScaleDeg() - 1), "seconds": fastest,
        "key_seconds": key_seconds, "average_bits": -math.log2(sum(errors) / slots),
        "least_bits": -math.log2(max(errors)), "wire_bytes": wire,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }  # fmt: skip
    print(json.dumps(row))
    if max(errors) > 1 / 16:
        sys.exit("OpenFHE's refreshed message is wrong")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
