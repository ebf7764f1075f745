# SPDX-License-Identifier: Apache-2.0
"""Both guarantees hold for random kernels, and the probable one is close."""

from __future__ import annotations

import numpy as np
from guarantees import measured


def test_both_guarantees_hold_and_the_probable_one_is_close() -> None:
    gaps = [gap for gap in map(measured, range(20_000, 20_240)) if gap is not None]
    assert len(gaps) > 200
    below = [gap for gap in gaps if min(gap.certain, gap.probable) < 0]
    assert not below, below
    for scheme in ("ckks", "bfv"):
        own = [gap for gap in gaps if gap.scheme == scheme]
        assert len(own) > 30
        assert np.median([gap.probable for gap in own]) <= 5
        assert np.median([gap.probable for gap in own]) < np.median([gap.certain for gap in own])
