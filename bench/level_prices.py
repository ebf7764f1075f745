# SPDX-License-Identifier: Apache-2.0
"""Relative prices of CKKS operations by level and of a refresh, for the named sets with a bootstrapping.

    python bench/level_prices.py [--repeats 5] [--only ckks-refreshed-32768] [--write]

On one thread, the least of the repeats, which go round all operations and levels so that a busy moment hits few of one
kind. It prints a table for each set and takes minutes and up to 10 GiB; `--write` puts all of them into
spec/params/prices.json, by which compilers on every machine place refreshes (`compiler/scheduling/prices.py`). The unit
is a rotation over one limb of the first set.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

import ringsmith as rs
from ringsmith import _native
from ringsmith.compiler.params import bootstrapping
from ringsmith.compiler.params.sets import ParameterSet, check
from ringsmith.compiler.scheduling.prices import KINDS
from ringsmith.files import replacing
from ringsmith.results.measure import processor

TABLE = Path(__file__).resolve().parents[1] / "spec" / "params" / "prices.json"
COMMAND = "python bench/level_prices.py --write"
#: Digits of a price: fewer than its measurement has.
DIGITS = 4


def operations(params: ParameterSet) -> dict[str, list[Callable[[], object]]]:
    """Return what is timed, of each kind over 1, 2, ... limbs; a rescale is from as many limbs, so from two on."""
    context = _native.CkksContext(
        params.n, list(params.moduli), list(params.special), 2.0**params.log2_scale, dnum=params.dnum,
        secret=params.secret, error=params.error,
    )  # fmt: skip
    generator = _native.KeyGenerator(context)
    secret = generator.secret_key()
    relin, galois = generator.relin_key(secret), generator.galois_keys(secret, [1])
    encoder, encryptor = _native.CkksEncoder(context), _native.CkksEncryptor(context, secret)
    evaluator = _native.CkksEvaluator(context, threads=1)
    values = np.linspace(-1, 1, encoder.slots)
    found: dict[str, list[Callable[[], object]]] = {kind: [] for kind in KINDS}
    for level in range(len(params.moduli)):
        # The scale changes no time; these have room at every level.
        plain = encoder.encode(values, level=level, scale=2.0**10)
        sent = encryptor.encrypt(plain)
        long = (
            encryptor.encrypt(encoder.encode(values, level=level, scale=32.0 * params.moduli[level])) if level else None
        )

        def product(sent: Any = sent) -> object:
            return evaluator.relinearize(evaluator.multiply(sent, sent), relin)

        found["product"].append(product)
        found["rotation"].append(partial(evaluator.rotate, sent, 1, galois))
        found["plain_product"].append(partial(evaluator.multiply_plain, sent, plain))
        found["rescale"].append(partial(evaluator.rescale, long) if long else lambda: None)
        found["addition"].append(partial(evaluator.add, sent, sent))
    return found


def refreshed(name: str) -> Callable[[], float]:
    """Return what refreshes once under a named set and says how many seconds that took."""

    @rs.kernel(x=rs.Encrypted(8, bound=0.9), tolerance=0.5, params=name)
    def once(x: Any) -> Any:
        return rs.bootstrap(x * 1.0)

    program = once.compile()
    client = program.client()
    server, sent = program.server(client.evaluation_keys, threads=1), client.encrypt(x=np.zeros(8))
    return lambda: float(server.run(sent, {}).seconds["bootstrap"])


def measured(params: ParameterSet, repeats: int) -> dict[str, Any]:
    """Return the seconds of a set's operations, and those of a refresh over those of its key switches."""
    timed = operations(params)
    least = {kind: [float("inf")] * len(own) for kind, own in timed.items()}
    for _ in range(repeats):
        for kind, own in timed.items():
            for place, operation in enumerate(own):
                start = time.perf_counter()
                operation()
                least[kind][place] = min(least[kind][place], time.perf_counter() - start)
    least["rescale"][0] = 0.0
    timed.clear()
    # What is done over fewer limbs takes no longer: that it did in the least of the repeats was another process.
    least = {kind: list(accumulate(reversed(own), min))[::-1] for kind, own in least.items()}
    again = refreshed(params.name)
    seconds = min(again() for _ in range(repeats))
    switches = sum(least["rotation"][limbs - 1] for limbs in bootstrapping.native(params).effort()["switches"])
    return least | {"refresh_seconds": seconds, "refresh": seconds / switches}


def in_units(found: dict[str, Any], unit: float) -> dict[str, Any]:
    """Return prices in units of `unit` seconds."""
    by_kind = {kind: [float(f"{value / unit:.{DIGITS}g}") for value in found[kind]] for kind in KINDS}
    return by_kind | {"refresh": float(f"{found['refresh']:.{DIGITS}g}")}


def table(name: str, own: dict[str, Any], seconds: float) -> str:
    """Return a set's prices as lines."""
    head = f"{name}: a refresh took {seconds:.2f} s, {own['refresh']:.2f} times its key switches\n"
    head += "| limbs | " + " | ".join(KINDS) + " |\n" + "|---" * (len(KINDS) + 1) + "|\n"
    rows = zip(*(own[kind] for kind in KINDS), strict=True)
    return head + "\n".join(
        f"| {limbs} | " + " | ".join(f"{value:g}" for value in row) + " |" for limbs, row in enumerate(rows, 1)
    )


def main() -> None:
    """Measure, print, write."""
    names = [request.name for request in bootstrapping.known()]
    parser = argparse.ArgumentParser(description="Prices of CKKS operations by level.")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}; with all sets only")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error(f"--repeats {options.repeats}: 1 or more")
    if options.write and options.only != names:
        parser.error("--write: the table holds all sets; leave out --only")
    made, unit = {}, 0.0
    for request in bootstrapping.known():
        if request.name not in options.only:
            continue
        params = check(request, "ckks", security=128, standard="2024", allow_insecure=False)
        found = measured(params, options.repeats)
        unit = unit or found["rotation"][0]
        made[request.name] = {"n": params.n} | in_units(found, unit)
        print(table(request.name, made[request.name], found["refresh_seconds"]), flush=True)
    if options.write:
        about = {
            "about": "prices by limbs, in rotations over one limb of the first set; refresh: over its key switches",
            "command": COMMAND, "date": date.today().isoformat(), "processor": processor(),
        }  # fmt: skip
        with replacing(TABLE) as file:
            file.write((json.dumps(about | {"sets": made}, indent=1) + "\n").encode())
        print(f"{TABLE} written", file=sys.stderr)


if __name__ == "__main__":
    main()
