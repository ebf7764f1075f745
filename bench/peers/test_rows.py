# SPDX-License-Identifier: Apache-2.0
"""The round that counts among several, the speed-up by a second thread, and what is shown of them."""

from pathlib import Path

import pytest
from chart import bar_chart
from rounds import Run, go_on, keep_best, less_disturbed
from table import budget_lines, second_thread, second_thread_summary, stored


def row(operation: str, threads: int, median: float, *, correct: bool = True) -> dict:
    """A row of ours."""
    return {
        "library": "ringsmith",
        "operation": operation,
        "n": 4096,
        "moduli_bits": [45],
        "threads": threads,
        "median_us": median,
        "spread": 0.0,
        "correct": correct,
    }


def batch(two: float, one: float, *, correct: bool = True) -> list[dict]:
    """A batch on two threads and on one, in turns."""
    return [row("ntt", 2, two), row("ntt-batch", 1, one, correct=correct)]


def test_rows_that_took_turns_stay_together() -> None:
    best: dict[tuple, list[dict]] = {}
    alone = row("ntt-alone", 2, 1.0)
    keep_best(best, [*batch(2.0, 3.9), alone, row("ntt", 1, 3.0)])
    # The lower median of either thread count would be 3.0 / 2.0.
    keep_best(best, [*batch(3.0, 3.0), alone, row("ntt", 1, 2.5)])
    assert list(best.values()) == [batch(2.0, 3.9), [alone], [row("ntt", 1, 2.5)]]


def test_of_two_splits_in_one_run_the_faster_stands() -> None:
    best: dict[tuple, list[dict]] = {}
    keep_best(best, [*batch(2.0, 3.9), *batch(1.5, 3.0)])
    assert list(best.values()) == [batch(1.5, 3.0)]


def test_a_row_is_right_only_if_every_round_is() -> None:
    assert less_disturbed(batch(2.0, 3.9), batch(3.0, 3.1, correct=False)) == batch(2.0, 3.9, correct=False)


def test_second_thread() -> None:
    slow = [{**row, "n": 8192} for row in batch(2.0, 3.0)]
    turns = second_thread([*batch(2.0, 3.9), *slow, row("ntt", 1, 3.0)])
    assert turns == [("ntt", "8192", "45", "3.0", "2.0", "1.50"), ("ntt", "4096", "45", "3.9", "2.0", "1.95")]
    assert second_thread_summary(turns).endswith("2 batches a factor of 1.73 (median), 1 of them less than 1.8.")


def test_budgets_stand_beside_each_other_where_both_tell_them() -> None:
    ours = {**row("bfv-encrypt", 1, 1.0), "noise_budget_bits": 41.0}
    peer = {**ours, "library": "peer", "noise_budget_bits": 45}
    other = {**row("bfv-multiply", 1, 1.0), "noise_budget_bits": 12.0}
    assert budget_lines([ours, peer, {**row("ntt", 1, 1.0)}, other]) == [("bfv-encrypt", "4096", "45", "41", "peer 45")]


def test_the_store_keeps_ours_beside_the_fastest_peer() -> None:
    peer = {**row("ntt", 1, 6.0), "library": "peer"}
    wrong = {**row("ntt", 1, 0.1, correct=False), "library": "wrong"}
    kept = stored([row("ntt", 1, 3.0), peer, wrong, {**row("intt", 1, 2.0), "library": "peer"}])
    assert [(one.operation, one.ours_us, one.peer, one.peer_us, one.ratio) for one in kept] == [
        ("ntt", 3.0, "peer", 6.0, 2.0)
    ]


def test_held_to_avx2_ours_stands_beside_peers_at_most_as_wide() -> None:
    def named(library: str, median: float) -> dict:
        return {**row("ntt", 1, median), "library": library}

    rows = [named("ringsmith", 1.0), named("hexl", 1.5), named("plain", 6.0), named("rust", 1.25)]
    rows += [named("ringsmith, AVX2", 2.0), named("hexl, AVX2", 3.0), named("rust, AVX2", 4.0)]
    rows += [named("ringsmith, portable", 8.0), named("rust, portable", 2.5)]
    kept = {one.level: (one.ours_us, one.peer, one.ratio) for one in stored(rows)}
    assert kept == {
        "best": (1.0, "rust", 1.25),
        "avx2": (2.0, "rust, portable", 1.25),
        "portable": (8.0, "rust, portable", 0.31),
    }
    # On a processor without AVX-512 the best is AVX2, and no second table says the same.
    assert {one.level for one in stored([row for row in rows if ", AVX2" not in row["library"]])} == {
        "best",
        "portable",
    }


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    path, steps, ran = tmp_path / "run.json", [("ringsmith", 1), ("peer", 1)], []

    def rows_of(number: int, step: tuple[str, int]) -> list[dict]:
        ran.append((number, step[0]))
        if len(ran) == 4:
            raise KeyboardInterrupt
        return [{**row("ntt", 1, 10.0 - len(ran)), "library": step[0]}]

    with pytest.raises(KeyboardInterrupt):
        go_on(Run("here", 2), steps, 2, rows_of, path)
    run = Run.read(path)
    assert run is not None
    go_on(run, steps, 2, rows_of, path)
    assert ran == [(1, "ringsmith"), (1, "peer"), (2, "ringsmith"), (2, "peer"), (2, "peer")]
    assert [one["median_us"] for one in run.rows] == [7.0, 5.0]
    # One that is whole gets as many rounds more; one program may get them alone.
    run = Run.read(path)
    assert run is not None
    go_on(run, steps[1:], 1, rows_of, path)
    assert (run.rounds, ran[-1], len(ran)) == (3, (3, "peer"), 6)
    assert run.missing(steps) == [(3, ("ringsmith", 1))]


def test_what_is_no_run_is_none(tmp_path: Path) -> None:
    assert Run.read(tmp_path / "none.json") is None
    (tmp_path / "old.json").write_text("[]")
    assert Run.read(tmp_path / "old.json") is None


def test_the_chart_says_where_its_times_are_from(tmp_path: Path) -> None:
    bar_chart([{**row("ntt", 1, 38.4), "n": 16384}], "Maker <8> & Co", tmp_path / "chart.svg")
    chart = (tmp_path / "chart.svg").read_text()
    assert "Maker &lt;8&gt; &amp; Co" in chart
    assert "38 µs (1.0×)" in chart
