# SPDX-License-Identifier: Apache-2.0
"""Both guarantees hold for random kernels, and the probable one is close."""

from __future__ import annotations

import numpy as np
from guarantees import Gap, by_operation, measured


def test_both_guarantees_hold_and_the_probable_one_is_close() -> None:
    gaps = [gap for gap in map(measured, range(20_000, 20_240)) if gap is not None]
    assert len(gaps) > 200
    below = [gap for gap in gaps if min(gap.certain, gap.probable) < 0]
    assert not below, below
    for scheme in ("ckks", "bfv"):
        own = [gap for gap in gaps if gap.scheme == scheme]
        assert len(own) > 30
        assert np.median([gap.probable for gap in own]) <= 6
        assert np.median([gap.probable for gap in own]) < np.median([gap.certain for gap in own])


def test_gaps_are_told_by_operation() -> None:
    drawn = [("matrix+sum", 6.0, 4.0), ("matrix", 8.0, 5.0), ("square", 3.0, 2.0), ("matrix+matrix", 9.0, 1.0)]
    gaps = [Gap(seed, "ckks", names, *bits, 0.0) for seed, (names, *bits) in enumerate(drawn)]
    lines = {line[:34].strip(): line[34:].split() for line in by_operation(gaps).splitlines()}
    assert lines["CKKS matrix products"] == ["3.0", "2.0", "7.0", "4.5", "9.0", "1.0", "-"]
    assert lines["CKKS sums over slots, rolls"] == ["8.0", "2.0", "6.0", "4.0", "-", "-"]
    assert lines["BFV  matrix products"] == ["-"] * 4
