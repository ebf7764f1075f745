# SPDX-License-Identifier: Apache-2.0
"""3. Client and server by hand: two processes that share nothing but bytes.

No kernel, no compiler: the engine's own CKKS objects. A client encrypts 1024 salaries and sends the parameters, the
evaluation keys and one ciphertext as files. A server, another process without the secret key, computes their mean and
mean square. The client decrypts; before it publishes the statistics it floods the noise, because the exact low bits of
a CKKS decryption say something about the secret key.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ringsmith import ckks
from ringsmith._native import ntt_primes

COUNT = 1024
LARGEST = 0.3  # salaries are in millions
STEPS = [1 << i for i in range(10)]  # 1, 2, ... 512: the rotations that sum 1024 slots


def context() -> ckks.Context:
    """n = 8192; data primes of 60 and 52 bits, a special one of 60: 172 bits, more than 128 bits secure."""
    n = 8192
    (first, special), (narrow,) = ntt_primes(n, 60, 2), ntt_primes(n, 52, 1)
    return ckks.Context(n, [first, narrow], [special], 2.0**52)


def slot_errors(parameters: ckks.Context) -> dict[str, float]:
    """Bounds on the error of both answers, from the operations alone: what flooding has to drown."""
    estimate = ckks.Estimator(parameters.n, parameters.moduli, parameters.special)
    salaries = estimate.encrypt_secret(estimate.encode(LARGEST, parameters.max_level, parameters.scale))
    squares = estimate.rescale(estimate.relinearize(estimate.multiply(salaries, salaries)))
    bounds = {}
    for name, total in (("sum", salaries), ("sum_of_squares", squares)):
        for _ in STEPS:
            total = estimate.add(total, estimate.rotate(total))
        bounds[name] = estimate.slot_error(total)
    return bounds


def server(folder: Path) -> None:
    """Everything here could run on a machine of somebody else's: there is no secret key in these files."""
    read = lambda name: (folder / name).read_bytes()  # noqa: E731
    parameters = ckks.Context.from_bytes(read("parameters"))
    relin_key = ckks.RelinKey.from_bytes(parameters, read("relin_key"))
    galois_keys = ckks.GaloisKeys.from_bytes(parameters, read("galois_keys"))
    salaries = ckks.Ciphertext.from_bytes(parameters, read("salaries"))

    evaluate = ckks.Evaluator(parameters)
    squares = evaluate.rescale(evaluate.relinearize(evaluate.square(salaries), relin_key))
    for name, total in (("sum", salaries), ("sum_of_squares", squares)):
        for step in STEPS:
            total = evaluate.add(total, evaluate.rotate(total, step, galois_keys))
        (folder / name).write_bytes(total.to_bytes())


def client(folder: Path) -> None:
    """Make keys, encrypt, ask the server, decrypt."""
    parameters = context()
    keys = ckks.KeyGenerator(parameters)
    secret_key = keys.secret_key()
    encoder = ckks.Encoder(parameters)

    # The 4096 slots hold the 1024 values four times, so that rotations wrap around inside them.
    salaries = np.random.default_rng(3).lognormal(-2.8, 0.4, COUNT).clip(0, LARGEST)
    plaintext = encoder.encode(np.tile(salaries, encoder.slots // COUNT))
    files = {
        "parameters": parameters.to_bytes(),
        "relin_key": keys.relin_key(secret_key).to_bytes(),
        "galois_keys": keys.galois_keys(secret_key, STEPS).to_bytes(),
        "salaries": ckks.Encryptor(parameters, secret_key).encrypt(plaintext).to_bytes(),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
        print(f"client sends {name:<12} {len(data):>10,} bytes")

    subprocess.run([sys.executable, __file__, "server", folder], check=True)

    decryptor = ckks.Decryptor(parameters, secret_key)
    published, bounds = [], slot_errors(parameters)
    for name in ("sum", "sum_of_squares"):
        answer = ckks.Ciphertext.from_bytes(parameters, (folder / name).read_bytes())
        plain = decryptor.decrypt_for_publication(answer, bounds[name], queries=2)
        # Every slot holds the sum; their mean has less of the flooding noise than one of them.
        published.append(float(encoder.decode_real(plain).mean()) / COUNT)
    mean, mean_square = published
    deviation = np.sqrt(mean_square - mean**2)
    print(f"mean      {mean:.7f}   in the clear {salaries.mean():.7f}")
    print(f"deviation {deviation:.7f}   in the clear {salaries.std():.7f}")
    assert np.isclose(mean, salaries.mean(), atol=1e-4)
    assert np.isclose(deviation, salaries.std(), atol=1e-3)


if __name__ == "__main__":
    if sys.argv[1:2] == ["server"]:
        server(Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            client(Path(scratch))
