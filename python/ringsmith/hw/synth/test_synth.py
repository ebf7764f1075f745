# SPDX-License-Identifier: Apache-2.0
"""Counting, merging, caching and refusing; small designs through the real tools."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith import shipped
from ringsmith.cli import application
from ringsmith.errors import InputError, ParameterError, RingsmithError, ToolError
from ringsmith.hw.synth import Design, Family, load_board, synthesise
from ringsmith.hw.synth.boards import board_names
from ringsmith.hw.synth.cells import Resources, count
from ringsmith.hw.synth.job import run_yosys, tally
from ringsmith.hw.synth.liberty import cell_area, check_liberty
from ringsmith.hw.synth.place import Placer, median_of, place
from ringsmith.hw.synth.rtlil import merge_equal_modules
from ringsmith.hw.synth.store import Store
from ringsmith.hw.synth.targets import PARTS, design_of
from ringsmith.hw.verilator import elaboration_error
from ringsmith.presets import load_preset

FIFO = Design(name="fifo", top="rs_fifo", parameters={"Width": 32, "Depth": 16})
LIBERTY = """
library (toy) {
  area_unit : "1um2";
  cell (INV) { area : 2; pin (A) { direction : input; } pin (Y) { direction : output; function : "A'"; } }
  cell (NAND2) { area : 3; pin (A) { direction : input; } pin (B) { direction : input; }
    pin (Y) { direction : output; function : "(A B)'"; } }
  cell (NOR2) { area : 3; pin (A) { direction : input; } pin (B) { direction : input; }
    pin (Y) { direction : output; function : "(A+B)'"; } }
  cell (BUF) { area : 2; pin (A) { direction : input; } pin (Y) { direction : output; function : "A"; } }
  cell (DFF) { area : 10; ff (IQ, IQN) { clocked_on : "C"; next_state : "D"; }
    pin (C) { direction : input; clock : true; } pin (D) { direction : input; }
    pin (Q) { direction : output; function : "IQ"; } }
  cell (DFFR) { area : 12; ff (IQ, IQN) { clocked_on : "C"; next_state : "D"; clear : "R'"; }
    pin (C) { direction : input; clock : true; } pin (D) { direction : input; } pin (R) { direction : input; }
    pin (Q) { direction : output; function : "IQ"; } }
}
"""


def test_cells_are_counted_by_what_they_occupy() -> None:
    cells = {
        "LUT6": 3,
        "SRL16E": 1,
        "RAM32M": 2,
        "FDRE": 5,
        "DSP48E2": 1,
        "RAMB18E2": 3,
        "URAM288": 2,
        "CARRY4": 9,
        "sub": 4,
    }
    resources, others = count(cells)
    assert resources == Resources(lut=12, ff=5, dsp=1, bram36=1.5, uram=2)
    assert others == ["sub"]


def test_tally_multiplies_by_instances() -> None:
    statistics = {
        "modules": {
            "\\top": {"num_cells_by_type": {"LUT2": 1, "\\leaf": 3}},
            "\\leaf": {"num_cells_by_type": {"LUT6": 2, "FDRE": 1}},
            "\\unused": {"num_cells_by_type": {"LUT6": 100}},
        }
    }
    result = tally(statistics, "top")
    assert result["total"] == {"lut": 7, "ff": 3, "dsp": 0, "bram36": 0, "uram": 0}
    assert {row["module"]: row["instances"] for row in result["modules"]} == {"top": 1, "leaf": 3}


def test_unmapped_cells_are_refused() -> None:
    with pytest.raises(InputError, match="has no primitive"):
        tally({"modules": {"top": {"num_cells_by_type": {"\\MYSTERY": 1}}}}, "top")


def test_equal_modules_become_one_and_different_ones_stay() -> None:
    leaf = "module \\leaf$top.{0}\n  wire $w{0}\n  cell $not $c{0}\n    connect \\Y $w{0}\n  end\nend\n"
    other = "module \\leaf$top.c\n  wire $w\n  cell $and $c\n    connect \\Y $w\n  end\nend\n"
    cells = "".join(f"  cell \\leaf$top.{name} \\{name}\n  end\n" for name in "abc")
    text = f"module \\top\n{cells}end\n"
    merged = merge_equal_modules(text + leaf.format("a") + leaf.format("b") + other, "top")
    assert merged.count("module ") == 3
    assert merged.count("cell \\leaf \\") == 2
    assert merged.count("cell \\leaf_2 \\c") == 1
    with pytest.raises(ToolError, match="no module absent"):
        merge_equal_modules(text, "absent")


def test_only_whole_results_are_stored(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.sqlite")

    def fails() -> dict[str, int]:
        raise ToolError("killed half-way")

    with pytest.raises(ToolError):
        store.get_or_make("key", "what", fails)
    assert store.get("key") is None
    assert store.get_or_make("key", "what", lambda: {"lut": 1}) == {"lut": 1}
    assert store.get_or_make("key", "what", fails) == {"lut": 1}
    rows = sqlite3.connect(tmp_path / "results.sqlite").execute("select count(*) from result").fetchone()
    assert rows == (1,)


def test_boards_are_complete_and_say_what_does_not_fit() -> None:
    assert {"zcu102", "zcu104", "vu9p-f1", "zynq-7020", "ecp5-85k"} <= set(board_names())
    board = load_board("zynq-7020")
    assert board.overflow(Resources(lut=53200)) is None
    assert "needs 250 dsp, zynq-7020 has 220: 30 too many" in (board.overflow(Resources(dsp=250)) or "")
    both = board.overflow(Resources(dsp=221, bram36=140.5)) or ""
    assert both.split("; ") == [
        "needs 221 dsp, zynq-7020 has 220: 1 too many",
        "needs 140.5 bram36, zynq-7020 has 140: 0.5 too many",
    ]
    with pytest.raises(InputError, match="no board 'zcu999'"):
        load_board("zcu999")


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("nothing", [], "nothing to synthesise"),
        ("butterfly", ["colour=1"], "no key 'colour'"),
        ("butterfly", ["word_bits=wide"], "whole number"),
        ("butterfly", ["reduction=none"], "barrett or montgomery"),
        ("cofhee", ["butterflies=3"], "butterflies must be"),
    ],
)
def test_impossible_designs_are_refused(name: str, settings: list[str], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        design_of(name, settings)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["butterfly", "--family", "asic"], "no such family"),
        (["butterfly", "--place"], "no open place and route"),
        (["butterfly", "--seeds", "3"], "goes with --place"),
        (["butterfly", "--family", "ecp5", "--placer", "static"], "goes with --place"),
        (["butterfly", "--family", "ecp5", "--place", "--seeds", "2"], "an odd number"),
        (["butterfly", "--family", "ecp5", "--board", "zcu102"], "contradicts --board"),
        (["butterfly", "--liberty", str(shipped.root() / "pyproject.toml")], "not a liberty file"),
        (["butterfly", "--liberty", "/nonexistent.lib"], "no such file"),
    ],
)
def test_the_command_line_refuses(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(application(), ["synth", *arguments])
    assert isinstance(result.exception, RingsmithError)
    assert words in str(result.exception)


def test_a_liberty_file_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "cells.lib"
    path.write_bytes(b"\xff\xfe\x00binary")
    with pytest.raises(InputError, match="UTF-8"):
        check_liberty(path)
    path.write_text(LIBERTY)
    check_liberty(path)


@pytest.mark.hw
def test_a_failed_synthesis_says_why(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no_such_command"):
        run_yosys(["no_such_command"], "nonsense", tmp_path / "result", quiet=True)


@pytest.mark.hw
@pytest.mark.parametrize(
    "families", [[Family.ECP5], pytest.param(list(Family), marks=pytest.mark.slow)], ids=["one", "all"]
)
def test_a_fifo_through_all_flows(tmp_path: Path, families: list[Family]) -> None:
    store = Store(tmp_path / "results.sqlite")
    for family in families:
        total = synthesise(FIFO, family, store=store, quiet=True)["total"]
        assert total["lut"] > 0
        assert total["ff"] > 0
    placed = place(FIFO, store=store, quiet=True)
    assert placed["placer"] == Placer.HEAP
    assert placed["fmax_mhz"] > 50
    logic, wires = (float(placed["critical"].split(part)[0].split()[-1]) for part in (" ns in", " ns of"))
    assert logic + wires == pytest.approx(1000 / placed["fmax_mhz"], rel=0.1)
    assert placed["chained_pins"] == 0
    library = tmp_path / "cells.lib"
    library.write_text(LIBERTY)
    assert cell_area(FIFO, library, store=store, quiet=True)["area"] > 100


@pytest.mark.hw
@pytest.mark.slow
def test_of_several_seeds_the_median_is_given(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.sqlite")
    placed = median_of(FIFO, (1, 2, 3), store=store, quiet=True)
    assert sorted(placed["seeds"].values())[1] == placed["fmax_mhz"] > 50
    assert placed == median_of(FIFO, (1, 2, 3), store=store, quiet=True)
    assert placed["seeds"]["1"] == place(FIFO, store=store, quiet=True)["fmax_mhz"]


@pytest.mark.hw
@pytest.mark.slow
def test_pins_beyond_those_of_a_package_become_registers(tmp_path: Path) -> None:
    wide = Design(name="wide", top="rs_fifo", parameters={"Width": 200, "Depth": 4})
    store = Store(tmp_path / "results.sqlite")
    # The other placer is the FIFO's above.
    found = place(wide, placer=Placer.STATIC, store=store, quiet=True)
    assert found["placer"] == Placer.STATIC
    assert found["chained_pins"] > 2 * 200
    assert found["fmax_mhz"] > 50


@pytest.mark.hw
def test_a_butterfly_uses_dsps_within_its_targets() -> None:
    """With the operands of its adders in an order of chance it takes 711 LUTs."""
    total = json.loads(CliRunner().invoke(application(), ["synth", "butterfly", "--json"]).stdout)["total"]
    assert total["lut"] <= 640
    assert 0 < total["dsp"] <= 7


SLOW = pytest.mark.slow


@pytest.mark.hw
@pytest.mark.parametrize(
    ("name", "settings", "uram"),
    [
        pytest.param("tiny", {"n_max": "1024", "lanes": "1", "butterflies": "1", "word_bits": "16"}, False, marks=SLOW),
        pytest.param("tiny", {"n_max": "1024"}, False, marks=SLOW),
        pytest.param("bfv-client", {}, False, marks=SLOW),
        pytest.param("cofhee", {}, False, marks=SLOW),
        pytest.param("cofhee", {}, True, marks=SLOW),
    ],
)
def test_memories_land_in_block_ram_and_multipliers_in_dsps(name: str, settings: dict[str, str], uram: bool) -> None:
    """Slots and twiddle tables bit for bit in block memory; of each butterfly, one multiplier of its width or more."""
    preset = load_preset(name, settings)
    design = design_of(name, [f"{key}={value}" for key, value in settings.items()])
    total = synthesise(design, Family.XCUP, uram=uram, quiet=True)["total"]
    memories = preset.slots + preset.twiddle_tables
    bits = preset.lanes * memories * preset.n_max * preset.word_bits
    assert total["bram36"] * 36 * 1024 + total["uram"] * 288 * 1024 >= bits
    assert (total["uram"] > 0) == uram
    tiles = -(-preset.word_bits // 26) * -(-preset.word_bits // 17)
    assert total["dsp"] >= preset.lanes * preset.butterflies * 2 * tiles
    assert total["ff"] < bits / 8


@pytest.mark.hw
@pytest.mark.parametrize(("memory", "uram"), [("rs_ram_1r1w", False), ("rs_ram_1rw", True)])
def test_the_memories_of_slots_and_tables_land_in_block_ram(memory: str, uram: bool) -> None:
    """These two are all memories of residues in a core; its multipliers are in the test of a butterfly above."""
    width, depth = 64, 8192
    design = Design(name=memory, top=memory, parameters={"Width": width, "DepthWords": depth})
    total = synthesise(design, Family.XCUP, uram=uram, quiet=True)["total"]
    assert total["bram36"] * 36 * 1024 + total["uram"] * 288 * 1024 >= width * depth
    assert (total["uram"] > 0) == uram
    assert total["ff"] <= 4 * width


@pytest.mark.hw
def test_multipliers_of_an_eight_point_transform_land_in_dsps() -> None:
    design = design_of("zynq-pn1", ["word_bits=16", "modulus_bits_min=12"])
    rows = synthesise(design, Family.ECP5, quiet=True)["modules"]
    tiles = [row for row in rows if str(row["module"]).startswith("rs_mult_tile")]
    assert sum(row["instances"] * row["dsp"] for row in tiles) == sum(row["instances"] for row in tiles) == 48


@pytest.mark.hw
@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_a_build_as_it_stands(part: str) -> None:
    design = design_of(part, [])
    assert elaboration_error(design.top, design.parameters) is None


@pytest.mark.hw
def test_a_part_of_too_few_slots_is_refused_by_its_rtl() -> None:
    design = design_of("core", ["slots=2"])
    assert "Slots (slots) must be 3..32" in str(elaboration_error(design.top, design.parameters))
