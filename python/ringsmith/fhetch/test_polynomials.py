# SPDX-License-Identifier: Apache-2.0
"""Traces as programs of polynomial operations, here and on devices, against the evaluation of each instruction."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from ringsmith._native import Polynomials, ntt_primes
from ringsmith.cli import application
from ringsmith.errors import InputError, RingsmithError
from ringsmith.fhetch import polynomials
from ringsmith.fhetch.arithmetic import smallest_root
from ringsmith.fhetch.evaluate import evaluate
from ringsmith.fhetch.inputs import find_beside
from ringsmith.fhetch.polynomials import TraceProgram
from ringsmith.fhetch.trace import Trace, read_trace
from ringsmith.runtime.devices import open_device

Inputs = Mapping[int, NDArray[np.uint64]]
ROOT = Path(__file__).parents[3]


def head(primes: Sequence[int]) -> str:
    table = "".join(f"m[{m}] {q:#x}\n" for m, q in enumerate(primes, 1))
    return f"modulus_count {len(primes) + 1}\nm[0] 0xFFFFFFFFFFFFFFFF\n{table}"


def traced(folder: Path, primes: Sequence[int], body: str) -> Trace:
    (folder / "t.fhetch").write_text(f"{head(primes)}{body}\nhalt\n")
    return read_trace(folder / "t.fhetch")


class Random:
    """A random trace: addresses written anew, roots of all kinds, words of other moduli, copies and zeros."""

    def __init__(self, seed: int, n: int, primes: Sequence[int]) -> None:
        self.source, self.n, self.primes = random.Random(seed), n, primes
        self.of = {address: self.modulus() for address in range(6)}
        self.inputs = {a: self.words(primes[m - 1]) for a, m in self.of.items()}
        roots = {m: smallest_root(q, n) for m, q in enumerate(primes, 1)}
        self.usual = {m: pow(root, self.odd(), primes[m - 1]) for m, root in roots.items()}
        self.body = "\n".join(self.line() for _ in range(self.source.randrange(1, 60)))
        picked = [address for address in self.of if self.source.random() < 0.4]
        self.outputs = picked or list(self.of)[-1:]

    def modulus(self) -> int:
        return self.source.randrange(1, len(self.primes) + 1)

    def odd(self) -> int:
        return self.source.randrange(1, 2 * self.n, 2)

    def words(self, q: int) -> NDArray[np.uint64]:
        return np.array([self.source.randrange(q) for _ in range(self.n)], dtype=np.uint64)

    def line(self) -> str:
        a = self.source.choice(list(self.of))
        m, d = self.of[a], self.source.choice([len(self.of), len(self.of), a])
        b = self.source.choice([other for other, own in self.of.items() if own == m])
        to, any_word = self.modulus(), self.source.choice([1, self.source.randrange(2**64)])
        root = self.source.choice([self.usual[m], pow(self.usual[m], self.odd(), self.primes[m - 1])])
        form = self.source.choice(["values", "coefficients"])
        forms = {
            **{f"sr_{name}p %{d}, %{a}, %{b}, m={m}": m for name in ("add", "sub", "mul")},
            **{f"sr_{name}ps %{d}, %{a}, {any_word}, m={m}": m for name in ("add", "sub", "mul")},
            **{f"sr_{name} %{d}, %{a}, m={m}, omega={root}": m for name in ("ntt", "intt")},
            f"sr_negp %{d}, %{a}, m={m}": m,
            f"sr_addps %{d}, %{a}, 0, m=0": m,
            f"sr_mulps %{d}, %{a}, 0, m={to}": to,
            f"sr_mulps %{d}, %{a}, {any_word}, m={to}": to,
            f"sr_automorph_eval %{d}, %{a}, m=0, k={self.odd()}": m,
            f"sr_automorph_coeff %{d}, %{a}, m={m}, k={self.odd()}": m,
            f"sr_rot_automorph_coeff %{d}, %{a}, offset={self.source.randrange(2**64)}, m={m}": m,
            f"sr_permute %{d}, %{a}, m={m}, g={self.odd()}, form={form}": m,
        }
        line = self.source.choice(list(forms))
        self.of[d] = forms[line]
        return line


def check(trace: Trace, n: int, inputs: Inputs, outputs: Sequence[int], device: Any) -> None:
    wanted = np.stack(evaluate(trace, n, inputs, outputs))
    assert np.array_equal(TraceProgram(trace, n, inputs, outputs).run(device), wanted)


@pytest.mark.parametrize(
    ("on", "n", "bits", "seeds"),
    [(None, 8, (20, 30, 60), 150), ("tiny", 8, (20, 30), 40), ("cofhee", 16, (20, 60), 20),
     ("coxhe-zcu102-p8", 32, (20, 30, 42), 40), ("heaws", 16, (30,), 20)],
)  # fmt: skip
def test_random_traces_give_the_residues_of_their_instructions(
    on: str | None, n: int, bits: Sequence[int], seeds: int, tmp_path: Path
) -> None:
    primes = sorted({q for b in bits for q in ntt_primes(n, b, 2)})
    # One device for all: roots of the same moduli differ from trace to trace.
    device = open_device("model", on).native if on else None
    for seed in range(seeds):
        made = Random(seed, n, primes)
        check(traced(tmp_path, primes, made.body), n, made.inputs, made.outputs, device)


def test_a_ring_of_twice_the_degree_is_worked_on_in_halves(tmp_path: Path) -> None:
    n, q = 512, ntt_primes(512, 30, 1)[0]
    body = (
        "sr_ntt %2, %0, m=1\nsr_ntt %3, %1, m=1\nsr_mulp %4, %2, %3, m=1\nsr_addps %5, %4, 7, m=1\nsr_intt %6, %5, m=1"
    )
    inputs = {a: np.arange(n, dtype=np.uint64) * np.uint64(a + 3) for a in (0, 1)}
    check(traced(tmp_path, [q], body), n, inputs, [4, 6], open_device("model", "tiny").native)


@pytest.mark.parametrize("name", ["steps", "exact"])
@pytest.mark.parametrize("on", ["tiny", "cofhee"])
def test_our_records_run_on_devices(name: str, on: str, tmp_path: Path) -> None:
    """A conversion with its quotient is found again: nothing of it is left but the conversion."""
    n = 64
    q, p = (ntt_primes(n, bits, 2) for bits in (28, 30))
    body, numerator = conversion_text(q, p[0], 3 if name == "exact" else None)
    source = np.random.default_rng(1)
    inputs = {k: source.integers(0, one, n, dtype=np.uint64) for k, one in enumerate(q)}
    trace = traced(tmp_path, [*q, p[0]], body)
    outputs = [int(body.splitlines()[-1].split("%")[1].split(",")[0])]
    program = TraceProgram(trace, n, inputs, outputs)
    assert program.kinds() == ["given", "round" if numerator else "convert"]
    check(trace, n, inputs, outputs, open_device("model", on).native)


def conversion_text(q: Sequence[int], p: int, numerator: int | None) -> tuple[str, int | None]:
    """The text of a base conversion, or of a division with rounding, as docs/record.md has it."""
    product = q[0] * q[1]
    hats = [product // one for one in q]
    factors = [(numerator or 1) * pow(hat, -1, one) % one for hat, one in zip(hats, q, strict=True)]
    constants = [hat % p for hat in hats] if numerator is None else [-pow(one, -1, p) % p for one in q]
    last = -product % p if numerator is None else 1
    lines = [f"sr_mulps %{10 + k}, %{k}, {factor}, m={k + 1}" for k, factor in enumerate(factors)]
    lines += ["rs_quotient %12, %10, %11, from=1/2", f"sr_mulps %13, %10, {constants[0]}, m=3"]
    lines += [f"sr_mulps %14, %11, {constants[1]}, m=3", "sr_addp %15, %13, %14, m=3"]
    lines += [f"sr_mulps %16, %12, {last}, m=3", "sr_addp %17, %15, %16, m=3"]
    return "\n".join(lines), numerator


def test_a_recorded_program_runs_on_a_device(tmp_path: Path) -> None:
    kernel = str(ROOT / "examples" / "kernels" / "matmul-plain-1x10.py")
    on = f"record:{tmp_path / 's.txt'}"
    assert CliRunner().invoke(application(), ["run", kernel, "--on", on, "--polynomial"]).exit_code == 0
    trace = read_trace(tmp_path / "s.txt.fhetch")
    beside = find_beside(trace, None)
    check(trace, beside.n, beside.inputs, beside.outputs, open_device("model", "cofhee").native)


@pytest.mark.parametrize(
    ("body", "n", "message"),
    [
        (
            "sr_ntt %1, %0, m=4",
            8,
            "preset tiny does not take the modulus .* of 40 bits, it takes 5 to 32; preset \\S+ does",
        ),
        ("sr_ntt %1, %0, m=2", 1024, "preset tiny does not take n = 1024, it takes 8 to 256; preset "),
        ("sr_mulp %1, %0, %0, m=2\nsr_intt %2, %0, m=2\nsr_mulp %1, %2, %2, m=2", 512, "n = 512"),
        ("sr_negp %1, %0, m=3", 8, "is not prime; --on cpu computes it"),
        ("sr_addp %1, %0, %0, m=2\nsr_addp %1, %1, %1, m=1", 8, "t.fhetch:8: %1 has words that are not below"),
        ("rs_quotient %3, %0, from=2\nsr_mulps %1, %3, 5, m=2", 8, "rs_quotient that belongs to no base conversion"),
        ("sr_addp %1, %0, %9, m=2", 8, "no words for %9"),
    ],
)
def test_what_a_device_does_not_take_is_refused(body: str, n: int, message: str, tmp_path: Path) -> None:
    primes = [*ntt_primes(1024, 20, 1), *ntt_primes(1024, 30, 1), 3 * 2**24 + 15, *ntt_primes(1024, 40, 1)]
    traced(tmp_path, primes, body)
    (tmp_path / "t.json").write_text(json.dumps({"n": n, "inputs": {"0": [1] * n}, "outputs": [1]}))
    done = CliRunner().invoke(application(), ["run", str(tmp_path / "t.fhetch"), "--on", "model:tiny"])
    assert isinstance(done.exception, InputError), done.output
    with pytest.raises(InputError, match=message):
        raise done.exception


def test_roots_modulo_a_product_of_primes_are_refused(tmp_path: Path) -> None:
    """There is more than one cycle of them: a search for the power would not end."""
    p, q, n = *ntt_primes(8, 20, 2), 8
    first, second = smallest_root(p, n), smallest_root(q, n)
    both = [(a * q * pow(q, -1, p) + second * p * pow(p, -1, q)) % (p * q) for a in (first, pow(first, 3, p))]
    body = "\n".join(f"sr_ntt %{k + 1}, %0, m=1, omega={root}" for k, root in enumerate(both))
    with pytest.raises(InputError, match=r"is no power of the root .*; --on cpu computes it"):
        TraceProgram(traced(tmp_path, [p * q], body), n, {0: np.arange(n, dtype=np.uint64)}, [1, 2])


def test_a_trace_of_too_many_instructions_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polynomials, "MOST_INSTRUCTIONS", 1)
    trace = traced(tmp_path, ntt_primes(8, 20, 1), "sr_negp %1, %0, m=1\nsr_negp %2, %1, m=1")
    with pytest.raises(InputError, match="2 instructions, a device takes 1; --on cpu"):
        TraceProgram(trace, 8, {0: np.arange(8, dtype=np.uint64)}, [2])


def test_the_command_line_reports_cycles_and_writes_a_timeline(tmp_path: Path) -> None:
    n, primes = 32, ntt_primes(32, 30, 2)
    traced(tmp_path, primes, "sr_ntt %2, %0, m=1\nsr_ntt %3, %1, m=2\nsr_mulp %2, %2, %2, m=1\nsr_mulp %3, %3, %3, m=2")
    (tmp_path / "t.json").write_text(json.dumps({"n": n, "inputs": {"0": [5] * n, "1": [7] * n}, "outputs": [2, 3]}))
    run, timeline = ["run", str(tmp_path / "t.fhetch"), "--on", "model:tiny"], tmp_path / "t.pftrace"
    done = CliRunner().invoke(application(), [*run, "--json", "--trace", str(timeline)])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["correct"]
    assert report["cycles"] == report["predicted_cycles"] > 0
    assert report["host_work"] == []
    assert timeline.stat().st_size > 100
    here = json.loads(CliRunner().invoke(application(), ["run", str(tmp_path / "t.fhetch"), "--json"]).stdout)
    assert here["residues"] == report["residues"]
    assert "compute unit busy" in CliRunner().invoke(application(), run).stdout
    for wrong in (["--on", "model"], ["--on", "tape:x"], ["--set", "lanes=4"], ["--trace", "x"]):
        assert isinstance(CliRunner().invoke(application(), [*run[:2], *wrong]).exception, InputError)


@pytest.mark.hw
def test_the_rtl_gives_the_same(tmp_path: Path) -> None:
    n, primes = 16, ntt_primes(16, 30, 2)
    made = Random(5, n, primes)
    trace = traced(tmp_path, primes, made.body + "\nsr_ntt %99, %0, m=1\nsr_mulp %99, %99, %99, m=1")
    program = TraceProgram(trace, n, made.inputs, [99])
    devices = [open_device(kind, "tiny") for kind in ("model", "rtl")]
    found = [program.run(device.native) for device in devices]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], np.stack(evaluate(trace, n, made.inputs, [99])))
    assert len({device.native.take_usage()["cycles"] for device in devices}) == 1


def test_a_native_program_checks_its_sources() -> None:
    q = ntt_primes(8, 30, 1)[0]
    program = Polynomials(8, [[(q, 0)]])
    a = program.source("values", [0])
    program.output(program.apply("mul", [[a], [a]]))
    assert program.run([np.full((1, 8), 3, dtype=np.uint64)]).tolist() == [[9] * 8]
    for wrong in ([], [np.full((1, 8), q, dtype=np.uint64)], [np.zeros((2, 8), dtype=np.uint64)]):
        with pytest.raises(RingsmithError):
            program.run(wrong)
