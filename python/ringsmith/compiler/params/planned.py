# SPDX-License-Identifier: Apache-2.0
"""Sets with a bootstrapping that are planned for a kernel, where no named one does or does as well."""

from __future__ import annotations

import math
from functools import lru_cache

from ringsmith import _native
from ringsmith.compiler.params import bootstrapping, noise
from ringsmith.compiler.params.sets import table_of
from ringsmith.errors import InputError, ParameterError
from ringsmith.frontend.param_request import BootstrapGoal, Bootstrapping, ParamRequest
from ringsmith.scalars import is_int, is_number

# Bits by which refreshes err less than what is missing asks for: the rest of a circuit errs as well.
_SPARE = 0.25
# Beyond this a set misses a circuit by more than any primes are longer.
_MOST_EXCESS = 40.0


def planned(goal: BootstrapGoal, security: int, standard: str) -> ParamRequest:
    """Return the cheapest set with a bootstrapping that reaches a goal; ParameterError for a goal out of range, and for
    one that no set reaches with the wanted security."""
    for name in ("log2_error", "bound", "log2_failure"):
        if not is_number(getattr(goal, name)):
            raise ParameterError(f"BootstrapGoal: {name}={getattr(goal, name)!r}; a finite number is needed")
    for name in ("n", "levels", "most_levels", "weight", "passes"):
        value = getattr(goal, name)
        if not is_int(value) or not 0 <= value < 1 << 31:
            raise ParameterError(f"BootstrapGoal: {name}={value!r}; a whole number below 2^31 is needed")
    if goal.key_bytes is not None and not (is_int(goal.key_bytes) and 0 <= goal.key_bytes < 1 << 63):
        raise ParameterError(f"BootstrapGoal: key_bytes={goal.key_bytes!r}; a number of bytes is needed, or None")
    return _found(goal, security, standard)


@lru_cache(64)
def _found(goal: BootstrapGoal, security: int, standard: str) -> ParamRequest:
    try:
        lengths, made = _native.Bootstrapping.planned(
            n=goal.n, bound=goal.bound, levels=goal.levels, most_levels=max(goal.levels, goal.most_levels),
            log2_error=goal.log2_error, log2_failure=goal.log2_failure, weight=goal.weight, passes=goal.passes,
            security=security, table=table_of(standard),
        )  # fmt: skip
    except InputError as error:
        raise ParameterError(str(error)) from None
    # The compiler finds the bound of what it refreshes.
    own = Bootstrapping(**made.values() | {"bound": None, "key_bytes": goal.key_bytes})
    between = made.output_level - made.input_level
    return ParamRequest(
        n=goal.n, data_bits=tuple(lengths["data_bits"]), special_bits=tuple(lengths["special_bits"]),
        dnum=lengths["dnum"], log2_scale=round(lengths["log2_scale"]), secret=lengths["secret"], bootstrapping=own,
        scheme="ckks", name="planned",
        source=f"planned: refreshes err by 2^{goal.log2_error:.1f} at most on values up to {goal.bound:g}, "
        f"{between} levels lie between two",
    )  # fmt: skip


def goal_after(failure: Exception, failure_bits: int) -> BootstrapGoal | None:
    """Return what a set has to reach where another one missed a circuit; None where a plan is of no use."""
    if isinstance(failure, noise.TooFarError):
        return BootstrapGoal(n=failure.n, log2_error=failure.log2_error, levels=failure.levels)
    if not isinstance(failure, noise.NotExactError) or failure.params is None:
        return None
    own = failure.params.bootstrapping
    if own is None or own.bound is None or not failure.excess < _MOST_EXCESS:
        return None
    added = bootstrapping.native(failure.params).added(failure_bits + 1)
    return BootstrapGoal(
        n=failure.params.n, log2_error=round(math.log2(added) - failure.excess - _SPARE, 2), bound=own.bound,
        log2_failure=min(own.log2_failure, -failure_bits - 12.0),
    )  # fmt: skip
