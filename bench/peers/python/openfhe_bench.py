# SPDX-License-Identifier: Apache-2.0
"""Times OpenFHE's wheel (CPython 3.10). It draws its own primes: only n and the modulus bits are asked for."""

from __future__ import annotations

import math
from functools import reduce

import openfhe
from common import report

LIBRARY = "OpenFHE 1.6.1"
FEATURES = (openfhe.PKESchemeFeature.PKE, openfhe.PKESchemeFeature.KEYSWITCH, openfhe.PKESchemeFeature.LEVELEDSHE)


def context(params: object) -> tuple:
    """A context with its keys, whatever its security."""
    ctx = openfhe.GenCryptoContext(params)
    for feature in FEATURES:
        ctx.Enable(feature)
    keys = ctx.KeyGen()
    ctx.EvalMultKeyGen(keys.secretKey)
    ctx.EvalRotateKeyGen(keys.secretKey, [1])
    return ctx, keys


def bfv_parameters(n: int, width: int, depth: int) -> object:
    """As many primes of `width` bits as `depth` products need."""
    params = openfhe.CCParamsBFVRNS()
    params.SetPlaintextModulus(65537)
    params.SetMultiplicativeDepth(depth)
    params.SetScalingModSize(width)
    params.SetSecurityLevel(openfhe.SecurityLevel.HEStd_NotSet)
    params.SetRingDim(n)
    return params


def ckks_parameters(n: int, depth: int) -> object:
    """`depth` + 1 ciphertext primes of 45 bits, the first of 46."""
    params = openfhe.CCParamsCKKSRNS()
    params.SetMultiplicativeDepth(depth)
    params.SetScalingModSize(45)
    params.SetFirstModSize(46)
    params.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDMANUAL)
    params.SetSecurityLevel(openfhe.SecurityLevel.HEStd_NotSet)
    params.SetRingDim(n)
    return params


def bfv(n: int, width: int, depth: int, named: list[int]) -> None:
    """BFV (HPSPOVERQLEVELED, OpenFHE's default) with as many primes of `width` bits as `depth` products need."""
    ctx, keys = context(bfv_parameters(n, width, depth))
    x = [(3 * i + 1) % 1000 for i in range(n)]
    y = [(7 * i + 2) % 30 for i in range(n)]
    px, py = ctx.MakePackedPlaintext(x), ctx.MakePackedPlaintext(y)
    cx, cy = ctx.Encrypt(keys.publicKey, px), ctx.Encrypt(keys.publicKey, py)
    kept: dict[str, object] = {}

    def keep(name: str, value: object) -> None:
        kept[name] = value

    def is_equal(name: str, want: list[int]) -> bool:
        plain = ctx.Decrypt(keys.secretKey, kept[name])
        plain.SetLength(n)
        return [v % 65537 for v in plain.GetPackedValue()] == want

    product = [a * b for a, b in zip(x, y, strict=True)]
    rows = (
        ("bfv-encrypt", lambda: keep("e", ctx.Encrypt(keys.publicKey, ctx.MakePackedPlaintext(x))), "e", x),
        ("bfv-multiply", lambda: keep("m", ctx.EvalMultNoRelin(cx, cy)), "m", product),
        ("bfv-multiply-relinearize", lambda: keep("r", ctx.EvalMult(cx, cy)), "r", product),
    )
    for operation, op, name, want in rows:
        report(LIBRARY, operation, n, named, op, lambda name=name, want=want: is_equal(name, want))
    keep("d", cx)
    report(LIBRARY, "bfv-decrypt", n, named, lambda: ctx.Decrypt(keys.secretKey, cx), lambda: is_equal("d", x))


