# SPDX-License-Identifier: Apache-2.0
"""Bootstrapping of a set, as the engine checks it: levels, failure, error, the bound on what is refreshed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import lru_cache

from ringsmith import _native
from ringsmith.compiler.params.ranges import messages
from ringsmith.compiler.params.sets import ParameterSet, named_sets
from ringsmith.compiler.scheduling import prices
from ringsmith.errors import ParameterError
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.ir.circuit import Circuit

# Shares of the largest value that are left for its error, tried one after another: the bound widens the error.
_ROOM = (0.02, 0.15, 0.6)
_STEPS = 64


def native(params: ParameterSet) -> _native.Bootstrapping:
    """Return the engine's bootstrapping of a set; ParameterError for one that does not fit, fails too often or is
    insecure."""
    if params.bootstrapping is None:
        raise ParameterError(
            f"parameter set {params.name} has no bootstrapping; give its ParamRequest "
            "bootstrapping=rs.Bootstrapping(...)"
        )
    return _native_of(params)


@lru_cache(64)
def _native_of(params: ParameterSet) -> _native.Bootstrapping:
    own, judged = params.bootstrapping, params.security
    assert own is not None
    policy = {"security": judged.wanted, "table": judged.table, "allow_insecure": not judged.enough}
    context = _native.CkksContext(
        params.n, list(params.moduli), list(params.special), 2.0**params.log2_scale, dnum=params.dnum,
        secret=params.secret, error=params.error, **policy,  # type: ignore[arg-type]
    )  # fmt: skip
    values = asdict(own) | {"bound": 1.0 if own.bound is None else own.bound}
    return _native.Bootstrapping(context, **values, **policy)  # type: ignore[arg-type]


def in_products(own: _native.Bootstrapping, n: int) -> float:
    """Return the time of a refresh in relinearised products at the level that it leaves, by the measured prices."""
    by = prices.of_ring(n)
    return by.of_refresh(own.effort()["switches"]) / by.of("product", own.output_level + 1)


def bounded(circuit: Circuit, params: ParameterSet) -> Iterator[ParameterSet]:
    """Yield a set whose bootstrapping serves the values that a circuit refreshes, with more and more room for their
    errors."""
    own = params.bootstrapping
    assert own is not None
    if own.bound is not None:
        yield params
        return
    values = messages(circuit, 2.0**params.log2_scale)
    most = max(values[step.args[0]] for step in circuit.steps if step.refreshes)
    if not math.isfinite(most):
        raise ParameterError("the values that are refreshed have no bound; promise a smaller range with rs.within")
    for room in _ROOM:
        bound = (math.floor(max(most, 1 / _STEPS) * (1 + room) * _STEPS) + 1) / _STEPS
        yield replace(params, bootstrapping=replace(own, bound=bound))


def known() -> list[ParamRequest]:
    """Return the named sets with a bootstrapping, smaller degrees first."""
    return sorted((own for own in named_sets().values() if own.bootstrapping), key=lambda own: own.n)
