# SPDX-License-Identifier: Apache-2.0
"""The search against running: predicted cycles are those of a run, the pruned front is that of every point."""

from __future__ import annotations

import csv
import importlib.metadata
import io
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import ringsmith as rs
from ringsmith.errors import InputError, ParameterError
from ringsmith.explore import search as searching
from ringsmith.explore.blocks import conversion_dsp, dsp_blocks, memory, memory_blocks, queue_blocks
from ringsmith.explore.calibrate import UNIT_KNOBS, training_knobs, training_preset, unit_knobs
from ringsmith.explore.conftest import Searched
from ringsmith.explore.design import parameters_text, preset_text
from ringsmith.explore.evaluate import Evaluator, Result, predicted
from ringsmith.explore.host import host_ms, operations
from ringsmith.explore.page import page
from ringsmith.explore.parameters import Candidate, candidates
from ringsmith.explore.point import Point, dominates
from ringsmith.explore.report import as_json, nothing_fits, summary, write_csv
from ringsmith.explore.resources import families, group_of, held_out, points, rtl_hash, training, trust, units
from ringsmith.explore.search import Search, packed, point_named
from ringsmith.explore.space import CONVERSIONS, builds, preset_of, values_with
from ringsmith.explore.store import Results
from ringsmith.hw.synth import Design, Family, load_board, synthesise
from ringsmith.presets import Preset
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.runner import run

#: Few values of each knob: 64 builds.
SMALL = ["lanes=2,8", "butterflies=2,8", "dual_port_slots=4,8", "single_port_slots=0", "moduli_slots=1,2", "moves=0,16"]
SMALL += ["wide_port=0,1"]
#: Eight of them.
FEW = [*SMALL, "butterflies=8", "moduli_slots=2", "wide_port=1"]
BOARD = load_board("zcu102")


@pytest.fixture(scope="module")
def small(searched: Searched, tmp_path_factory: pytest.TempPathFactory) -> Search:
    return searched(tmp_path_factory.mktemp("explore") / "results.sqlite", SMALL)


def test_the_cycles_of_a_random_point_of_the_front_are_those_of_a_run(
    energy: Kernel, small: Search, tmp_path: Path
) -> None:
    point = random.choice(small.front)
    preset = tmp_path / "point.toml"
    preset.write_text(preset_text(small.preset(point)))
    text = parameters_text(small.candidates[point.params])
    kernel = energy.options(params=eval(text, {"rs": rs}))
    report = run(kernel, seed="1", engine=f"model:{preset}")
    assert report.correct
    usage = report.engine_facts
    assert point.usage is not None
    assert usage["compute"]["cycles"] == point.usage["compute_cycles"], point.name
    assert usage["send"]["cycles"] == point.usage["send"]["cycles"], point.name
    assert usage["hidden"]["cycles"] == point.usage["hidden_cycles"], point.name
    assert usage["device"]["cycles"] == point.cycles, point.name
    traffic = report.bytes["ciphertexts_in"] + report.bytes["ciphertexts_out"]
    assert 0 <= traffic - small.candidates[point.params].traffic_bytes < 1000, "all but the headers"


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param([*FEW, "wide_port=0,1", "cores=1,2", "rns_rate=0"], id="few"),
        pytest.param([*SMALL, "cores=1,2", "rns_rate=0,4"], id="many", marks=pytest.mark.slow),
    ],
)
def test_the_front_is_that_of_every_point(
    found: list[Any], searched: Searched, tmp_path: Path, settings: list[str]
) -> None:
    ours = searched(tmp_path / "ours.sqlite", settings)
    every: list[Point] = []
    with Evaluator(packed(found), 1) as evaluator:
        anew = Search(ours.board, ours.candidates, (), 0)
        results = Results(tmp_path / "r.sqlite")
        run = searching._Run(anew, results, evaluator, lambda *_: None, 1)
        for point in run.fitting(values_with(settings)):
            preset = preset_of(ours.candidates[point.params], point.hardware, BOARD)
            usage = predicted(point.params, preset)
            if not isinstance(usage, str) and searching._stays(usage) is None:
                params = ours.candidates[point.params].params
                latency = usage["cycles"] / BOARD.clock_mhz / 1e3 + host_ms(usage["host_work"], params)
                host = operations(usage["host_work"])
                energy = searching.energy_of(preset, usage)
                assert 0 < point.energy_bound_uj <= energy.total, point.name
                timed = replace(point, latency_ms=latency, batch_ms=latency, host_operations=host)
                every.append(replace(timed, cells_uj=float(energy.cells), memories_uj=float(energy.memories)))
    results_found = {point.objectives() for point in every}
    best = {one for one in results_found if not any(other != one and dominates(other, one) for other in results_found)}
    assert {point.objectives() for point in ours.front} == best
    assert ours.pruned > 0
    assert len(ours.points) < len(every)


