# SPDX-License-Identifier: Apache-2.0
"""Polynomials in the Chebyshev basis: values against numpy, levels, relinearisations, promises in every slot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial

from ringsmith.compiler.lowering.basis import chebyshev_of
from ringsmith.compiler.lowering.lower import lower
from ringsmith.compiler.lowering.test_lowering import apply, clear_run, plain_slots
from ringsmith.compiler.passes.absorb import absorbed
from ringsmith.compiler.scheduling import schedule_ckks
from ringsmith.frontend import functions as rs
from ringsmith.frontend.approximation import Approximation
from ringsmith.frontend.declare import Encrypted
from ringsmith.frontend.trace import trace
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import ordered
from ringsmith.ir.kinds import Kind
from ringsmith.runtime.kernel import kernel

PRIMES = [2**40 + 1] * 12


def circuit_of(function: Any, *, absorb: bool = True, slots: int = 64, **arguments: Encrypted) -> Circuit:
    made = kernel(**dict[str, Any](arguments))(function)
    graph = trace(made, {name: argument.fix(name, None) for name, argument in arguments.items()})
    program = lower(absorbed(graph) if absorb else graph, made.arguments, Slots(1, slots))
    return schedule_ckks.resolve(schedule_ckks.schedule(program), PRIMES, 40)


def depth(circuit: Circuit) -> int:
    return circuit.steps[0].level - min(step.level for step in circuit.steps)


def keeps_promises(circuit: Circuit, arrays: dict[str, Any]) -> int:
    """Hold every promise about all slots against all slots; return how many there are."""
    plains = evaluate(ordered(plain.node for plain in circuit.plains), arrays)
    fresh = iter(
        np.where(row >= 0, arrays[name].reshape(-1)[row], 0)
        for name, packing in circuit.inputs.items()
        for row in packing.gather
    )
    values: list[Any] = []
    found = 0
    for step in circuit.steps:
        own = {number: plain_slots(circuit.plains[number], plains) for number in step.plains}
        args = [values[arg] for arg in step.args]
        values.append(next(fresh) if step.kind is Kind.INPUT else apply(circuit.slots, step, args, own))
        if step.kind is Kind.WITHIN and step.everywhere:
            assert np.abs(values[-1]).max() <= step.bound * (1 + 1e-9)
            found += 1
    return found


def series(degree: int, low: float = -1.0, high: float = 1.0, seed: int = 0) -> Approximation:
    coefficients = np.random.default_rng(seed + degree).uniform(-1, 1, degree + 1)
    return Approximation("p", low, high, tuple(coefficients.tolist()), 0.0)


@pytest.mark.parametrize("degree", [*range(4, 34), 63, 100, 127])
def test_values_and_the_fewest_levels(degree: int) -> None:
    p = series(degree)
    circuit = circuit_of(lambda x: p(x), x=Encrypted(16, bound=1))
    x = np.cos(np.linspace(0, np.pi, 16))
    np.testing.assert_allclose(clear_run(circuit, {"x": x}), Chebyshev(p.coefficients)(x), rtol=0, atol=1e-11)
    assert depth(circuit) == degree.bit_length()
    assert keeps_promises(circuit, {"x": x}) > 1


@pytest.mark.parametrize(("degree", "most"), [(7, 4), (15, 7), (31, 10), (63, 16), (127, 24)])
def test_relinearisations(degree: int, most: int) -> None:
    """As many as Paterson and Stockmeyer's method takes with sums relinearised once; powers took 19 for degree 31."""
    assert circuit_of(lambda x: series(degree)(x), x=Encrypted(64, bound=1)).counts()["key_switch"] <= most


def test_coefficients_that_are_zero_cost_nothing() -> None:
    odd = Approximation("odd", -1, 1, tuple(float(k % 2) for k in range(16)), 0.0)
    full = circuit_of(lambda x: series(15)(x), x=Encrypted(64, bound=1)).counts()
    assert circuit_of(lambda x: odd(x), x=Encrypted(64, bound=1)).counts()["multiply_plain"] < full["multiply_plain"]


