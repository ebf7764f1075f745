# SPDX-License-Identifier: Apache-2.0
"""Relative prices of CKKS operations by limbs, and of a refresh: measured once, the same for every machine that
compiles, so that a kernel gives the same program everywhere.

`python bench/level_prices.py --write` measures them for the named sets with a bootstrapping. A set of another ring has
the prices of the nearest one: only what operations of one program cost beside each other counts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ringsmith import shipped
from ringsmith.errors import ParameterError
from ringsmith.scalars import is_int, is_number

#: A relinearised product, a rotation, a product with a plaintext, a rescale from that many limbs, an addition.
KINDS = ("product", "rotation", "plain_product", "rescale", "addition")
_LEAST_ROWS = 2


@dataclass(frozen=True)
class Prices:
    """Prices in a ring: of each of `KINDS` over 1, 2, ... limbs. `refresh`: over that of the rotations which have as
    many limbs as a refresh's key switches."""

    by_kind: Mapping[str, Sequence[float]]
    refresh: float

    def of(self, kind: str, limbs: int) -> float:
        """Return the price of an operation on that many limbs (at least 1); beyond the table it goes on as it ends."""
        own = self.by_kind[kind]
        beyond = limbs - len(own)
        return own[limbs - 1] if beyond <= 0 else own[-1] + beyond * max(own[-1] - own[-2], 0.0)

    def of_refresh(self, switches: Sequence[int]) -> float:
        """Return the price of a refresh whose key switches have these limbs."""
        return self.refresh * sum(self.of("rotation", limbs) for limbs in switches)


def of_ring(n: int) -> Prices:
    """Return the prices of the ring nearest to degree `n`. ParameterError for a damaged table."""
    tables = _tables(shipped.spec() / "params" / "prices.json")
    return tables[min(tables, key=lambda own: (abs(math.log2(own / n)), own))]


@lru_cache(4)
def _tables(path: Path) -> dict[int, Prices]:
    try:
        sets = json.loads(path.read_text("utf-8"))["sets"].values()
        found = {own["n"]: _checked(own) for own in sets}
        if not found or not all(is_int(n) and n > 0 for n in found):
            raise ValueError("no ring")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ParameterError(
            f"{path}: not a table of prices ({error}); bench/level_prices.py makes a new one"
        ) from None
    return found


def _checked(own: Mapping[str, Any]) -> Prices:
    by_kind = {kind: tuple(own[kind]) for kind in KINDS}
    values = [value for prices in by_kind.values() for value in prices] + [own["refresh"]]
    if any(len(prices) < _LEAST_ROWS for prices in by_kind.values()):
        raise ValueError("a row of fewer than two limbs")
    if not all(is_number(value) and 0 <= value < math.inf for value in values):
        raise ValueError("a price is not a number from 0 on")
    return Prices(by_kind, float(own["refresh"]))
