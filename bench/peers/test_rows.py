# SPDX-License-Identifier: Apache-2.0
"""Which of several rounds counts, and what a second thread brings."""

from run import less_disturbed, taking_turns
from table import second_thread, second_thread_summary


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
    (key, first), *others = taking_turns([*batch(2.0, 3.9), row("ntt-alone", 2, 1.0)]).items()
    assert (key, first) == (("ringsmith", "ntt", 4096, (45,), 2), batch(2.0, 3.9))
    assert [turns for _, turns in others] == [[row("ntt-alone", 2, 1.0)]]
    # The lower median of either thread count would be 3.0 / 2.0.
    assert less_disturbed(batch(2.0, 3.9), batch(3.0, 3.0)) == batch(2.0, 3.9)


def test_a_row_is_right_only_if_every_round_is() -> None:
    assert less_disturbed(batch(2.0, 3.9), batch(3.0, 3.1, correct=False)) == batch(2.0, 3.9, correct=False)


def test_second_thread() -> None:
    slow = [{**row, "n": 8192} for row in batch(2.0, 3.0)]
    turns = second_thread([*batch(2.0, 3.9), *slow, row("ntt", 1, 3.0)])
    assert turns == [("ntt", "8192", "45", "3.0", "2.0", "1.50"), ("ntt", "4096", "45", "3.9", "2.0", "1.95")]
    assert second_thread_summary(turns).endswith("2 batches a factor of 1.73 (median), 1 of them less than 1.8.")
