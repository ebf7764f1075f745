# SPDX-License-Identifier: Apache-2.0
"""4. The same ciphertexts from a co-processor.

A BFV context hands the polynomial part of its work to an engine. Here one context encrypts, multiplies and decrypts on
this machine, a second one on CoFHEE's co-processor: 4096 coefficients, one tower of 109 bits, 250 MHz. The same seed
gives the same bytes, and the device says what it did and how long it took at its clock. CoFHEE talks to its host over
a serial line, so look at what sending costs beside computing.

    python examples/04_coprocessor.py          # the instruction-level model
    python examples/04_coprocessor.py rtl      # the generated RTL under Verilator (needs `make setup-hw`)
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np

from ringsmith import bfv
from ringsmith._native import ntt_primes
from ringsmith.run.devices import open_device

N, T = 4096, 65537
SEED = hashlib.sha256(b"the same seed").digest()


def product(context: bfv.Context, x: np.ndarray, y: np.ndarray) -> tuple[list[bytes], np.ndarray]:
    """Encrypt two vectors, multiply, decrypt: the bytes of all ciphertexts, and the decrypted product."""
    keys = bfv.KeyGenerator(context, seed=SEED)
    secret = keys.secret_key()
    encoder, encryptor = bfv.Encoder(context), bfv.Encryptor(context, keys.public_key(secret), seed=SEED)
    a, b = encryptor.encrypt(encoder.encode(x)), encryptor.encrypt(encoder.encode(y))
    c = bfv.Evaluator(context).multiply(a, b)
    return [ct.to_bytes() for ct in (a, b, c)], encoder.decode(bfv.Decryptor(context, secret).decrypt(c))


def main(kind: str) -> None:
    """Run both ways, compare, and show what the device did."""
    # 109 bits at n = 4096 is CoFHEE's published set: 128 bits secure by the standard of 2018, 126 by today's estimate.
    cpu = bfv.Context(N, ntt_primes(N, 109, 1), [], T, table="2018-classical")
    device = open_device(kind, "cofhee")
    coprocessor = cpu.on(device.native.engine(cpu.word_bits))

    x, y = np.random.default_rng(5).integers(-150, 150, (2, N))
    here, there = product(cpu, x, y), product(coprocessor, x, y)
    assert here[0] == there[0], "the co-processor's ciphertexts differ"
    for _, decrypted in (here, there):
        assert np.array_equal(decrypted, x * y)
    print(f"{device.name} and this processor made the same {sum(map(len, here[0])):,} bytes of ciphertexts")

    usage = device.native.take_usage()
    print(f"offloaded      {', '.join(f'{count} {name}' for name, count in usage['offloaded'].items())}")
    print(f"instructions   {usage['instructions']:10,}; sampling, lifting and scaling stayed here")
    moved = usage["send"]["bytes"] + usage["receive"]["bytes"]
    link = sum(device.link_ms(usage[way]["bytes"], usage[way]["cycles"]) for way in ("send", "receive"))
    cycles = usage["compute_cycles"]
    print(f"computing      {cycles / device.clock_mhz / 1e3:10.3f} ms: {cycles:,} cycles at {device.clock_mhz} MHz")
    print(f"moving         {link:10.3f} ms: {moved:,} bytes over its serial line")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "model")
