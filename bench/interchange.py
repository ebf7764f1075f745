# SPDX-License-Identifier: Apache-2.0
"""A client in SEAL with a server of ours and the other way round, and how long each library evaluates.

`make bench WHAT=interchange` installs TenSEAL's SEAL into `target/peers` and runs, in BFV and CKKS at degrees 4096 to
16384, a client that encrypts x and y, sends parameters, keys and ciphertexts in SEAL's bytes, and decrypts what the
other library's server made of them: (x + y) · y, relinearised, in CKKS rescaled, rotated by one. Results are compared
with the values in the clear; times are medians of the evaluation alone, one thread each, in one run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import ringsmith as rs
from ringsmith import bfv, ckks
from ringsmith.interchange import seal
from ringsmith.interchange.seal_slots import Rotation, places, to_ours, to_seals

HERE = Path(__file__).resolve().parent
SIDE = HERE / "peers" / "python" / "seal_side.py"
#: Bits of the primes by degree, the last the special one: the largest that SEAL takes, 128 bits by the table of 2018.
SETS = {4096: (36, 36, 37), 8192: (43, 43, 44, 44, 44), 16384: (48, 48, 48, 49, 49, 49, 49, 49, 49)}


def side(python: str, *arguments: object) -> Any:
    """Return what SEAL's side prints."""
    done = subprocess.run([python, str(SIDE), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"seal_side.py {' '.join(map(str, arguments))}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def wanted(scheme: str, n: int, turns: int) -> Any:
    """Return the result in the clear."""
    i = np.arange(n if scheme == "bfv" else n // 2)
    x, y = i % 50, 7 * i % 31
    rows = ((x + y) * y).reshape(2 if scheme == "bfv" else 1, -1)
    return np.roll(rows, -turns, axis=1).reshape(-1)


def holds(scheme: str, n: int, found: Any, what: str, turns: int = 1) -> None:
    """Raise unless the values are right, exactly in BFV."""
    error = float(np.max(np.abs(np.asarray(found) - wanted(scheme, n, turns))))
    if error > (0 if scheme == "bfv" else 0.1):
        raise SystemExit(f"{scheme}, n = {n}: {what} is wrong by {error:g}")


def evaluate(folder: Path, scheme: str, *, once: bool) -> float:
    """Evaluate what is in a folder, save the result as SEAL's bytes, and return the median time in µs."""
    context = rs.load(folder / "parms.seal", standard="2018")
    x, y, relin, galois = (
        rs.load(folder / f"{name}.seal", parameters=context) for name in ("x", "y", "relin", "galois")
    )
    evaluator: Any = (bfv if scheme == "bfv" else ckks).Evaluator(context, threads=1)
    rotation = None if scheme == "bfv" else Rotation(context, galois, 1)

    def run() -> Any:
        product = evaluator.relinearize(evaluator.multiply(evaluator.add(x, y), y), relin)
        if rotation is None:
            return evaluator.rotate(product, 1, galois)
        return rotation(evaluator, evaluator.rescale(product))

    result, times = run(), []
    begin = time.perf_counter()
    while not once and (len(times) < 7 or time.perf_counter() - begin < 0.4):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e6)
    (folder / "ours.seal").write_bytes(seal.write(result, context))
    return median(times) if times else 0.0


def seal_client(python: str, folder: Path, scheme: str, n: int, *, once: bool) -> tuple[float, float]:
    """Return SEAL's time and ours for a client in SEAL."""
    theirs = side(python, "client", folder, scheme, n, ",".join(map(str, SETS[n])))["median_us"]
    ours = evaluate(folder, scheme, once=once)
    for name in ("own.seal", "ours.seal"):
        holds(scheme, n, side(python, "decrypt", folder, scheme, name), f"SEAL's client decrypts {name}, which")
    return theirs, ours


def our_client(python: str, folder: Path, scheme: str, n: int) -> None:
    """Check a client of ours with a server in SEAL, over the set that SEAL's client made."""
    library: Any = bfv if scheme == "bfv" else ckks
    context = rs.load(folder / "parms.seal", standard="2018")
    generator = library.KeyGenerator(context)
    secret = generator.secret_key()
    encryptor, encoder = library.Encryptor(context, secret), library.Encoder(context)
    i = np.arange(encoder.slots)
    values = {"x": i % 50, "y": 7 * i % 31}
    cast = np.int64 if scheme == "bfv" else np.float64
    things = {name: encryptor.encrypt(encode(encoder, one.astype(cast), scheme)) for name, one in values.items()}
    # In CKKS the rotation by two, x -> x^9: that by one is one of ours with a conjugation.
    steps = 1 if scheme == "bfv" else int(places(context.n)[2])
    things |= {"relin": generator.relin_key(secret), "galois": generator.galois_keys(secret, [steps])}
    for name, thing in things.items():
        (folder / f"{name}.seal").write_bytes(seal.write(thing, context))
    turns = 1 if scheme == "bfv" else 2
    side(python, "server", folder, scheme, turns)
    answer = library.Decryptor(context, secret).decrypt(
        rs.load(folder / "own.seal", parameters=context, owner=things["relin"])
    )
    found = encoder.decode(answer) if scheme == "bfv" else to_seals(encoder.decode_real(answer))
    holds(scheme, n, found, "what SEAL's server made for a client of ours", turns)


def encode(encoder: Any, values: Any, scheme: str) -> Any:
    """Return a plaintext, in CKKS at the scale of SEAL's side."""
    return (
        encoder.encode(values)
        if scheme == "bfv"
        else encoder.encode(to_ours(values), scale=2.0 ** (30 if encoder.slots == 2048 else 40))
    )


def interpreter() -> str:
    """Return the interpreter with TenSEAL, installed where it is missing."""
    sys.path.insert(0, str(HERE / "peers"))
    from run import peers_python

    return peers_python()


def main() -> None:
    """Run all sets and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", help="an interpreter with TenSEAL (default: one in target/peers)")
    parser.add_argument("--check", action="store_true", help="results only, without our times")
    options = parser.parse_args()
    python = options.python or interpreter()
    print(f"{'scheme':<7}{'n':>6} {'SEAL ms':>9} {'ours ms':>9} {'ratio':>6}")
    for scheme in ("bfv", "ckks"):
        for n in SETS:
            with tempfile.TemporaryDirectory() as folder:
                theirs, ours = seal_client(python, Path(folder), scheme, n, once=options.check)
                our_client(python, Path(folder), scheme, n)
            ratio = f"{theirs / ours:6.2f}" if ours else f"{'':>6}"
            print(f"{scheme:<7}{n:>6} {theirs / 1e3:9.3f} {ours / 1e3:9.3f} {ratio}", flush=True)


if __name__ == "__main__":
    main()
