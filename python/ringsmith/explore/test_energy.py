# SPDX-License-Identifier: Apache-2.0
"""Energy of a run: accesses by closed formulas, cells against what the silicon flow measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ringsmith.errors import InputError
from ringsmith.explore.calibrate import training_preset
from ringsmith.explore.calibrate_energy import Figures, calibrate_energy, measured, training_operations
from ringsmith.explore.energy import (
    FEATURES,
    GROUPS,
    Model,
    Work,
    fit,
    group_of,
    held_out,
    knobs_of,
    memories_uj,
    model,
    non_negative,
    of_point,
    training,
    trust,
)  # fmt: skip
from ringsmith.explore.resources import rtl_hash
from ringsmith.explore.search import energy_of
from ringsmith.hw.silicon.memories import tiled
from ringsmith.presets import Preset

POINTS = training()["points"]
BUILD = {
    "lanes": 3, "butterflies": 4, "word_bits": 36, "n_max": 4096, "dual_port_slots": 6, "single_port_slots": 4,
    "moduli_slots": 2, "moves": 16, "wide_port": True, "cores": 2,
}  # fmt: skip


def executed(mnemonic: str, count: int, slots: int, n: int = 4096) -> dict[str, dict[str, float]]:
    return {mnemonic: {"count": count, "coefficients": count * n, "reads": count * slots * n}}


def test_a_transform_accesses_pairs_of_words_and_a_factor_in_each_step() -> None:
    steps = 5 * 4096 // 2 * 12 // 4
    bank, table = tiled(4 * 36, 512), tiled(4 * 36, 2048)
    by_hand = 3 * steps * (2 * bank.read_pj + 2 * bank.write_pj + table.read_pj) * 1e-6
    assert memories_uj(knobs_of(BUILD), Work.of(executed("ntt", 5, 1), 0)) == pytest.approx(by_hand)
    # An addition behind the last stage reads a polynomial more.
    added = 3 * 5 * 1024 * bank.read_pj * 1e-6
    assert memories_uj(knobs_of(BUILD), Work.of(executed("intt", 5, 2), 0)) == pytest.approx(by_hand + added)


@pytest.mark.parametrize(
    ("mnemonic", "reads", "writes"),
    [("pmodadd", 2, 1), ("pmac", 3, 1), ("cmodmul", 1, 1), ("pmul", 2, 2), ("auto", 1, 1), ("store", 1, 0),
     ("load", 0, 1)],
)  # fmt: skip
def test_other_instructions_access_a_word_of_each_operand(mnemonic: str, reads: int, writes: int) -> None:
    bank = tiled(4 * 36, 512)
    by_hand = 3 * 7 * 1024 * (reads * bank.read_pj + writes * bank.write_pj) * 1e-6
    assert memories_uj(knobs_of(BUILD), Work.of(executed(mnemonic, 7, reads), 0)) == pytest.approx(by_hand)


def test_memories_are_those_of_the_silicon_flow() -> None:
    for point in POINTS:
        assert float(memories_uj(*of_point(point))) == pytest.approx(point["memories"], rel=0.025), point["operation"]


def test_cells_of_training_points_are_those_of_the_silicon_flow() -> None:
    for point in POINTS:
        found = model().of(*of_point(point))
        assert float(found.cells) == pytest.approx(sum(point["groups"].values()), rel=0.2), point
    assert all((coefficients >= 0).all() for coefficients in model().coefficients.values())


def test_held_out_builds_are_estimated_within_a_tenth_on_average() -> None:
    errors = held_out(POINTS)
    assert np.mean(errors.cells) < 0.1, errors.line()
    assert np.mean(errors.total) < 0.1, errors.line()


def test_a_run_without_work_takes_its_clock_alone() -> None:
    idle, knobs = Work.of({}, 1000), knobs_of(BUILD)
    one = model().of(knobs, idle)
    assert float(one.memories) == 0
    assert float(one.cells) > 0
    longer = model().of(knobs, replace(idle, cycles=np.asarray(2000.0)))
    assert float(longer.cells) == pytest.approx(2 * float(one.cells))
    more_cores = model().of(knobs_of(BUILD | {"cores": 4}), idle)
    assert float(more_cores.cells) == pytest.approx(2 * float(one.cells)), "every core has a clock"
    assert float(model().of(knobs, Work.of({"ntt": {"count": 0, "coefficients": 0, "reads": 0}}, 0)).total) == 0


def test_many_builds_at_once_are_each_alone() -> None:
    columns = {name: [value, value] for name, value in BUILD.items()} | {"butterflies": [1, 16], "moves": [0, 16]}
    work = Work.of(executed("intt", 3, 2) | executed("pmac", 4, 3) | executed("decomp", 2, 1), 12345)
    both = model().of(knobs_of(columns), work).total
    for number in (0, 1):
        alone = model().of(knobs_of({name: values[number] for name, values in columns.items()}), work).total
        assert both[number] == pytest.approx(float(alone))


def test_no_coefficient_of_a_fit_is_negative_and_none_could_be_better() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        rows, wanted = rng.random((9, 4)), rng.random(9) - 0.2
        solved = non_negative(rows, wanted)
        slope = rows.T @ (rows @ solved - wanted)
        assert (solved >= 0).all()
        assert (slope > -1e-9).all(), "more of a column would help"
        assert np.abs(slope[solved > 0]).max(initial=0) < 1e-9, "less or more of a column in use would help"
    assert not non_negative(np.zeros((3, 2)), np.ones(3)).any()


def test_a_fit_finds_the_coefficients_that_made_its_points() -> None:
    counts = {group: len(features(*of_point(POINTS[0]))) for group, features in FEATURES.items()}
    made = Model({group: np.array(range(1, 1 + count), dtype=np.float64) for group, count in counts.items()})
    points = [
        point | {"groups": {group: float(uj) for group, uj in made.by_group(*of_point(point)).items()}}
        for point in POINTS
    ]
    for group, coefficients in fit(points).coefficients.items():
        np.testing.assert_allclose(coefficients, made.coefficients[group], rtol=1e-6)


def test_modules_are_in_the_group_of_the_longest_name_that_fits() -> None:
    wanted = {
        "rs_slot_3": "lanes", "rs_slot_ports": "shell", "rs_slot_select_7": "lanes", "rs_mult_chain_2": "butterflies",
        "rs_mul_montgomery": "butterflies", "rs_move_2": "moves", "rs_fifo": "shell", "another": "shell", "": "shell",
    }  # fmt: skip
    assert {name: group_of(name) for name in wanted} == wanted


def test_the_training_points_are_those_that_calibrate_makes() -> None:
    assert [(point["knobs"], point["operation"]) for point in POINTS] == list(training_operations())


def test_a_point_is_what_the_flow_reports() -> None:
    knobs, operation = next(training_operations())
    rows = [{"module": "rs_butterfly", "pj_per_cycle": 3.0}, {"module": "rs_mult_chain", "pj_per_cycle": 2.0},
            {"module": "rs_fifo", "pj_per_cycle": 1.0}]  # fmt: skip
    report = {"modules": rows, "power": {"memories_uj": 7.0}}
    point = measured(lambda *_: Figures(1_000_000, executed("ntt", 1, 1), report), knobs, operation)
    assert point["groups"] == {"butterflies": 5.0, "lanes": 0.0, "moves": 0.0, "shell": 1.0}
    assert point["memories"] == 7.0
    assert list(point["groups"]) == list(GROUPS)


def test_points_are_written_all_or_none(tmp_path: Path) -> None:
    """A run that ends at the third operation leaves the file as it was; one that is whole replaces it."""
    file = tmp_path / "energy.json"
    file.write_text("as before")
    wanted = list(training_operations())

    def measures(last: int) -> Callable[[Preset, str, int], Figures]:
        calls = iter(range(last))
        report = {"modules": [], "power": {"memories_uj": 1.0}}
        return lambda *_: Figures(next(calls), {}, report)

    told: list[str] = []
    with pytest.raises(StopIteration):
        calibrate_energy(file, measures(2), told.append)
    assert len(told) == 3
    assert told[2].startswith(f"operation 3 of {len(wanted)}: ")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["as before"]
    calibrate_energy(file, measures(len(wanted)), told.append)
    assert [path.name for path in tmp_path.iterdir()] == ["energy.json"]
    assert f'"rtl": "{rtl_hash()}"' in file.read_text()
    assert len(file.read_text().splitlines()) == len(wanted) + 2


def test_a_file_that_cannot_be_written_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    with pytest.raises(InputError, match="no such folder"):
        calibrate_energy(tmp_path / "none" / "energy.json", lambda *_: Figures(1, {}, {}), told.append)
    assert not told


def test_the_energy_of_a_preset_is_that_of_its_knobs() -> None:
    point = POINTS[0]
    usage = {"executed": point["executed"], "cycles": point["cycles"]}
    found = energy_of(training_preset(point["knobs"]), usage)
    assert float(found.cells) == pytest.approx(float(model().of(*of_point(point)).cells))


def test_a_change_of_the_rtl_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringsmith.explore.resources.rtl_hash", lambda top: POINTS[0]["rtl"])
    assert "not the energy of the board" in trust()
    assert "has changed" not in trust()
    monkeypatch.setattr("ringsmith.explore.resources.rtl_hash", lambda top: "another")
    assert f"the RTL has changed since {len(POINTS)} of them were mapped" in trust()
