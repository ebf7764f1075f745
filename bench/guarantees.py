# SPDX-License-Identifier: Apache-2.0
"""Both guarantees of random kernels beside the largest error (CKKS) or least noise budget (BFV) that is measured.

    python bench/guarantees.py [--count 10000] [--first 0] [--json]

Kernels are drawn from a seed each: one or two encrypted arguments, matrices, vectors and masks of constants or of a
plain argument, sums, rolls, squares, products, values added to themselves and to their own rotations. The set is pinned
(small rings, insecure, which the estimators do not mind). Each kernel runs on random values, on values at the ends of
their range and on random signs. The gap is promised less measured, in bits: never below 0. Exit status 1 if one is.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import ringsmith as rs
from ringsmith import _native
from ringsmith.errors import RingsmithError
from ringsmith.runtime.box import guarantees

CKKS_DEGREES, BFV_DEGREES = (1024, 2048, 4096), (1024, 2048)
#: Primes 1 mod 4096.
PLAIN_MODULI = (12289, 786433)


@dataclass(frozen=True)
class Gap:
    """Bits between each guarantee and what is measured for the kernel of a seed; `ordinary` is that of the probable one
    to random values only."""

    seed: int
    scheme: str
    operations: str
    certain: float
    probable: float
    ordinary: float


class RandomKernel:
    """A kernel drawn from a seed."""

    def __init__(self, seed: int) -> None:
        """Draw scheme, ring, size and operations."""
        self.rng = np.random.default_rng(seed)
        self.exact = bool(self.rng.random() < 0.3)
        self.size = int(self.rng.choice([4, 8, 16, 32, 64]))
        self.plan = [self._drawn() for _ in range(self.rng.integers(1, 6))]
        self.encryption = str(self.rng.choice(["public", "secret", "extended"]))
        self.two = bool(self.rng.random() < 0.4)
        n = int(self.rng.choice(BFV_DEGREES if self.exact else CKKS_DEGREES))
        if self.exact:
            modulus = int(self.rng.choice(PLAIN_MODULI))
            self.params = rs.ParamRequest(n=n, data_bits=(45,) * 8, special_bits=(46,), plain_modulus=modulus)
            self.options: dict[str, Any] = {"scheme": "bfv", "plain_modulus": modulus}
        else:
            self.params = rs.ParamRequest(n=n, data_bits=(60, *[40] * 6), special_bits=(60,), log2_scale=40)
            self.options = {"tolerance": 2.0**60}

    def _drawn(self) -> tuple[str, Any]:
        size, rng = self.size, self.rng
        names = ["matrix", "plain", "square", "product", "twice", "rolled", "mask", "sum", "shift", "difference"]
        name = str(rng.choice(names))
        if name == "matrix":
            kind = rng.integers(4)
            drawn = rng.uniform(-1, 1, (size, size)) / size
            # Also of equal rows, equal columns, and sparse.
            made = [
                drawn,
                drawn[:1].repeat(size, 0),
                drawn[:, :1].repeat(size, 1),
                drawn * (rng.random((size, size)) < 0.2),
            ]
            return name, self._constant(made[kind])
        if name in ("mask", "shift"):
            return name, self._constant(rng.uniform(-1, 1, size))
        return name, int(rng.integers(1, size))

    def _constant(self, values: Any) -> Any:
        return np.rint(values * 9).astype(np.int64) if self.exact else values

    def function(self, *arguments: Any) -> Any:
        """Compute it, on tensors or arrays."""
        x, *others, w = arguments
        y = others[0] if others else x * w
        for name, value in self.plan:
            match name:
                case "matrix":
                    x = value @ x
                case "plain":
                    x = x * w
                case "square":
                    x = x * x
                case "product":
                    x = x * y
                case "twice":
                    x = x + x
                case "rolled":
                    x = x + np.roll(x, value)
                case "mask":
                    x = x * value
                case "sum":
                    x = x + np.sum(x)
                case "shift":
                    x = x + value
                case "difference":
                    x = x - y
        return x

    def kernel(self, guarantee: str) -> Any:
        """Return the kernel with a guarantee."""
        bound = 5 if self.exact else 1.0
        arguments: dict[str, Any] = {"x": rs.Encrypted(self.size, bound=bound)}
        if self.two:
            arguments["y"] = rs.Encrypted(self.size, bound=bound)
        arguments["w"] = rs.Plain(self.size, bound=bound)

        def one(x: Any, w: Any) -> Any:
            return self.function(x, w)

        def both(x: Any, y: Any, w: Any) -> Any:
            return self.function(x, y, w)

        return rs.kernel(
            name="random", params=self.params, allow_insecure=True, encryption=self.encryption, guarantee=guarantee,
            keys_limit=None, **self.options, **arguments,
        )(both if self.two else one)  # fmt: skip

    def values(self) -> Iterator[dict[str, Any]]:
        """Yield arguments: random ones, all at an end, random ends."""
        names = ["x", "y", "w"] if self.two else ["x", "w"]
        bound = 5 if self.exact else 1.0
        for draw in (
            lambda: self.rng.uniform(-bound, bound, self.size), lambda: np.full(self.size, bound),
            lambda: self.rng.choice([-bound, bound], self.size),
        ):  # fmt: skip
            yield {name: np.rint(draw()).astype(np.int64) if self.exact else draw() for name in names}


def measured(seed: int) -> Gap | None:
    """Run the kernel of a seed; None for one that its set has no room for."""
    drawn = RandomKernel(seed)
    try:
        program = drawn.kernel("probable").compile()
    except RingsmithError:
        return None
    client = program.client(f"guarantees {seed}", sample_data=True)
    server = program.server(client.evaluation_keys, threads=1)
    found = []
    for values in drawn.values():
        plain = {"w": values.pop("w")}
        kept = plain if "w" in program.signature.arguments else {}
        result = server.evaluate(client.encrypt(**values), **kept)
        if drawn.exact:
            found.append(-_budget(program, client, result))
        else:
            wanted = drawn.function(*values.values(), plain["w"])
            found.append(float(np.log2(max(np.abs(client.decrypt(result) - wanted).max(), 2.0**-200))))
    # Of one circuit: under another guarantee BFV would run at other levels.
    promised = {name: -bits if drawn.exact else bits for name, bits in guarantees(program).items()}
    operations = "+".join(name for name, _ in drawn.plan)
    worst = max(found)
    return Gap(
        seed, "bfv" if drawn.exact else "ckks", operations, promised["certain"] - worst, promised["probable"] - worst,
        promised["probable"] - found[0],
    )  # fmt: skip


def _budget(program: Any, client: Any, result: Any) -> float:
    """Return the noise budget of the poorest result, by the secret key."""
    context = program.open().context
    secret = _native.SecretKey.from_bytes(context, client.secret_key)
    decryptor = _native.BfvDecryptor(context, secret)
    left = []
    for data in result.ciphertexts:
        ciphertext = _native.BfvCiphertext.from_bytes(context, data)
        log2_q = sum(math.log2(q) for q in program.params.moduli[: ciphertext.level + 1])
        left.append(log2_q - math.log2(program.params.plain_modulus) - 1 - decryptor.noise_bits(ciphertext))
    return min(left)


def table(gaps: list[Gap]) -> str:
    """Return quantiles of the gaps in bits, by scheme."""
    lines = [f"{'':34}{'least':>7}{'1 %':>7}{'median':>8}{'99 %':>7}{'most':>7}"]
    for scheme in ("ckks", "bfv"):
        own = [gap for gap in gaps if gap.scheme == scheme]
        for name in ("certain", "probable", "ordinary"):
            bits = np.array([getattr(gap, name) for gap in own])
            told = {"ordinary": "probable, random values only"}.get(name, name)
            quantiles = np.quantile(bits, [0, 0.01, 0.5, 0.99, 1]) if len(bits) else [np.nan] * 5
            low, one, median, most, high = quantiles
            lines.append(f"{scheme.upper():5}{told:29}{low:7.1f}{one:7.1f}{median:8.1f}{most:7.1f}{high:7.1f}")
        lines.append(f"{scheme.upper():5}{len(own)} kernels")
    return "\n".join(lines)


#: Kinds of operations whose share of the gap is told.
_KINDS = {
    "matrix products": ("matrix",),
    "products of ciphertexts": ("square", "product"),
    "sums over slots, rolls": ("sum", "rolled"),
    "products with vectors": ("plain", "mask"),
}


def by_operation(gaps: list[Gap]) -> str:
    """Return medians of the gaps in bits of the kernels with none, one, two and more operations of a kind."""
    lines = [f"{'median, by count':34}{'0':>12}{'1':>12}{'2':>12}{'3 or more':>12}"]
    for scheme in ("ckks", "bfv"):
        for kind, names in _KINDS.items():
            groups: dict[int, list[tuple[float, float]]] = {count: [] for count in range(4)}
            for gap in (gap for gap in gaps if gap.scheme == scheme):
                count = sum(gap.operations.split("+").count(name) for name in names)
                groups[min(count, 3)].append((gap.certain, gap.probable))
            medians = ["".join(f"{m:6.1f}" for m in np.median(own, axis=0)) if own else "-" for own in groups.values()]
            lines.append(f"{scheme.upper():5}{kind:29}" + "".join(f"{text:>12}" for text in medians))
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object a kernel instead of the table")
    asked = parser.parse_args()
    gaps, refused = [], 0
    seed = asked.first
    while len(gaps) < asked.count:
        gap = measured(seed)
        seed += 1
        if gap is None:
            refused += 1
            continue
        gaps.append(gap)
        if asked.json:
            print(json.dumps(gap.__dict__))
    if not asked.json:
        print(table(gaps))
        print(by_operation(gaps))
        print(f"{refused} more had no room in their set")
        shortest = Counter({gap.operations: -int(gap.probable) for gap in gaps}).most_common(3)
        print("least:", "; ".join(f"{name} ({-bits} bits)" for name, bits in shortest))
    if min(min(gap.certain, gap.probable) for gap in gaps) < 0:
        sys.exit("a guarantee lies below what was measured")


if __name__ == "__main__":
    main()