def test_every_point_is_counted_once(small: Search) -> None:
    done = sum(point.status == "done" for point in small.points)
    assert small.total == sum(small.infeasible.values()) + small.pruned + done


def test_an_interrupted_search_goes_on_where_it_was(searched: Searched, small: Search, tmp_path: Path) -> None:
    file, asked = tmp_path / "results.sqlite", [0]

    def counting(limit: int) -> Callable[..., Any]:
        def count(program: str, preset: Preset, runs: int) -> Result:
            if asked[0] == limit:
                raise KeyboardInterrupt
            asked[0] += 1
            return predicted(program, preset, runs)

        return count

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ringsmith.explore.evaluate.predicted", counting(20))
        with pytest.raises(KeyboardInterrupt):
            searched(file, SMALL)
    first = asked[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ringsmith.explore.evaluate.predicted", counting(-1))
        again = searched(file, SMALL)
        after = asked[0]
        searched(file, SMALL)
    assert first == 20
    assert asked[0] == after, "a search that ended has nothing left to compute"
    assert [point.name for point in again.front] == [point.name for point in small.front]


def test_the_result_does_not_depend_on_the_number_of_workers(searched: Searched, small: Search, tmp_path: Path) -> None:
    assert as_json(searched(tmp_path / "two.sqlite", SMALL, jobs=2)) == as_json(small)


def test_dsp_and_memory_blocks_are_those_of_synthesis() -> None:
    for point in training()["points"]:
        preset = training_preset(point["knobs"], point["family"])
        bram36, uram = memory_blocks(preset, uram=False)
        bram36 += queue_blocks(preset)
        assert preset.cores * dsp_blocks(preset) == point["total"]["dsp"], point["knobs"]
        assert (preset.cores * bram36, uram) == (point["total"]["bram36"], 0), point["knobs"]


def test_dsp_blocks_of_a_unit_for_base_conversion_are_those_of_synthesis() -> None:
    assert training()["units"]
    for unit in training()["units"]:
        preset = training_preset({name: unit["knobs"][name] for name in UNIT_KNOBS} | CONVERSIONS, unit["family"])
        assert conversion_dsp(preset) == unit["total"]["dsp"], unit["knobs"]
        assert (unit["total"]["bram36"], unit["total"]["uram"]) == (0, 0)


@pytest.mark.hw
@pytest.mark.parametrize(("width", "depth"), [(60, 4096), (80, 8192), (54, 16384)])
def test_deep_memories_with_one_port_are_ultraram_as_in_synthesis(width: int, depth: int) -> None:
    design = Design(name="memory", top="rs_ram_1rw", parameters={"Width": width, "DepthWords": depth})
    total = synthesise(design, Family.XCUP, uram=True, quiet=True)["total"]
    assert memory(width, depth, False, True) == (total["bram36"], total["uram"])
    assert total["uram"] > 0
    assert memory(width, depth, True, True) == memory(width, depth, False, False), "two ports"


def test_modules_are_in_the_group_of_the_longest_name_that_fits() -> None:
    assert group_of("rs_slot_2") == "lanes"
    assert group_of("rs_slot_ports") == "shell"
    assert group_of("rs_slot_select_3") == "selects"
    assert group_of("rs_dsp48_2") == group_of("rs_msub_tile") == group_of("rs_mult_chain") == "butterflies"
    assert group_of("rs_status") == "shell"


def test_the_training_points_are_those_that_calibrate_makes() -> None:
    for table, wanted in (("points", list(training_knobs())), ("units", list(unit_knobs()))):
        made = [(point["family"], point["knobs"]) for point in training()[table]]
        assert made == wanted, "points are missing: ringsmith explore --calibrate"


def test_a_change_of_the_rtl_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = {"rs_top_axi": points("xcup")[0]["rtl"], "rs_rns": units("xcup")[0]["rtl"]}
    monkeypatch.setattr("ringsmith.explore.resources.rtl_hash", hashes.get)
    assert "has changed" not in trust("xcup")
    monkeypatch.setattr("ringsmith.explore.resources.rtl_hash", {"rs_rns": hashes["rs_rns"]}.get)
    assert f"the RTL has changed since {len(points('xcup'))} of them were synthesised" in trust("xcup")


def test_estimates_do_without_what_makes_the_rtl(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    rtl_hash.cache_clear()
    try:
        assert re.search(r"whether the RTL is still theirs is not known: PeakRDL .*'ringsmith\[hw\]'", trust("xcup"))
    finally:
        rtl_hash.cache_clear()


def test_held_out_points_are_estimated_within_a_tenth_on_average() -> None:
    for family in families():
        errors = held_out(points(family), units(family))
        assert max(errors.mean.values()) < 0.1, errors.line()


def test_what_does_not_fit_keeps_its_reason(searched: Searched, tmp_path: Path) -> None:
    search = searched(tmp_path / "r.sqlite", [*SMALL, "lanes=8", "butterflies=16"], board="zcu104")
    assert not search.front
    assert re.search(
        r"none of [\d,]+ points is feasible on zcu104: .*; the nearest miss is n\d+\S+, \w+: \d+",
        str(nothing_fits(search)),
    )


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite"
    Results(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("pragma user_version = 9")
    with pytest.raises(InputError, match="results of version 9"):
        Results(file)
    (tmp_path / "text.sqlite").write_text("no database at all, but some text" * 9)
    with pytest.raises(InputError, match="not a database"):
        Results(tmp_path / "text.sqlite")


def test_knobs_and_points_that_do_not_exist_are_named(found: list[Any]) -> None:
    with pytest.raises(InputError, match="no knob 'colour'"):
        values_with(["colour=1"])
    with pytest.raises(InputError, match="whole numbers"):
        values_with(["lanes=many"])
    with pytest.raises(InputError, match="no point 'x-y'"):
        point_named("x-y", found, BOARD)
    name = next(one.name for one in found if isinstance(one, Candidate))
    with pytest.raises(InputError, match="no build's name"):
        point_named(f"{name}-l8", found, BOARD)
    with pytest.raises(ParameterError, match="lanes must be"):
        point_named(f"{name}-l99b8s8x0m1v16w", found, BOARD)


def test_a_kernel_too_deep_for_any_degree_is_refused() -> None:
    @rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3)
    def deep(x: Any) -> Any:
        for _ in range(60):
            x = x * x
        return x

    with pytest.raises(ParameterError, match="errors and ranges grow most in line"):
        candidates(deep, {"x": (8,)})


def test_a_set_is_made_again_from_its_name(energy: Kernel, found: list[Any]) -> None:
    # The first is the compiler's own, whose primes are those next to the scale.
    able = [one for one in found if isinstance(one, Candidate)][1:]
    names = [one.name for one in able]
    again = candidates(energy, {"x": (8,)}, names)
    assert [one.params.moduli for one in again if isinstance(one, Candidate)] == [one.params.moduli for one in able]
    for name in ("n8192", "n8192q50p50", "nq50p50d1", "n8192q50-p50d1s40", f"{names[0]}-l8"):
        with pytest.raises(InputError, match="no set's name"):
            candidates(energy, {"x": (8,)}, [name])


def test_the_builds_are_the_product_of_the_values() -> None:
    assert len(set(builds(values_with([*SMALL, "cores=1", "rns_rate=0"])))) == 64


def test_a_csv_file_has_a_line_for_each_evaluated_point(small: Search, tmp_path: Path) -> None:
    write_csv(tmp_path / "points.csv", small)
    lines = (tmp_path / "points.csv").read_text().splitlines()
    assert len(lines) == 1 + len(small.points)
    assert {line.split(",")[0] for line in lines[1:]} == {point.name for point in small.points}


def test_every_report_has_the_energy_and_says_whose_it_is(small: Search, tmp_path: Path) -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(summary(small))
    fastest = small.front[0]
    assert f"{fastest.energy_uj:,.4g} uJ a run in 180 nm cells" in console.export_text()
    whose = "not the energy of the board) against the silicon flow"
    report = as_json(small)
    assert whose in report["energy"]
    assert report["fastest"]["energy_uj"] == fastest.energy_uj
    assert whose in page("energy", small, {})
    write_csv(tmp_path / "points.csv", small)
    lines = csv.DictReader((tmp_path / "points.csv").read_text().splitlines())
    assert {line["name"]: float(line["energy_uj"]) for line in lines if line["energy_uj"]} == {
        point.name: point.energy_uj for point in small.points if point.status == "done"
    }


KERNEL = """import numpy as np
import ringsmith as rs

@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3)
def energy(x):
    return np.sum(x * x)
"""


def test_the_command_line_searches_and_shows_a_point(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    common = [sys.executable, "-m", "ringsmith", "explore", str(file), "--board", "zcu102"]
    vary = [part for setting in FEW for part in ("--vary", setting)]
    search = [*vary, "--jobs", "1", "--results", str(tmp_path / "r.sqlite")]
    found = _told([*common, *search], 0)
    assert "held out" in found
    name = re.findall(r"ms  (\S+)", found)[0]
    shown = _told([*common, "--point", name], 0)
    assert f'name = "{name}"' in shown
    assert "rs.ParamRequest(" in shown
    assert "whole numbers" in _told([*common, "--vary", "lanes=x"], 2)


def _told(command: list[str], status: int) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout or done.stderr