@pytest.mark.parametrize("shape", [(3,), (5, 3), (64,), (4, 16), (3, 50)])
@pytest.mark.parametrize("degree", [9, 12])
def test_slots_that_hold_no_element_stay_small(shape: tuple[int, ...], degree: int) -> None:
    """Sums leave parts of sums beside the elements: T_16 of them would overflow and spoil the rest."""
    arrays = {"x": np.random.default_rng(degree).choice([-1.0, 1.0], shape)}
    width = shape[-1]
    p = series(degree, -width, width)
    circuit = circuit_of(lambda x: p(rs.sum(x, axis=-1)), x=Encrypted(*shape, bound=1))
    assert keeps_promises(circuit, arrays) > 1
    expected = Chebyshev(p.coefficients)(arrays["x"].sum(axis=-1) / width)
    np.testing.assert_allclose(clear_run(circuit, arrays), expected, rtol=0, atol=1e-10)


def test_low_powers_are_not_taken_of_sums_beside_the_elements() -> None:
    """A promise about the elements says nothing of other slots, where powers would overflow; T_k are masked."""
    p = series(5)
    circuit = circuit_of(lambda x: p(rs.sum(x, axis=-1)), x=Encrypted(5, 3, bound=1))
    assert keeps_promises(circuit, {"x": np.full((5, 3), 1 / 3)}) > 1


@pytest.mark.parametrize(
    ("low", "high", "levels"),
    [(-1, 1, 4), (-0.25, 0.25, 4), (0, 1, 4), (0.5, 1.5, 4), (0, 4, 5), (-8, 8, 5), (3, 11, 5)],
)
def test_an_integer_scales_for_free(low: float, high: float, levels: int) -> None:
    p = series(12, low, high)
    circuit = circuit_of(lambda x: p(x), x=Encrypted(64, low=low, high=high))
    x = np.linspace(low, high, 64)
    assert depth(circuit) == levels
    expected = Chebyshev(p.coefficients, domain=[low, high])(x)
    np.testing.assert_allclose(clear_run(circuit, {"x": x}), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("most", [0.001, 0.3, 0.9, 1.0, 1.5, 20.0])
@pytest.mark.parametrize("degree", [3, 4, 6, 14])
def test_powers_are_turned_where_that_is_better(most: float, degree: int) -> None:
    c = (np.random.default_rng(degree).uniform(-1, 1, degree + 1) / most ** np.arange(degree + 1)).tolist()
    circuit = circuit_of(lambda x: rs.polynomial(x, c), x=Encrypted(64, bound=most))
    x = np.linspace(-most, most, 64)
    np.testing.assert_allclose(clear_run(circuit, {"x": x}), Polynomial(c)(x), rtol=0, atol=1e-9)


def test_powers_in_the_chebyshev_basis_are_exact() -> None:
    c = np.random.default_rng(0).uniform(-1, 1, 24)
    turned = chebyshev_of(c.tolist(), 3.0)
    np.testing.assert_allclose(turned, np.polynomial.chebyshev.poly2cheb(c * 3.0 ** np.arange(24)), rtol=1e-9)


W = np.random.default_rng(3).uniform(-1, 1, (16, 8))
B = np.random.default_rng(4).uniform(-1, 1, 8)
P = series(12, -17.0, 17.0)
ARGUMENTS = {
    "affine": lambda x: x @ W + B,
    "promised": lambda x: rs.within(x @ W, 16.5),
    "negated view": lambda x: -(x @ W)[::-1],
    "joined": lambda x: rs.concatenate([x @ W, x[:8] * 2.5]),
    "inner polynomial": lambda x: rs.polynomial(x, [1.5, 2.5, 3.5]),
    "product of two": lambda x: (x * 1.5) * x,
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_scaling_is_absorbed(name: str) -> None:
    def function(x: Any) -> Any:
        return P(ARGUMENTS[name](x))

    x = np.random.default_rng(5).uniform(-1, 1, 16)
    plain, saved = (circuit_of(function, absorb=absorb, x=Encrypted(16, bound=1)) for absorb in (False, True))
    expected = Chebyshev(P.coefficients, domain=[-17, 17])(np.asarray(ARGUMENTS[name](x)))
    for circuit in (plain, saved):
        np.testing.assert_allclose(clear_run(circuit, {"x": x}), expected, rtol=0, atol=1e-10)
        keeps_promises(circuit, {"x": x})
    assert depth(saved) == depth(plain) - 1


def test_what_is_used_elsewhere_is_not_scaled_twice() -> None:
    def function(x: Any) -> Any:
        y = x @ W
        return P(y) + y

    alone, both = (circuit_of(function, absorb=absorb, x=Encrypted(16, bound=1)).counts() for absorb in (False, True))
    assert both == alone