def ckks(n: int, depth: int, named: list[int]) -> None:
    """CKKS (hybrid key switching) with `depth` + 1 ciphertext primes."""
    ctx, keys = context(ckks_parameters(n, depth))
    x = [math.sin(i) for i in range(n // 2)]
    y = [math.cos(i) for i in range(n // 2)]
    product = [a * b for a, b in zip(x, y, strict=True)]
    px = ctx.MakeCKKSPackedPlaintext(x)
    cx, cy = ctx.Encrypt(keys.publicKey, px), ctx.Encrypt(keys.publicKey, ctx.MakeCKKSPackedPlaintext(y))
    kept: dict[str, object] = {"c3": ctx.EvalMultNoRelin(cx, cy)}

    def keep(name: str, value: object) -> None:
        kept[name] = value

    def near(name: str, want: list[float]) -> bool:
        plain = ctx.Decrypt(keys.secretKey, kept[name])
        plain.SetLength(n // 2)
        return all(abs(a - b) < 1e-3 for a, b in zip(plain.GetRealPackedValue(), want, strict=False))

    rows = (
        ("ckks-encrypt", lambda: keep("e", ctx.Encrypt(keys.publicKey, px)), "e", x),
        ("ckks-multiply", lambda: keep("m", ctx.EvalMultNoRelin(cx, cy)), "m", product),
        ("ckks-relinearize", lambda: keep("r", ctx.Relinearize(kept["c3"])), "r", product),
        ("ckks-rotate", lambda: keep("t", ctx.EvalRotate(cx, 1)), "t", x[1:] + x[:1]),
        ("ckks-rescale", lambda: keep("s", ctx.Rescale(kept["m"])), "s", product),
        ("ckks-multiply-relinearize-rescale", lambda: keep("a", ctx.Rescale(ctx.EvalMult(cx, cy))), "a", product),
    )
    for operation, op, name, want in rows:
        report(LIBRARY, operation, n, named, op, lambda name=name, want=want: near(name, want))


def linear(n: int, depth: int, named: list[int], splits: dict[int, int]) -> None:
    """CKKS: eight rotations summed, and products with plain matrices by their diagonals, by baby and giant steps.

    The wheel has no transform of its own: rotations share their digits (`EvalFastRotation`), giant steps are rotations.
    `splits`: baby steps by number of diagonals.
    """
    ctx, keys = context(ckks_parameters(n, depth))
    slots = n // 2
    x = [math.sin(i) for i in range(slots)]
    ct = ctx.Encrypt(keys.publicKey, ctx.MakeCKKSPackedPlaintext(x))
    steps = {k for count, babies in splits.items() for k in (*range(1, babies), *range(babies, count, babies))}
    ctx.EvalRotateKeyGen(keys.secretKey, sorted(steps | set(range(1, 9))))
    kept: dict[str, object] = {}

    def near(name: str, want: list[float]) -> bool:
        plain = ctx.Decrypt(keys.secretKey, kept[name])
        plain.SetLength(slots)
        return all(abs(a - b) < 1e-3 for a, b in zip(plain.GetRealPackedValue(), want, strict=False))

    def total() -> None:
        digits = ctx.EvalFastRotationPrecompute(ct)
        kept["sum"] = reduce(ctx.EvalAdd, (ctx.EvalFastRotation(ct, k, 2 * n, digits) for k in range(1, 9)))

    want = [sum(x[(i + k) % slots] for k in range(1, 9)) for i in range(slots)]
    report(LIBRARY, "ckks-sum-of-8-rotations", n, named, total, lambda: near("sum", want))
    for count, babies in splits.items():
        weights = [[math.cos(d * i + d) / count for i in range(slots)] for d in range(count)]
        want = [sum(weights[d][i] * x[(i + d) % slots] for d in range(count)) for i in range(slots)]
        # Each diagonal is moved back by the giant step that it is under.
        moved = [w[slots - (back := d // babies * babies) :] + w[: slots - back] for d, w in enumerate(weights)]
        plain = [ctx.MakeCKKSPackedPlaintext(values) for values in moved]

        def transform(count: int = count, babies: int = babies, plain: list[object] = plain) -> None:
            digits = ctx.EvalFastRotationPrecompute(ct)
            rotated = [ct, *(ctx.EvalFastRotation(ct, k, 2 * n, digits) for k in range(1, babies))]
            parts = []
            for start in range(0, count, babies):
                inner = reduce(ctx.EvalAdd, (ctx.EvalMult(r, plain[start + k]) for k, r in enumerate(rotated)))
                parts.append(ctx.EvalRotate(inner, start) if start else inner)
            kept["linear"] = reduce(ctx.EvalAdd, parts)

        report(LIBRARY, f"ckks-linear-{count}", n, named, transform, lambda want=want: near("linear", want))


if __name__ == "__main__":
    bfv(4096, 36, 1, [36, 36, 37])
    bfv(8192, 44, 3, [43, 43, 44, 44, 44])
    ckks(8192, 2, [45] * 4)
    ckks(16384, 6, [45] * 8)
    ckks(32768, 13, [45] * 15)
    linear(16384, 6, [45] * 8, {128: 16, 512: 32})
