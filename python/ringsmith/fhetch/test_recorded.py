# SPDX-License-Identifier: Apache-2.0
"""Inputs in the binary form of recorders of OpenFHE programs, made of polynomials that OpenFHE wrote."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith.errors import RingsmithError
from ringsmith.fhetch.evaluate import evaluate
from ringsmith.fhetch.inputs import checked, find_beside
from ringsmith.fhetch.trace import read_trace
from ringsmith.interchange.cereal import BinarySource, Target
from ringsmith.interchange.openfhe_schema import FILES, POLYNOMIAL
from ringsmith.interchange.test_openfhe import KNOWN

Polys = list[dict[str, Any]]


def tree_of(name: str, kind: str) -> Any:
    return FILES[kind].read(BinarySource(KNOWN["ckks"][name], "OpenFHE"), "value0")


def limbs(polys: Polys) -> list[Any]:
    return [limb["v"]["v"] for poly in polys for limb in poly["v"]]


def put(path: Path, parts: list[int | Polys], first: int) -> int:
    """Write counts and polynomials, and addresses from `first` on; return the next one."""
    target = Target()
    for part in parts:
        if isinstance(part, int):
            target.number("I", "count", part)
        else:
            for poly in part:
                POLYNOMIAL.write(target, "", poly)
    path.write_bytes(target.finish())
    count = sum(len(limbs(part)) for part in parts if not isinstance(part, int))
    path.with_suffix(".ids").write_bytes(struct.pack(f"<{count + 1}Q", count, *range(first, first + count)))
    return first + count


def payload(path: Path) -> None:
    """Make the second number of a file, which is written as one of 32 bits, one of 8."""
    data = path.read_bytes()
    path.write_bytes(data[:6] + data[9:])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recorded program: the first limb of x times one of the relinearisation key, plus one of the table's."""
    x: Polys = tree_of("x", "ciphertext")["v"]
    (key,) = next(iter(tree_of("relin", "relinearization key").values()))
    after_x = put(tmp_path / "p.input_x.bin", [1, 0, len(x), x], 100)
    payload(tmp_path / "p.input_x.bin")
    keys: list[int | Polys] = [1, len(key["ak"]), key["ak"], len(key["bk"]), key["bk"]]
    after_keys = put(tmp_path / "p.mk.bin", keys, after_x)
    table: list[int | Polys] = [1, *([7] * 20), 1, 1, x[:1], 0, 0, 1, x[1:]]
    put(tmp_path / "p.bp.bin", table, after_keys)
    q = x[0]["v"][0]["v"]["m"]["v"]
    lines = [f"sr_mulp %1, %100, %{after_x}, m=1", f"sr_addp %2, %1, %{after_keys}, m=1", "halt"]
    (tmp_path / "p.fhetch").write_text("\n".join([f"modulus_count 2\nm[0] {2**64 - 1:#x}\nm[1] {q:#x}", *lines]))
    index = [{"name": "x", "bin_file": "p.input_x.bin", "ids_file": "/elsewhere/p.input_x.ids"}]
    (tmp_path / "p.inputs.json").write_text(json.dumps({"inputs": index}))
    files = {"inputs": "p.inputs.json", "evalmult_keys": "p.mk.bin", "evalmult_ids": "p.mk.ids"}
    files |= {"bootstrap_precomp": "p.bp.bin", "bootstrap_precomp_ids": "p.bp.ids"}
    manifest = {"crypto_context": {"ring_dimension": 16}, "files": files}
    (tmp_path / "fhetch_replay.json").write_text(json.dumps(manifest))
    return tmp_path


def run(folder: Path) -> Any:
    """Return the trace's outputs. Raises where it cannot be run with the inputs that are there."""
    trace = read_trace(folder / "p.fhetch")
    beside = find_beside(trace, None)
    assert not checked(trace, beside)
    return evaluate(trace, beside.n, beside.inputs, beside.outputs)


def test_the_words_are_those_of_openfhe(folder: Path) -> None:
    x = tree_of("x", "ciphertext")["v"]
    (key,) = next(iter(tree_of("relin", "relinearization key").values()))
    q = x[0]["v"][0]["v"]["m"]["v"]
    a, b = (limbs(polys)[0] for polys in (x, key["ak"]))
    wanted = [(int(u) * int(v) + int(u)) % q for u, v in zip(a, b, strict=True)]
    (found,) = run(folder)
    assert found.tolist() == wanted


def test_without_the_list_of_inputs_they_are_drawn(folder: Path) -> None:
    (folder / "p.inputs.json").unlink()
    trace = read_trace(folder / "p.fhetch")
    beside = find_beside(trace, None)
    assert len(checked(trace, beside)) == 3


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("p.input_x.bin", lambda data: None, "no such file, and the manifest names it"),
        ("p.input_x.ids", lambda data: data[:-8], "truncated: the addresses"),
        ("p.input_x.ids", lambda data: struct.pack("<Q", 2**60) + data[8:], "truncated: the addresses"),
        ("p.input_x.ids", lambda data: struct.pack("<2Q", 1, 100), "more polynomials than"),
        ("p.mk.ids", lambda data: struct.pack("<Q", len(data) // 8) + data[8:] + bytes(8), "fewer polynomials than"),
        ("p.mk.bin", lambda data: data[:-1], "truncated"),
        ("p.mk.bin", lambda data: data + b"\0", "left over"),
        ("p.mk.bin", lambda data: data[:1] + b"\xff" * 4 + data[5:], "4294967295 keys; at most 65536"),
        ("p.input_x.bin", lambda data: data[:5] + b"\x03" + data[6:], "1 instances of payload 3"),
        ("p.inputs.json", lambda data: b'{"inputs": [{}]}', "an input without bin_file and ids_file"),
        ("p.inputs.json", lambda data: b'{"inputs": 3}', "inputs is a list"),
        ("p.inputs.json", lambda data: b'{"inputs": []}', "no words for %100"),
        ("fhetch_replay.json", lambda data: data.replace(b": 16", b": 32"), "of degree 16, and the ring's is 32"),
    ],
)
def test_damage_is_named(folder: Path, name: str, change: Any, words: str) -> None:
    path = folder / name
    changed = change(path.read_bytes())
    path.unlink()
    if changed is not None:
        path.write_bytes(changed)
    with pytest.raises(RingsmithError, match=words) as refusal:
        run(folder)
    assert "\n" not in str(refusal.value)


def test_large_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGSMITH_MAX_MEMORY", "500")
    with pytest.raises(RingsmithError, match="raise RINGSMITH_MAX_MEMORY"):
        run(folder)


def test_words_are_read_only_views(folder: Path) -> None:
    beside = find_beside(read_trace(folder / "p.fhetch"), None)
    assert {words.dtype for words in beside.inputs.values()} == {np.dtype("<u8")}
