# SPDX-License-Identifier: Apache-2.0
"""Parameters that are refused: at once and without memory, by the engine's contexts and by the service."""

from __future__ import annotations

import subprocess
import sys

#: Most KiB that a process grows by while it refuses sets whose tables would take hundreds of MiB.
MOST = 30 << 10

CONTEXTS = """
import resource
from ringsmith import _native, bfv, ckks, errors
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
n = 1 << 16
primes = _native.ntt_primes(n, 50, 41)
bad = [*primes[:39], primes[39] + 2 * n]
data, special = primes[:40], primes[40:]
before = peak()
def refused(make):
    try: make()
    except errors.RingsmithError as error: print(str(error).splitlines()[0])
refused(lambda: bfv.Context(n, data, special, 65537))
refused(lambda: bfv.Context(n, bad, special, 65537, allow_insecure=True))
refused(lambda: bfv.Context(n, data, special, 1, allow_insecure=True))
refused(lambda: bfv.Context(n, data, special, 65537, auxiliary=special, allow_insecure=True))
refused(lambda: bfv.Context(n, [*_native.ntt_primes(n, 60, 1), 786433], [], 65537, allow_insecure=True))
refused(lambda: bfv.Context(n, data, special, 65537, error="gaussian:1", allow_insecure=True))
refused(lambda: ckks.Context(n, data, special, 2.0**40))
refused(lambda: ckks.Context(n, data, [*special, data[0]], 2.0**40, allow_insecure=True))
refused(lambda: ckks.Context(n, data, special, 1.0, allow_insecure=True))
print(peak() - before)
"""

PROGRAM = """
import sys
import ringsmith as rs
few = rs.ParamRequest(n=32768, data_bits=(60,) + (50,) * 23, special_bits=(60,), log2_scale=50.0)
@rs.kernel(x=rs.Encrypted(4, bound=1), tolerance=0.1, params=few, allow_insecure=True)
def doubled(x): return x + x
sys.stdout.buffer.write(doubled.compile().to_bytes())
"""

UPLOAD = """
import resource, sys
from ringsmith.service import kinds, problems
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = sys.stdin.buffer.read()
before = peak()
try: kinds.inspect(data)
except problems.Problem as problem: print(str(problem).splitlines()[0])
print(peak() - before)
"""


def ran(program: str, given: bytes = b"") -> bytes:
    """What a process of its own prints."""
    return subprocess.run([sys.executable, "-c", program], input=given, stdout=subprocess.PIPE, check=True).stdout


def test_contexts_are_judged_before_tables_are_made() -> None:
    *refusals, grown = ran(CONTEXTS).decode().splitlines()
    words = ["insecure", "mod", "plaintext modulus 1", "auxiliary", "widths", "sigma", "insecure", "twice", "scale"]
    assert len(refusals) == len(words), refusals
    assert all(word in text for word, text in zip(words, refusals, strict=True)), refusals
    assert int(grown) < MOST


def test_an_upload_is_judged_before_tables_are_made() -> None:
    refusal, grown = ran(UPLOAD, ran(PROGRAM)).decode().splitlines()
    assert "insecure" in refusal
    assert int(grown) < MOST
