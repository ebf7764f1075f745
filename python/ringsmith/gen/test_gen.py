# SPDX-License-Identifier: Apache-2.0
import shutil
from pathlib import Path

import pytest

from ringsmith.errors import FormatError
from ringsmith.gen import security_rust
from ringsmith.gen.expr import evaluate, parse, to_rust, to_sv
from ringsmith.gen.files import REPO, generated, stale, write_all
from ringsmith.gen.isa import load_isa


def test_nothing_generated_has_drifted() -> None:
    assert stale() == []


def test_drift_is_caught_and_repaired(tmp_path: Path) -> None:
    shutil.copytree(REPO / "spec", tmp_path / "spec")
    assert set(write_all(tmp_path)) == set(generated(tmp_path))
    assert stale(tmp_path) == []
    spec = tmp_path / "spec" / "isa.yaml"
    spec.write_text(spec.read_text().replace("opcode: 9\n", "opcode: 10\n"))
    assert Path("rtl/core/rs_isa_pkg.sv") in stale(tmp_path)
    assert Path("crates/isa/src/spec/opcodes.rs") in stale(tmp_path)
    write_all(tmp_path)
    (tmp_path / "docs" / "isa.md").unlink()
    assert stale(tmp_path) == [Path("docs/isa.md")]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bits: 20", "bits: 19", "do not fill"),
        ("opcode: 9\n", "opcode: 8\n", "unique"),
        ("opcode: 45", "opcode: 64", "out of range"),
        ("unit: control", "unit: magic", "unknown"),
        ("operands: [src_a]", "operands: [src_d]", "names no field"),
        ("optional: [src_c]", "optional: [dst]", "optional"),
    ],
)
def test_a_mistake_in_the_instruction_set_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = (REPO / "spec" / "isa.yaml").read_text()
    assert old in text
    path = tmp_path / "isa.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FormatError, match=words):
        load_isa(path)


def test_expressions_print_and_evaluate() -> None:
    node = parse("max(ceil_div(n, 2 * P), 3) + ceil_log2(W) * 2 if n >= pow2(3) and W != 14 else 7 % 4", "here")
    assert evaluate(node, {"n": 4096, "P": 2, "W": 40}, {}) == 1024 + 12
    assert evaluate(node, {"n": 4, "P": 2, "W": 40}, {}) == 3
    assert to_sv(node).startswith("(((n >= (1 << 3)) && (W != 14)) ? (lat_max(lat_ceil_div(n, (2 * P)), 3)")
    assert "(n).div_ceil((2 * p))" in to_rust(node, {"n": "n", "P": "p", "W": "w"})


@pytest.mark.parametrize("text", ["a +", "[1]", "x ** 2", "'text'"])
def test_other_expressions_are_refused(text: str) -> None:
    with pytest.raises(FormatError):
        to_sv(parse(text, "here"))


def test_security_tables_are_refused_by_the_row(tmp_path: Path) -> None:
    text = (REPO / "spec" / "params" / "security.toml").read_text()
    path = tmp_path / "security.toml"
    for old, new, said in (
        ("[1024, 26, 0, 0]", "[1024, 26, 0]", r"\[1024, 26, 0\], but rows here are 4 whole numbers"),
        ("[2048, 54, 126]", "[2048, -54, 126]", "whole numbers below 2\\^32"),
        ('secret = "gaussian"', 'secret = "binary"', "secret 'binary', but the tables know ternary, gaussian"),
        ("[fixed_weight]", "[fixed]", "fixed_weight is missing"),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(FormatError, match=said):
            security_rust.render(path)
