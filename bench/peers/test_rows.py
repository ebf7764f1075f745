# SPDX-License-Identifier: Apache-2.0
"""The round that counts among several, and the speed-up by a second thread."""

from run import keep_best, less_disturbed
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
