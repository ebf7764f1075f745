# SPDX-License-Identifier: Apache-2.0
"""A CKKS multiplication with relinearisation and rescaling, in the order in which OpenFHE computes and records it.

Hybrid key switching with a digit for each data prime and one special prime: mod-up of c2 digit by digit, products with
both halves of the key limb by limb, mod-down by the special prime, then division by the last data prime. Accumulators
begin as products with 0, words change their modulus in a product with 1; `centred`: shifted by half the modulus before
and back after it, as OpenFHE's option for reduced noise has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.fhetch import arithmetic
from ringsmith.fhetch.evaluate import evaluate
from ringsmith.fhetch.polynomials import TraceProgram
from ringsmith.fhetch.trace import read_trace
from ringsmith.runtime.devices import OpenDevice, open_device

Limbs = list[int]


@dataclass
class Recorder:
    """Writes a trace: data primes first in the table, then the special prime."""

    n: int
    primes: Sequence[int]
    centred: bool
    lines: list[str] = field(default_factory=list)
    inputs: dict[int, NDArray[np.uint64]] = field(default_factory=dict)
    used: int = 0

    def new(self) -> int:
        self.used += 1
        return self.used - 1

    def given(self, moduli: Sequence[int]) -> Limbs:
        """A polynomial that is given, a limb for each modulus."""
        source, limbs = np.random.default_rng(self.used), [self.new() for _ in moduli]
        for limb, m in zip(limbs, moduli, strict=True):
            self.inputs[limb] = source.integers(0, self.primes[m - 1], self.n, dtype=np.uint64)
        return limbs

    def emit(self, name: str, operands: str, m: int, more: str = "") -> int:
        result = self.new()
        self.lines.append(f"{name} %{result}, {operands}, m={m}{more}")
        return result

    def two(self, name: str, a: int, b: int, m: int) -> int:
        return self.emit(name, f"%{a}, %{b}", m)

    def scaled(self, a: int, factor: int, m: int) -> int:
        return self.emit("sr_mulps", f"%{a}, {factor % self.primes[m - 1]:#x}", m)

    def transform(self, name: str, a: int, m: int) -> int:
        return self.emit(name, f"%{a}", m, f", omega={arithmetic.smallest_root(self.primes[m - 1], self.n):#x}")

    def switched(self, a: int, m: int, to: int, *, centred: bool) -> int:
        """Words modulo one prime as those modulo another."""
        half, p = self.primes[m - 1] // 2, self.primes[to - 1]
        if not centred:
            return self.scaled(a, 1, to)
        shifted = self.emit("sr_addps", f"%{a}, {half}", m)
        return self.emit("sr_addps", f"%{self.scaled(shifted, 1, to)}, {-half % p}", to)

    def text(self) -> str:
        head = [f"modulus_count {len(self.primes) + 1}", "m[0] 0xFFFFFFFFFFFFFFFF"]
        table = [f"m[{m}] {q:#x}" for m, q in enumerate(self.primes, 1)]
        return "\n".join([*head, *table, *self.lines, "halt", ""])


def multiplication(r: Recorder) -> Limbs:
    """Both parts of the product of two ciphertexts, divided by the last data prime."""
    count = len(r.primes) - 1
    data, special = range(1, count + 1), count + 1
    a0, a1, b0, b1 = (r.given(data) for _ in range(4))

    def product(a: Limbs, b: Limbs) -> Limbs:
        return [r.two("sr_mulp", x, y, m) for x, y, m in zip(a, b, data, strict=True)]

    def total(a: Limbs, b: Limbs) -> Limbs:
        return [r.two("sr_addp", x, y, m) for x, y, m in zip(a, b, data, strict=True)]

    c0, c1, c2 = product(a0, b0), total(product(a0, b1), product(a1, b0)), product(a1, b1)
    sums = key_switch(r, c2, data, special)
    parts = [total(c, mod_down(r, one, data, special)) for c, one in zip((c0, c1), sums, strict=True)]
    return [limb for part in parts for limb in rescaled(r, part, data)]


def key_switch(r: Recorder, c2: Limbs, data: range, special: int) -> list[dict[int, int]]:
    """The inner products of the digits with both halves of the key, by modulus."""
    moduli = [*data, special]
    digits = []
    for own, limb in zip(data, c2, strict=True):
        coefficients = r.transform("sr_intt", limb, own)
        others = [m for m in moduli if m != own]
        raised = {m: r.switched(coefficients, own, m, centred=r.centred) for m in others}
        digits.append({m: r.transform("sr_ntt", raised[m], m) for m in others} | {own: limb})
    sums: list[dict[int, int]] = [{m: r.scaled(c2[0], 0, m) for m in moduli} for _ in range(2)]
    for digit in digits:
        for one in sums:
            key = dict(zip(moduli, r.given(moduli), strict=True))
            for m in moduli:
                one[m] = r.two("sr_addp", one[m], r.two("sr_mulp", digit[m], key[m], m), m)
    return sums


def mod_down(r: Recorder, total: Mapping[int, int], data: range, special: int) -> Limbs:
    rest, p = r.transform("sr_intt", total[special], special), r.primes[special - 1]
    moved = {m: r.transform("sr_ntt", r.switched(rest, special, m, centred=r.centred), m) for m in data}
    return [r.scaled(r.two("sr_subp", total[m], moved[m], m), pow(p, -1, r.primes[m - 1]), m) for m in data]


def rescaled(r: Recorder, part: Limbs, data: range) -> Limbs:
    last, q = data[-1], r.primes[data[-1] - 1]
    rest, found = r.transform("sr_intt", part[-1], last), []
    for m, limb in zip(data[:-1], part[:-1], strict=True):
        inverse = pow(q, -1, r.primes[m - 1])
        moved = r.transform("sr_ntt", r.scaled(r.switched(rest, last, m, centred=True), -inverse, m), m)
        found.append(r.two("sr_addp", r.scaled(limb, inverse, m), moved, m))
    return found


def recorded(n: int, primes: Sequence[int], folder: Path, *, centred: bool) -> tuple[Recorder, Limbs, TraceProgram]:
    recorder = Recorder(n, primes, centred)
    outputs = multiplication(recorder)
    (folder / "multiply.fhetch").write_text(recorder.text())
    trace = read_trace(folder / "multiply.fhetch")
    return recorder, outputs, TraceProgram(trace, n, recorder.inputs, outputs)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("on", ["tiny", "coxhe-zcu102-p8", "cofhee"])
def test_a_multiplication_of_openfhe_gives_the_residues_of_the_cpu(centred: bool, on: str, tmp_path: Path) -> None:
    n, primes = 64, _native.ntt_primes(64, 30, 4)
    recorder, outputs, program = recorded(n, primes, tmp_path, centred=centred)
    wanted = np.stack(evaluate(read_trace(tmp_path / "multiply.fhetch"), n, recorder.inputs, outputs))
    assert np.array_equal(program.run(open_device("model", on).native), wanted)


def own_cycles(device: OpenDevice, n: int, primes: Sequence[int]) -> int:
    """Cycles of our own program of the same shape."""
    scale, last, slots = 2.0**34, len(primes) - 2, n // 2
    context = _native.CkksContext(n, primes[:-1], primes[-1:], scale, allow_insecure=True)
    builder = _native.ProgramBuilder("multiply", "", context, "public")
    for name in "ab":
        builder.argument(name, [slots], -1.0, 1.0, np.arange(slots))
    line = builder.line("multiply.py", 1, "a * b")
    for kind, operands, level, of, size in [
        ("input", [], last, scale, 2), ("input", [], last, scale, 2), ("multiply", [0, 1], last, scale**2, 3),
        ("relinearize", [2], last, scale**2, 2), ("rescale", [3], last - 1, scale**2 / primes[-2], 2),
    ]:  # fmt: skip
        builder.step(_native.Step(kind, operands, level, of, size, line=line))
    program = builder.finish(
        [4], [slots], np.arange(slots), bits=0.0, failure_bits=40, tolerance=1.0, publish=False
    )  # fmt: skip
    generator = _native.KeyGenerator(context, seed=bytes(32))
    secret = generator.secret_key()
    encryptor = _native.CkksEncryptor(context, generator.public_key(secret), seed=bytes(32))
    one = encryptor.encrypt(_native.CkksEncoder(context).encode(np.full(slots, 0.5)))
    relin = generator.relin_key(secret)
    session = _native.Session(program, context, relin, None, None, device=device.native, memory=0)
    device.native.take_usage()
    session.run([one, one], [], bytes(32))
    usage = device.native.take_usage()
    assert usage["host_work"] == []
    cycles: int = usage["cycles"]
    return cycles


@pytest.mark.parametrize("centred", [True, False])
def test_its_cycles_are_within_half_more_of_our_own_program(centred: bool, tmp_path: Path) -> None:
    n, device = 8192, open_device("model", "coxhe-zcu102-p8")
    primes = _native.ntt_primes(n, 42, 4)
    own = own_cycles(device, n, primes)
    _, _, program = recorded(n, primes, tmp_path, centred=centred)
    program.run(device.native, alone=True)
    usage = device.native.take_usage()
    print(f"centred {centred}: {usage['cycles']:,} cycles, our own program {own:,}", usage["executed"])
    assert usage["host_work"] == []
    assert usage["cycles"] <= 1.5 * own
