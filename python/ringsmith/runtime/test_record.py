# SPDX-License-Identifier: Apache-2.0
"""Recorded runs: the files, and a replay of the polynomial operations by an interpreter in Python integers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import ringsmith as rs
from ringsmith.cli import application
from ringsmith.errors import InputError
from ringsmith.fhetch.evaluate import evaluate
from ringsmith.fhetch.inputs import find_beside
from ringsmith.fhetch.trace import read_trace
from ringsmith.runtime.engine import EngineOptions
from ringsmith.runtime.engines import open_engine

Poly = list[int]
KERNEL = Path(__file__).parents[3] / "examples" / "kernels" / "matmul-plain-1x10.py"


@rs.kernel(scheme="bfv", x=rs.Encrypted(4, bound=3), w=rs.Plain(4, bound=3), allow_insecure=True)
def dot(x: Any, w: Any) -> Any:
    """A plain product, a square, and the rotations of a sum."""
    return (x * w).sum() + (x * x).sum()


@rs.kernel(x=rs.Encrypted(4, bound=1.0), w=rs.Plain(4, bound=1.0), tolerance=1e-2)
def score(x: Any, w: Any) -> Any:
    """The same over the reals."""
    return (x @ w) ** 2


def reverse(index: int, bits: int) -> int:
    return int(format(index, f"0{bits}b")[::-1], 2) if bits else 0


def transform(words: Poly, root: int, q: int) -> Poly:
    """Values at the odd powers of the root in bit-reversed order: butterflies as docs/arithmetic.md has them."""
    a, n = words.copy(), len(words)
    bits, m = n.bit_length() - 1, 1
    while m < n:
        h = n // (2 * m)
        for i in range(m):
            w = pow(root, reverse(m + i, bits), q)
            for j in range(2 * h * i, 2 * h * i + h):
                u, v = a[j], a[j + h] * w % q
                a[j], a[j + h] = (u + v) % q, (u - v) % q
        m *= 2
    return a


def inverse(values: Poly, root: int, q: int) -> Poly:
    """The mirror image of `transform`."""
    a, n = values.copy(), len(values)
    bits, m = n.bit_length() - 1, n // 2
    while m:
        h = n // (2 * m)
        for i in range(m):
            w = pow(root, -reverse(m + i, bits), q)
            for j in range(2 * h * i, 2 * h * i + h):
                u, v = a[j], a[j + h]
                a[j], a[j + h] = (u + v) % q, (u - v) * w % q
        m //= 2
    over_n = pow(n, -1, q)
    return [x * over_n % q for x in a]


def permuted(a: Poly, g: int, form: str, q: int) -> Poly:
    n = len(a)
    if form == "coefficients":
        out = [0] * n
        for i, x in enumerate(a):
            k = i * g % (2 * n)
            out[k % n] = x if k < n else -x % q
        return out
    bits = n.bit_length() - 1
    place = {2 * reverse(j, bits) + 1: j for j in range(n)}
    return [a[place[(2 * reverse(j, bits) + 1) * g % (2 * n)]] for j in range(n)]


def quotient(rows: list[Poly], moduli: list[int]) -> Poly:
    fraction = 51 + min(q.bit_length() for q in moduli)
    scale = [((1 << fraction) + q // 2) // q for q in moduli]
    half = 1 << (fraction - 1)
    return [(sum(y * c for y, c in zip(ys, scale, strict=True)) + half) >> fraction for ys in zip(*rows, strict=True)]


def replay(trace: str, start: dict[str, Any]) -> list[Poly]:
    """The results of a recorded program."""
    moduli = {int(m): int(q, 16) for m, q in re.findall(r"^m\[(\d+)\] (0x[0-9A-F]+)$", trace, re.MULTILINE)}
    assert moduli.pop(0) == 2**64 - 1
    assert sorted(moduli.values()) == list(moduli.values())
    held: dict[int, Poly] = {int(k): words for k, words in start["inputs"].items()}
    lines = [line for line in trace.splitlines() if line and line[0] not in "#m"]
    assert lines[-1] == "halt"
    assert len(lines) - 1 == int(re.findall(r"# Instruction Count: (\d+)", trace)[0])
    for line in lines[:-1]:
        mnemonic, rest = line.split(" ", 1)
        fields = rest.split(", ")
        extra = dict(field.split("=") for field in fields if "=" in field)
        result, *names = (int(field[1:]) for field in fields if field[0] == "%")
        operands = [held[name] for name in names]
        assert result not in held
        if mnemonic == "rs_quotient":
            held[result] = quotient(operands, [moduli[int(m)] for m in extra["from"].split("/")])
            continue
        q, a = moduli[int(extra["m"])], operands[0]
        if mnemonic == "sr_ntt":
            held[result] = transform(a, int(extra["omega"], 16), q)
        elif mnemonic == "sr_intt":
            held[result] = inverse(a, int(extra["omega"], 16), q)
        elif mnemonic == "sr_permute":
            held[result] = permuted(a, int(extra["g"]), extra["form"], q)
        elif mnemonic == "sr_negp":
            held[result] = [-x % q for x in a]
        elif mnemonic == "sr_mulps":
            factor = int(fields[2], 16)
            held[result] = [x * factor % q for x in a]
        else:
            pairs = zip(*operands, strict=True)
            operation = {"sr_addp": int.__add__, "sr_subp": int.__sub__, "sr_mulp": int.__mul__}[mnemonic]
            held[result] = [operation(x, y) % q for x, y in pairs]
    return [held[limb] for limb in start["outputs"]]


def residues(data: bytes, primes: list[int], n: int, before: int) -> list[Poly]:
    """The limbs of a ciphertext's polynomials, as docs/format.md packs them; `before` the number of limbs."""
    at = 32 + before
    limbs = int.from_bytes(data[at : at + 4], "little")
    # Limbs and parts: u32 and u32 in BFV, u32 and u8 in CKKS; then the seed flag.
    payload, out = data[at + (9 if before == 16 else 6) : -8], []
    while payload:
        for q in primes[:limbs]:
            size = (n * q.bit_length() + 7) // 8
            packed, payload = int.from_bytes(payload[:size], "little"), payload[size:]
            out.append([packed >> (i * q.bit_length()) & ((1 << q.bit_length()) - 1) for i in range(n)])
    return out


