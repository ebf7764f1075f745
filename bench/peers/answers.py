# SPDX-License-Identifier: Apache-2.0
"""Compares answers, noise and precision of the same circuits at the same primes in SEAL, in OpenFHE and here.

    python bench/peers/answers.py [--json]

`make bench WHAT=peers` runs it too. The libraries (wheels of TenSEAL and OpenFHE, installed into `target/peers`) draw
primes and the engine takes the same; OpenFHE tells its data primes only. All compute the same circuits on the same
inputs with keys of their own: SEAL's public key is over Q·P, so ours is beside it. BFV: every slot equals numpy's
everywhere, and the noise budget here is at least what is promised. CKKS: the largest error of a slot, here below its
promise. Exit status 1 where an answer is wrong or a promise is broken, 2 where no library can be had.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from run import HERE, UnavailableError, openfhe_python, peers_python, sh

sys.path.insert(0, str(HERE / "python"))
from cases import PLAIN_MODULUS, SCALE, inputs, walk

from ringsmith import _native, bfv, ckks


class Ours:
    """The operations of a circuit here, on ciphertexts with their estimates beside them."""

    def __init__(self, scheme: str, n: int, moduli: list[int], special: list[int], *, extended: bool) -> None:
        """Take the primes and make keys; an extended public key is over Q·P."""
        self.exact = scheme == "bfv"
        self.library: Any = bfv if self.exact else ckks
        self.n, last = n, PLAIN_MODULUS if self.exact else SCALE
        self.context = self.library.Context(n, moduli, special, last, allow_insecure=True)
        keys = self.library.KeyGenerator(self.context)
        secret = keys.secret_key()
        self.relin = keys.relin_key(secret)
        self.galois = keys.galois_keys(secret, [1])
        self.encoder = self.library.Encoder(self.context)
        self.encryptor = self.library.Encryptor(self.context, keys.public_key(secret, extended=extended))
        self.decryptor = self.library.Decryptor(self.context, secret)
        self.evaluator = self.library.Evaluator(self.context)
        own = (PLAIN_MODULUS,) if self.exact else ()
        self.estimator = self.library.Estimator(n, moduli, special, *own)
        self.encrypted = self.estimator.encrypt_extended if extended else self.estimator.encrypt_public

    def encode(self, values: np.ndarray) -> Any:
        """A plaintext."""
        return self.encoder.encode(values.astype(np.uint64) if self.exact else values)

    def encrypt(self, values: np.ndarray) -> tuple[Any, Any]:
        """A ciphertext under the public key."""
        made = self.encryptor.encrypt(self.encode(values))
        if self.exact:
            return made, self.encrypted()
        return made, self.encrypted(self.estimator.encode(1.0, self.context.max_level, SCALE))

    def add(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        """a + b."""
        return self.evaluator.add(a[0], b[0]), self.estimator.add(a[1], b[1])

    def multiply(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        """a·b, relinearised and, in CKKS, rescaled."""
        made = self.evaluator.relinearize(self.evaluator.multiply(a[0], b[0]), self.relin)
        known = self.estimator.relinearize(self.estimator.multiply(a[1], b[1]))
        return (made, known) if self.exact else (self.evaluator.rescale(made), self.estimator.rescale(known))

    def multiply_plain(self, a: tuple[Any, Any], values: np.ndarray) -> tuple[Any, Any]:
        """a times a plaintext, rescaled in CKKS."""
        made = self.evaluator.multiply_plain(a[0], self.encode(values))
        if self.exact:
            return made, self.estimator.multiply_plain(a[1])
        plain = self.estimator.encode(1.0, self.context.max_level, SCALE)
        return self.evaluator.rescale(made), self.estimator.rescale(self.estimator.multiply(a[1], plain))

    def rotate(self, a: tuple[Any, Any]) -> tuple[Any, Any]:
        """Slots moved left by one: in both rows in BFV."""
        return self.evaluator.rotate(a[0], 1, self.galois), self.estimator.rotate(a[1])

    def decrypt(self, a: tuple[Any, Any]) -> np.ndarray:
        """The values of a ciphertext."""
        values = self.encoder.decode(self.decryptor.decrypt(a[0]))
        return np.asarray(values) % PLAIN_MODULUS if self.exact else np.asarray(values).real

    def budget(self, a: tuple[Any, Any]) -> float:
        """Bits of noise budget."""
        return float(self.decryptor.noise_budget(a[0]))

    def promised(self, a: tuple[Any, Any]) -> float:
        """Bits of budget that are promised, or log2 of the error."""
        return self.estimator.log2_budget(a[1]) if self.exact else self.estimator.log2_slot_error(a[1])


@dataclass(frozen=True)
class Row:
    """A step of a circuit in both libraries: bits of noise budget (BFV), or log2 of the largest error (CKKS)."""

    peer: str
    scheme: str
    n: int
    step: str
    theirs: float | None
    ours: float
    promised: float
    wrong: int

    @property
    def fails(self) -> bool:
        """Whether an answer is wrong, or a promise is broken."""
        return self.wrong > 0 or (self.ours < self.promised if self.scheme == "bfv" else self.ours > self.promised)


def compared(peer: str, found: dict[str, Any]) -> Iterator[Row]:
    """Run the circuits of a set here, beside what a library found."""
    scheme, n, theirs = found["scheme"], found["n"], found["steps"]
    if "primes" in found:
        ours = Ours(scheme, n, found["primes"][:-1], found["primes"][-1:], extended=True)
    else:
        bits = max(found["data"]).bit_length()
        special = next(q for q in _native.ntt_primes(n, bits, len(found["data"]) + 1) if q not in found["data"])
        ours = Ours(scheme, n, found["data"], [special], extended=False)
    promised: dict[str, float] = {}
    for step, own in walk(ours, inputs(scheme, n), promised).items():
        other = theirs[step]
        if scheme == "bfv":
            wrong = own["wrong"] + other["wrong"]
            yield Row(peer, scheme, n, step, other["budget"], own["budget"], promised[step], wrong)
        else:
            yield Row(peer, scheme, n, step, math.log2(other["error"]), math.log2(own["error"]), promised[step], 0)


def rows_of(peer: str, python: Callable[[], str], script: str) -> list[Row]:
    """Return the comparison with one library; nothing where it cannot be had, which is said."""
    try:
        output = sh([python(), str(HERE / "python" / script)])
    except UnavailableError as error:
        print(f"{peer}: {error}", file=sys.stderr)
        return []
    return [row for line in output.splitlines() for row in compared(peer, json.loads(line))]


def show(rows: list[Row]) -> None:
    """Print the comparison as a table."""
    print("BFV: bits of noise budget. CKKS: log2 of the largest error. Promised: what the estimate is sure of.")
    print(f"{'peer':9}{'scheme':7}{'n':>6}  {'step':26}{'theirs':>8}{'here':>8}{'promised':>10}")
    for row in rows:
        theirs = "-" if row.theirs is None else f"{row.theirs:.1f}"
        told = "   WRONG" if row.fails else ""
        print(f"{row.peer:9}{row.scheme:7}{row.n:6}  {row.step:26}{theirs:>8}{row.ours:8.1f}{row.promised:10.1f}{told}")


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a step")
    options = parser.parse_args()
    rows = rows_of("SEAL", peers_python, "tenseal_answers.py")
    rows += rows_of("OpenFHE", openfhe_python, "openfhe_answers.py")
    if options.json:
        print("\n".join(json.dumps(asdict(row)) for row in rows))
    else:
        show(rows)
    if not rows:
        return 2
    return 1 if any(row.fails for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
