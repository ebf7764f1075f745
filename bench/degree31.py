# SPDX-License-Identifier: Apache-2.0
"""A polynomial of degree 31 of 4096 encrypted numbers: a kernel's, beside one evaluated by hand with `rs.ckks`.

By hand means: the same parameters, Paterson and Stockmeyer's method with the Chebyshev basis, constants by
`multiply_constant`, sums relinearised once, every level and scale kept by hand.

    .venv/bin/python bench/degree31.py [--repeats 9]
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebdiv, chebval

import ringsmith as rs
from ringsmith import ckks

COUNT, TOLERANCE = 4096, 1e-4
SIGMOID = rs.approximate(lambda x: 1 / (1 + np.exp(-8 * x)) + 0.1 * np.exp(x), -1, 1, degree=31)


@rs.kernel(x=rs.Encrypted(COUNT, bound=1.0), tolerance=TOLERANCE)
def polynomial(x: Any) -> Any:
    """The polynomial of degree 31."""
    return SIGMOID(x)


class ByHand:
    """T_k(x) by depth, each at its depth's own scale, and sums of products of them."""

    def __init__(self, evaluator: Any, relin: Any, x: Any, moduli: tuple[int, ...], scale: float) -> None:
        """Compute T_1, T_2, T_3, T_4, T_8, T_16."""
        self.evaluator, self.relin, self.top = evaluator, relin, len(moduli) - 1
        self.scales = [scale]
        for prime in reversed(moduli[1:]):
            self.scales.append(self.scales[-1] ** 2 / prime)
        self.t = {1: (x, 0)}
        for k, a, b in ((2, 1, 1), (4, 2, 2), (8, 4, 4), (16, 8, 8), (3, 2, 1)):
            self.t[k] = self.double(a, b)

    def double(self, a: int, b: int) -> tuple[Any, int]:
        """2 T_a T_b - T_(a-b)."""
        depth = max(self.t[a][1], self.t[b][1])
        raw = self.evaluator.multiply(self.at(self.t[a], depth), self.at(self.t[b], depth))
        raw = self.evaluator.add(raw, raw)
        if a != b:
            raw = self.evaluator.sub(raw, self.scaled(self.t[a - b], 1.0, depth))
        made = self.settled(raw)
        return (self.evaluator.add_constant(made, -1.0) if a == b else made), depth + 1

    def scaled(self, value: tuple[Any, int], factor: float, depth: int) -> Any:
        """A constant times a value, at a depth's scale squared."""
        dropped = self.evaluator.drop_to(value[0], self.top - depth) if value[1] < depth else value[0]
        return self.evaluator.multiply_constant(dropped, factor, scale=self.scales[depth] ** 2)

    def at(self, value: tuple[Any, int], depth: int) -> Any:
        """A value at a depth and its scale."""
        return value[0] if value[1] == depth else self.evaluator.rescale(self.scaled(value, 1.0, depth - 1))

    def settled(self, raw: Any) -> Any:
        """Relinearised and rescaled."""
        return self.evaluator.rescale(self.evaluator.relinearize(raw, self.relin))

    def sum(self, coefficients: Any, depth: int) -> tuple[Any, int]:
        """The polynomial, at a depth."""
        rest, parts = coefficients, []
        while len(rest) > 4 or (len(rest) - 2).bit_length() + 1 > depth:
            m = 1 << ((len(rest) - 1).bit_length() - 1)
            quotient, rest = chebdiv(rest, [0.0] * m + [1.0])
            inner = self.sum(quotient, depth - 1)
            parts.append(self.evaluator.multiply(self.at(inner, depth - 1), self.at(self.t[m], depth - 1)))
        leaf = [self.scaled(self.t[k], c, depth - 1) for k, c in enumerate(rest) if k and c]
        total, *others = parts + leaf
        for other in others:
            total = self.evaluator.add(total, other)
        made = self.settled(total) if parts else self.evaluator.rescale(total)
        return self.evaluator.add_constant(made, float(rest[0])), depth


def main() -> None:
    """Time both in turns, on the same numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    x = np.random.default_rng(0).uniform(-1, 1, COUNT)
    expected = chebval(x, SIGMOID.coefficients)
    program = polynomial.compile()
    params = program.params
    client = program.client()
    server, sent = program.server(client.evaluation_keys), client.encrypt(x=x)

    context = ckks.Context(
        params.n, list(params.moduli), list(params.special), 2.0**params.log2_scale, dnum=params.dnum
    )  # fmt: skip
    keys = ckks.KeyGenerator(context)
    secret = keys.secret_key()
    relin, evaluator, encoder = keys.relin_key(secret), ckks.Evaluator(context), ckks.Encoder(context)
    fresh = ckks.Encryptor(context, secret).encrypt(encoder.encode(x))

    def by_hand() -> Any:
        hand = ByHand(evaluator, relin, fresh, params.moduli, 2.0**params.log2_scale)
        return hand.sum(np.asarray(SIGMOID.coefficients), 5)[0]

    times: dict[str, list[float]] = {"kernel": [], "by hand": []}
    for _ in range(repeats):
        for name, run in (("kernel", lambda: server.evaluate(sent)), ("by hand", by_hand)):
            start = time.perf_counter()
            answer = run()
            times[name].append((time.perf_counter() - start) * 1e3)
            if name == "kernel":
                error = np.abs(client.decrypt(answer) - expected).max()
            else:
                found = encoder.decode_real(ckks.Decryptor(context, secret).decrypt(answer))[:COUNT]
                error = np.abs(found - expected).max()
            assert error <= TOLERANCE, f"{name} errs by {error}"
    median = {name: statistics.median(all_times) for name, all_times in times.items()}
    print(f"n = {params.n}, log2 QP = {params.split}, {program.counts['key_switch']} key switches")
    for name, value in median.items():
        print(f"{name:<8} {value:7.1f} ms (median of {repeats}; least {min(times[name]):.1f})")
    print(f"kernel / by hand: {median['kernel'] / median['by hand']:.2f}")


if __name__ == "__main__":
    main()