@pytest.mark.parametrize(("kernel", "before"), [(dot, 16), (score, 16 + 8 + 1)])
def test_a_replay_gives_the_residues_of_the_run(kernel: Any, before: int, tmp_path: Path) -> None:
    out = tmp_path / "run.txt"
    engine = open_engine(f"record:{out}", EngineOptions(extra={"polynomial": True}))
    rng = np.random.default_rng(3)
    exact = kernel.scheme == "bfv"
    inputs = {name: rng.integers(-3, 4, 4) if exact else rng.uniform(-1, 1, 4) for name in ("x", "w")}
    program = kernel.compile(**{name: array.shape for name, array in inputs.items()})
    recorded = replace(program, recording=engine.recording)
    client = program.client(b"\7" * 32)
    sent = client.encrypt(x=inputs["x"])
    ours = recorded.server(client.evaluation_keys).evaluate(sent, seed=b"\1" * 32, w=inputs["w"])
    theirs = program.server(client.evaluation_keys).evaluate(sent, seed=b"\1" * 32, w=inputs["w"])
    assert ours.ciphertexts == theirs.ciphertexts
    trace, start = Path(f"{out}.fhetch").read_text(), json.loads(Path(f"{out}.json").read_text())
    primes = list(program.params.moduli)
    wanted = [limb for data in ours.ciphertexts for limb in residues(data, primes, program.params.n, before)]
    assert replay(trace, start) == wanted
    read = read_trace(Path(f"{out}.fhetch"))
    beside = find_beside(read, None)
    assert [words.tolist() for words in evaluate(read, beside.n, beside.inputs, beside.outputs)] == wanted


def test_a_recorded_run_is_checked_and_listed(tmp_path: Path) -> None:
    out = tmp_path / "steps.txt"
    done = CliRunner().invoke(application(), ["run", str(KERNEL), "--on", f"record:{out}", "--seed", "7"])
    assert done.exit_code == 0, done.output
    text = out.read_text()
    assert "level" in text
    assert "scale" in text
    assert [path.name for path in tmp_path.iterdir()] == ["steps.txt"]


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    there = tmp_path / "there.txt"
    there.write_text("mine")
    for place, message in [
        (str(there), "exists; name a new file"),
        (str(tmp_path), "a folder; name a file"),
        (str(tmp_path / "no" / "where"), "no such folder"),
        ("", "record needs a file"),
    ]:
        with pytest.raises(InputError, match=message):
            open_engine(f"record:{place}")
        done = CliRunner().invoke(application(), ["run", str(KERNEL), "--on", f"record:{place}"])
        assert done.exit_code != 0
    beside = Path(f"{tmp_path / 'new.txt'}.json")
    beside.write_text("mine")
    with pytest.raises(InputError, match="exists"):
        open_engine(f"record:{tmp_path / 'new.txt'}", EngineOptions(extra={"polynomial": True}))
    with pytest.raises(InputError, match="takes no --polynomial"):
        open_engine("cpu", EngineOptions(extra={"polynomial": True}))
    with pytest.raises(InputError, match=r"no engine 'tape:x'; there is cpu, .*record:FILE"):
        open_engine("tape:x")
    assert there.read_text() == "mine"
