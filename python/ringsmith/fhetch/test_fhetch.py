# SPDX-License-Identifier: Apache-2.0
"""Traces as others record them, against Python integers; what is refused, where it stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith._native import ntt_primes
from ringsmith.cli import application
from ringsmith.errors import InputError
from ringsmith.fhetch import arithmetic
from ringsmith.fhetch.evaluate import evaluate
from ringsmith.fhetch.inputs import checked, drawn, find_beside
from ringsmith.fhetch.trace import read_trace

N = 8
PRIMES = sorted([*ntt_primes(N, 30, 1), *ntt_primes(N, 60, 1), 18446744069414584321])
HEAD = "modulus_count 4\nm[0] 0xFFFFFFFFFFFFFFFF  # none\n" + "".join(
    f"m[{i}] {q:#x}\n" for i, q in enumerate(PRIMES, 1)
)


def roots(q: int) -> list[int]:
    """All primitive 2n-th roots, smallest first."""
    one = next(r for r in (pow(b, (q - 1) // (2 * N), q) for b in range(2, 99)) if pow(r, N, q) == q - 1)
    return sorted(pow(one, k, q) for k in range(1, 2 * N, 2))


def values(a: Sequence[int], root: int, q: int) -> list[int]:
    """a at the odd powers of the root, in bit-reversed order, by the definition."""
    points = [pow(root, 2 * int(format(j, "03b")[::-1], 2) + 1, q) for j in range(N)]
    return [sum(x * pow(point, k, q) for k, x in enumerate(a)) % q for point in points]


def product(a: Sequence[int], b: Sequence[int], q: int) -> list[int]:
    """a b modulo x^n + 1, by the definition."""
    out = [0] * N
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[(i + j) % N] += x * y if i + j < N else -x * y
    return [x % q for x in out]


def computed(folder: Path, body: str, inputs: dict[int, Sequence[int]], outputs: Sequence[int]) -> list[list[int]]:
    (folder / "t.fhetch").write_text(f"{HEAD}\n{body}\nhalt\n")
    given = {str(k): list(map(int, words)) for k, words in inputs.items()}
    (folder / "t.json").write_text(json.dumps({"n": N, "inputs": given, "outputs": list(outputs)}))
    trace = read_trace(folder / "t.fhetch")
    beside = find_beside(trace, None)
    assert not checked(trace, beside)
    return [[int(x) for x in words] for words in evaluate(trace, N, beside.inputs, beside.outputs)]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_product_is_that_of_the_ring_with_every_root(m: int, tmp_path: Path) -> None:
    q, source = PRIMES[m - 1], np.random.default_rng(m)
    a, b = (source.integers(0, q, N, dtype=np.uint64).tolist() for _ in range(2))
    a[0] = b[0] = q - 1
    for root in (roots(q)[0], roots(q)[3], roots(q)[-1]):
        body = (
            f"sr_ntt %7, %0, m={m}, omega={root:#x}\nsr_ntt %8, %1, m={m}, omega={root}\n"
            f"SR_MULP %8, %7, %8, m={m}   # in place\nsr_intt %9, %8, m={m}, omega={root:#X}"
        )
        found, there = computed(tmp_path, body, {0: a, 1: b}, [9, 7])
        assert found == product(a, b, q)
        assert there == values(a, root, q)


def test_a_root_left_out_is_the_smallest(tmp_path: Path) -> None:
    q, a = PRIMES[0], list(range(N))
    [found] = computed(tmp_path, "sr_ntt %1, %0, m=1", {0: a}, [1])
    assert found == values(a, roots(q)[0], q)
    assert arithmetic.smallest_root(q, N) == roots(q)[0]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_each_instruction_is_what_integers_give(m: int, tmp_path: Path) -> None:
    q, source = PRIMES[m - 1], np.random.default_rng(9)
    a, b = ([0, q - 1, *source.integers(0, q, N - 2, dtype=np.uint64).tolist()] for _ in range(2))
    big, c = [2**64 - 1 - k for k in range(N)], 2**64 - 59
    cases: dict[str, list[int]] = {
        "sr_addp %9, %0, %1": [(x + y) % q for x, y in zip(a, b, strict=True)],
        "sr_subp %9, %0, %1": [(x - y) % q for x, y in zip(a, b, strict=True)],
        "sr_mulp %9, %0, %1": [x * y % q for x, y in zip(a, b, strict=True)],
        f"sr_addps %9, %0, {c}": [(x + c) % q for x in a],
        f"sr_subps %9, %0, {c:#x}": [(x - c) % q for x in a],
        f"sr_mulps %9, %2, {c}": [x * c % q for x in big],
        "sr_mulps %9, %9, 0": [0] * N,
        "sr_addps %9, %2, 0": big,
        "sr_negp %9, %0": [-x % q for x in a],
    }
    for line, wanted in cases.items():
        assert computed(tmp_path, f"{line}, m={m}", {0: a, 1: b, 2: big}, [9]) == [wanted], line
    assert computed(tmp_path, "sr_addps %9, %2, 0, m=0", {2: big}, [9]) == [big]


def test_automorphisms_are_those_of_the_ring(tmp_path: Path) -> None:
    q, a = PRIMES[1], [5, 0, PRIMES[1] - 1, 7, 1, 2, 3, 4]
    root = roots(q)[5]
    for k in (3, 5, 2 * N - 1):
        image = [0] * N
        for i, x in enumerate(a):
            image[i * k % (2 * N) % N] = x if i * k % (2 * N) < N else -x % q
        body = (
            f"sr_automorph_coeff %1, %0, k={k}, m=2\nsr_ntt %2, %0, m=2, omega={root}\n"
            f"sr_automorph_eval %3, %2, m=0, mask=7, logn=3, k={k}\nsr_permute %4, %2, m=2, g={k}, form=values\n"
            f"sr_permute %5, %0, m=2, g={k}, form=coefficients"
        )
        found = computed(tmp_path, body, {0: a}, [1, 3, 4, 5])
        assert found == [image, values(image, root, q), values(image, root, q), image]
    [turned] = computed(tmp_path, "sr_rot_automorph_coeff %1, %0, offset=11, m=2", {0: a}, [1])
    assert turned == product(a, [0] * 5 + [1, 0, 0], q)  # x^-11 = x^5 where x^16 = 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sr_addp %1, %0, m=1", "sr_addp %d, %a, %b, m=… is needed"),
        ("sr_addp %1, %0, %0, m=9", "m=9: the table has 4 moduli"),
        ("sr_addp %1, %0, %0, m=0", "without a modulus"),
        ("sr_addp %1, %0, %0, m=1, k=3", "is needed"),
        ("sr_addp %99999999999999999999, %0, %0, m=1", "is no number below 2^64"),
        ("sr_mulps %1, %0, -3, m=1", "is needed"),
        ("sr_ntt %1, %0, m=1, omega=2", "is no primitive root of order 16"),
        ("sr_permute %1, %0, m=1", "g=…, form=… is needed"),
        ("sr_permute %1, %0, m=1, g=2, form=values", "even element 2"),
        ("sr_addp %1, %0, %5, m=1", "no words for %5"),
        ("sr_addp %1, %2, %2, m=1", "only sr_mulps takes such words"),
        ("sr_addp_ni %1, %0, %0", "real numbers"),
        ("mr_ntt %1, %0, m=1", "a flat trace has it written out"),
        ("sr_addps_coeff %1, %0, 3, m=1", "no agreed meaning"),
        ("bogus %1", "no instruction 'bogus'"),
        ("m[9] 0x3", "out of place"),
        ("rs_quotient %1, %0, from=1/2", "rs_quotient of 1 operands from 2 moduli"),
    ],
)
def test_a_wrong_line_is_named(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        computed(tmp_path, line, {0: [1] * N, 2: [2**63] * N}, [1])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    named = f"t.fhetch:{len(HEAD.splitlines()) + 2}:" in str(caught.value)
    assert named or "no words for %5" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no halt"),
        ("modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x11\n", "no halt"),
        ("modulus_count 999999999999\nhalt", "from 1 to 4096"),
        ("modulus_count 2\nm[0] 0x11\nhalt", "stands for no modulus"),
        ("modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x10\nhalt", "an odd number"),
        ("modulus_count 1\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x11\nhalt", "out of place"),
    ],
)
def test_a_wrong_head_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.fhetch").write_text(text)
    with pytest.raises(InputError, match=message):
        read_trace(tmp_path / "t.fhetch")


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ("[" * 100000, "nested too deeply"),
        ("3", "an object is needed"),
        ({"n": 9}, "a power of two"),
        ({"n": 2**40, "inputs": {}}, "a power of two"),
        ({"n": True, "inputs": {}}, "a power of two"),
        ({"n": N, "inputs": {"0": [1]}, "outputs": [1]}, "no list of 8 words"),
        ({"n": N, "inputs": {"0": [1.5] * N}, "outputs": [1]}, "no list of 8 words"),
        ({"n": N, "inputs": {"x": [1] * N}, "outputs": [1]}, "no number of a polynomial"),
        ({"n": N, "inputs": {"0": [1] * N}, "outputs": "1"}, "list of numbers"),
        ({"n": N, "inputs": {"0": [1] * N}, "outputs": [77]}, "output %77 is never written"),
        ({"n": N, "inputs": {"3": [1] * N}, "outputs": [1]}, "no words for %0"),
    ],
)
def test_wrong_inputs_are_named(beside: Any, message: str, tmp_path: Path) -> None:
    file = tmp_path / "t.fhetch"
    file.write_text(f"{HEAD}sr_negp %1, %0, m=1\nhalt\n")
    (tmp_path / "t.json").write_text(beside if isinstance(beside, str) else json.dumps(beside))
    done = CliRunner().invoke(application(), ["run", str(file)])
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)


def test_a_recorders_manifest_gives_the_ring_and_inputs_are_drawn(tmp_path: Path) -> None:
    file = tmp_path / "p.fhetch"
    file.write_text(f"{HEAD}sr_addp %5, %3, %4, m=1\nsr_mulp %6, %5, %5, m=1\nhalt\n")
    context = {"crypto_context": {"ring_dimension": N}, "files": {"outputs": "p.outputs.json"}}
    (tmp_path / "fhetch_replay.json").write_text(json.dumps(context))
    outputs = [{"name": "r", "ciphertext_data": [{"poly_index": 0, "elements": [6]}]}]
    (tmp_path / "p.outputs.json").write_text(json.dumps({"outputs": outputs}))
    trace = read_trace(file)
    beside = find_beside(trace, None)
    assert (beside.n, beside.outputs, beside.inputs) == (N, (6,), {})
    words = drawn(trace, N, {}, 1)
    [found] = evaluate(trace, N, words, beside.outputs)
    assert found.tolist() == [(int(x) + int(y)) ** 2 % PRIMES[0] for x, y in zip(words[3], words[4], strict=True)]


def test_the_command_line_runs_and_shows(tmp_path: Path) -> None:
    computed(tmp_path, "sr_negp %1, %0, m=1", {0: [1] * N}, [1])
    file, out = str(tmp_path / "t.fhetch"), tmp_path / "r.npy"
    done = CliRunner().invoke(application(), ["run", file, "--output", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["of_them"] == {"sr_negp": 1}
    assert np.load(out).tolist() == [[PRIMES[0] - 1] * N]
    shown = CliRunner().invoke(application(), ["show", file])
    assert shown.exit_code == 0
    assert "FHETCH trace" in shown.stdout
    for option in (["--params", "x"], ["--on", "record:x"], ["--allow-insecure"], ["--polynomial"]):
        assert isinstance(CliRunner().invoke(application(), ["run", file, *option]).exception, InputError)
