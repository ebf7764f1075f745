# SPDX-License-Identifier: Apache-2.0
"""A client in SEAL or OpenFHE with a server of ours and the other way round, and how long each library evaluates.

`make bench WHAT=interchange` installs TenSEAL's SEAL and OpenFHE's wheel into `target/peers` and runs, in BFV and CKKS
at degrees 4096 to 16384, a client that encrypts x and y, sends parameters, keys and ciphertexts in its bytes, and
decrypts what the other library's server made of them: (x + y) · y, relinearised, in CKKS rescaled, rotated by one.
Results are compared with the values in the clear; times are medians of the evaluation alone, one thread each, in one
run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import ringsmith as rs
from ringsmith import bfv, ckks
from ringsmith.interchange import openfhe, openfhe_slots, seal
from ringsmith.interchange.seal_slots import Rotation, places, to_ours, to_seals

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Library:
    """What differs between the other libraries: file names, sets by degree, slots and rotations by one."""

    name: str
    suffix: str
    #: Bits of the primes by degree; SEAL's last one is the special one: the largest that it takes, 128 bits by the
    #: table of 2018. OpenFHE adds special primes of its own, and chooses BFV's primes by their number.
    sets: dict[int, tuple[int, ...]]
    policy: dict[str, Any]
    #: The file that says the set.
    parameters: str

    def to_ours(self, scheme: str, values: Any) -> Any:
        """Return values in the order of our slots."""
        if self.name == "SEAL":
            return values if scheme == "bfv" else to_ours(values)
        return openfhe_slots.to_ours(values) if scheme == "bfv" else values

    def from_ours(self, scheme: str, values: Any) -> Any:
        """Return values in the order of the other library's slots."""
        if self.name == "SEAL":
            return values if scheme == "bfv" else to_seals(values)
        return openfhe_slots.to_openfhes(values) if scheme == "bfv" else values

    def rotation(self, scheme: str, context: Any, keys: Any) -> Callable[[Any, Any], Any]:
        """Return what rotates by one with its key."""
        if self.name == "SEAL" and scheme == "ckks":
            return Rotation(context, keys, 1)
        if self.name == "OpenFHE" and scheme == "bfv":
            return lambda evaluator, ciphertext: openfhe_slots.rotated(evaluator, ciphertext, context.n, 1, keys)
        return lambda evaluator, ciphertext: evaluator.rotate(ciphertext, 1, keys)

    def steps(self, scheme: str, n: int) -> tuple[list[int], int]:
        """Return the steps of a key of ours that serves a rotation of the other library's, and by how much."""
        if self.name == "SEAL" and scheme == "ckks":
            # The rotation by two, x -> x^9: that by one is one of ours with a conjugation.
            return [int(places(n)[2])], 2
        if self.name == "OpenFHE" and scheme == "bfv":
            # The one of our rotations that is x -> x^(5^k), for an even k.
            return [next(i for i in range(n // 2) if pow(3, i, 2 * n) == 25)], 2
        return [1], 1

    def written(self, thing: Any, context: Any, folder: Path) -> bytes:
        """Return an object as the library's bytes."""
        if self.name == "SEAL":
            return seal.write(thing, context)
        return openfhe.write(thing, context, (folder / "parms.bin").read_bytes())

    def context(self, folder: Path) -> Any:
        """Return the set of a folder."""
        if self.name == "SEAL":
            return rs.load(folder / "parms.seal", **self.policy)
        return openfhe.read_set((folder / self.parameters).read_bytes(), **self.policy)


LIBRARIES = {
    "seal": Library(
        "SEAL",
        "seal",
        {4096: (36, 36, 37), 8192: (43, 43, 44, 44, 44), 16384: (48, 48, 48, 49, 49, 49, 49, 49, 49)},
        {"standard": "2018"},
        "parms.seal",
    ),
    "openfhe": Library(
        "OpenFHE",
        "bin",
        {4096: (50, 30), 8192: (60, 40, 40, 40), 16384: (60, 40, 40, 40, 40, 40)},
        {"allow_insecure": True},
        "relin.bin",
    ),
}


def side(library: Library, python: str, *arguments: object) -> Any:
    """Return what the other library's side prints."""
    script = HERE / "peers" / "python" / f"{library.name.lower()}_side.py"
    command = [python, str(script), *map(str, arguments)]
    alone = os.environ | {"OMP_NUM_THREADS": "1"}
    alone.pop("PYTHONPATH", None)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=alone)
    if done.returncode:
        raise SystemExit(f"{script.name} {' '.join(map(str, arguments))}: {done.stderr.strip().splitlines()[-1]}")
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


def evaluate(library: Library, folder: Path, scheme: str, *, once: bool) -> float:
    """Evaluate what is in a folder, save the result as the library's bytes, and return the median time in µs."""
    context = library.context(folder)
    x, y, relin, galois = (
        rs.load(folder / f"{name}.{library.suffix}", parameters=context) for name in ("x", "y", "relin", "galois")
    )
    evaluator: Any = (bfv if scheme == "bfv" else ckks).Evaluator(context, threads=1)
    rotation = library.rotation(scheme, context, galois)

    def run() -> Any:
        product = evaluator.relinearize(evaluator.multiply(evaluator.add(x, y), y), relin)
        return rotation(evaluator, product if scheme == "bfv" else evaluator.rescale(product))

    result, times = run(), []
    begin = time.perf_counter()
    while not once and (len(times) < 7 or time.perf_counter() - begin < 0.4):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e6)
    (folder / f"ours.{library.suffix}").write_bytes(library.written(result, context, folder))
    return median(times) if times else 0.0


def other_client(
    library: Library, python: str, folder: Path, scheme: str, n: int, *, once: bool
) -> tuple[float, float]:
    """Return the other library's time and ours for a client in that library."""
    bits = ",".join(map(str, library.sets[n]))
    theirs = side(library, python, "client", folder, scheme, n, bits)["median_us"]
    ours = evaluate(library, folder, scheme, once=once)
    for name in ("own", "ours"):
        found = side(library, python, "decrypt", folder, scheme, f"{name}.{library.suffix}")
        holds(scheme, n, found, f"{library.name}'s client decrypts {name}, which")
    return theirs, ours


def our_client(library: Library, python: str, folder: Path, scheme: str, n: int) -> None:
    """Check a client of ours with a server in the other library, over the set that its client made."""
    part: Any = bfv if scheme == "bfv" else ckks
    context = library.context(folder)
    generator = part.KeyGenerator(context)
    secret = generator.secret_key()
    encryptor, encoder = part.Encryptor(context, secret), part.Encoder(context)
    i = np.arange(encoder.slots)
    values = {"x": i % 50, "y": 7 * i % 31}
    # In CKKS at the scale of the other side.
    scale = {} if scheme == "bfv" else {"scale": rs.load(folder / f"x.{library.suffix}", parameters=context).scale}
    cast = np.int64 if scheme == "bfv" else np.float64
    things = {}
    for name, one in values.items():
        things[name] = encryptor.encrypt(encoder.encode(library.to_ours(scheme, one.astype(cast)), **scale))
    steps, turns = library.steps(scheme, context.n)
    things |= {"relin": generator.relin_key(secret), "galois": generator.galois_keys(secret, steps)}
    for name, thing in things.items():
        (folder / f"{name}.{library.suffix}").write_bytes(library.written(thing, context, folder))
    side(library, python, "server", folder, scheme, turns)
    path = folder / f"own.{library.suffix}"
    answer = part.Decryptor(context, secret).decrypt(rs.load(path, parameters=context, owner=things["relin"]))
    found = encoder.decode(answer) if scheme == "bfv" else encoder.decode_real(answer)
    found = library.from_ours(scheme, found)
    holds(scheme, n, found, f"what {library.name}'s server made for a client of ours", turns)


def interpreter(name: str) -> str:
    """Return the interpreter with a library, installed where it is missing."""
    sys.path.insert(0, str(HERE / "peers"))
    import run

    return str(run.peers_python() if name == "seal" else run.openfhe_python())


def main() -> None:
    """Run all sets and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", choices=list(LIBRARIES), action="append", help="only this one")
    parser.add_argument("--python", help="an interpreter with the one library (default: one in target/peers)")
    parser.add_argument("--check", action="store_true", help="results only, without our times")
    options = parser.parse_args()
    print(f"{'library':<8} {'scheme':<7}{'n':>6} {'theirs ms':>9} {'ours ms':>9} {'ratio':>6}")
    for name in options.library or LIBRARIES:
        library, python = LIBRARIES[name], options.python or interpreter(name)
        for scheme in ("bfv", "ckks"):
            for n in library.sets:
                with tempfile.TemporaryDirectory() as folder:
                    theirs, ours = other_client(library, python, Path(folder), scheme, n, once=options.check)
                    our_client(library, python, Path(folder), scheme, n)
                ratio = f"{theirs / ours:6.2f}" if ours else f"{'':>6}"
                print(f"{library.name:<8} {scheme:<7}{n:>6} {theirs / 1e3:9.3f} {ours / 1e3:9.3f} {ratio}", flush=True)


if __name__ == "__main__":
    main()
