# SPDX-License-Identifier: Apache-2.0
"""The smart grid: training finds what is there; encrypted forecasts are the exact polynomials and the numbers meant."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from smart_grid import data, encrypted, gmdh
from smart_grid.nibnaf import decode

from ringsmith import bfv
from ringsmith._native import default_moduli, ntt_primes
from ringsmith.runtime.devices import open_device

SCRIPT = Path(__file__).parent / "05_smart_grid.py"
T = encrypted.PLAIN_MODULUS


def node(first: int, second: int, *coefficients: float) -> gmdh.Node:
    return gmdh.Node(first, second, np.array(coefficients))


#: Two layers with every kind of term, and coefficients that are encoded as 0.
NETWORK = gmdh.Network(
    (
        (node(47, 50, 0.5, 0.9, -0.1, 0.001, 0.03, -0.05), node(3, 47, -0.25, 0.2, 0.7, 0.04, 0.0, 0.0)),
        (node(0, 1, 0.1, 0.5, 0.5, 0.021, -0.022, 0.0),),
    )
)
READINGS = [4.2, 6.1, 2.5]


def row() -> np.ndarray:
    inputs = np.zeros((1, 51))
    inputs[0, [3, 47, 50]] = READINGS
    return inputs


def exact(network: gmdh.Network, values: list[float], n: int) -> np.ndarray:
    """The forecast's polynomial by products of Python's integers modulo X^n + 1, reduced modulo t at the very end."""

    def product(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
        made: dict[int, int] = {}
        for i, x in a.items():
            for j, y in b.items():
                at, sign = ((i + j) % n, 1 if i + j < n else -1)
                made[at] = made.get(at, 0) + sign * x * y
        return made

    def terms(polynomial: np.ndarray) -> dict[int, int]:
        return {int(i): int(polynomial[i]) for i in np.flatnonzero(polynomial)}

    outputs = dict(zip(network.inputs, [terms(encrypted.INPUTS.encode(v, n)) for v in values], strict=True))
    for layer in network.layers:
        made = []
        for one in layer:
            x, y = outputs[one.first], outputs[one.second]
            total: dict[int, int] = {}
            for a, term in zip(
                one.coefficients, ({0: 1}, x, y, product(x, y), product(x, x), product(y, y)), strict=True
            ):
                for i, c in product(terms(encrypted.COEFFICIENTS.encode(float(a), n)), term).items():
                    total[i] = total.get(i, 0) + c
            made.append(total)
        outputs = dict(enumerate(made))
    dense = np.zeros(n, np.int64)
    for i, c in outputs[0].items():
        dense[i] = (c + T // 2) % T - T // 2
    return dense


def meant() -> float:
    """The forecast in the numbers that encodings stand for."""
    return float(encrypted.encoded(NETWORK).predict(encrypted.INPUTS.rounded(row()))[0])


def small_set() -> bfv.Context:
    return bfv.Context(1024, ntt_primes(1024, 45, 4), [], T, allow_insecure=True)


@pytest.mark.parametrize("circuit", encrypted.CIRCUITS)
def test_encrypted_forecasts_are_the_exact_polynomials(circuit: str) -> None:
    context = small_set()
    made = encrypted.program(context, NETWORK, circuit)
    client = encrypted.Client(context, 385)
    (answer,) = encrypted.server(made, context, client.relin_key).evaluate(client.encrypt(READINGS))
    result = client.decrypt(answer)
    np.testing.assert_array_equal(result.polynomial, exact(NETWORK, READINGS, context.n))
    np.testing.assert_array_equal(encrypted.clear(NETWORK, READINGS, context.n), result.polynomial)


def test_the_published_circuit_has_the_published_operations() -> None:
    ten = gmdh.Network(
        (
            tuple(node(i, 47, *[0.5] * 6) for i in (0, 1, 3, 4)),
            tuple(node(i, i + 1, *[0.5] * 6) for i in range(3)),
            tuple(node(i, i + 1, *[0.5] * 6) for i in range(2)),
            (node(0, 1, *[0.5] * 6),),
        )
    )
    counts = encrypted.program(encrypted.published_set(), ten, "published").counts()
    assert counts["multiply"] + counts["square"] == counts["relinearize"] == 30
    assert counts["multiply_plain"] == 50
    ours = encrypted.program(encrypted.published_set(), ten, "factored").counts()
    assert (ours["multiply"], ours["relinearize"], ours["multiply_plain"]) == (20, 10, 30)


def test_a_polynomial_is_the_number_that_encoded_arithmetic_gives() -> None:
    polynomial = exact(NETWORK, READINGS, 4096)
    assert decode(encrypted.INPUTS, polynomial, 385) == pytest.approx(meant(), abs=1e-6)
    assert encrypted.survives(encrypted.encoded(NETWORK), row(), 4096, 385)
    # Squares of squares: exponents beyond the cut.
    far = gmdh.Network((*NETWORK.layers, *[(node(0, 0, 0, 0, 0, 0, 1, 0),)] * 2))
    assert not encrypted.survives(far, row(), 4096, 385)


@pytest.mark.parametrize("name", [name for name in encrypted.SETS if name.startswith("secure")])
def test_secure_sets_are_secure(name: str) -> None:
    context = encrypted.SETS[name]()
    assert context.security.level is not None
    assert context.security.level >= 128


def test_training_finds_the_nodes_that_are_there() -> None:
    rng = np.random.default_rng(7)
    inputs = rng.uniform(0, 3, (600, 5))
    z = node(1, 4, 0.5, 1.0, -0.5, 0.25, 0.125, 0.75).evaluate(inputs)
    rows = data.Rows(inputs, z)
    network = gmdh.train(rows.part(0, 0.5), rows.part(0.5, 1))
    assert {1, 4} <= set(network.inputs)
    assert gmdh.mse(z, network.predict(inputs)) < 1e-6
    assert [len(layer) for layer in network.layers][-1] == 1
    for layer, following in zip(network.layers, network.layers[1:], strict=False):
        assert sorted({i for one in following for i in (one.first, one.second)}) == list(range(len(layer)))


def test_errors_from_moments_are_those_of_forecasts() -> None:
    rng = np.random.default_rng(8)
    x, y, targets = rng.normal(size=(3, 50))
    moments = gmdh._Moments.of(x, y, targets)
    fits = moments.ridge()
    direct = [gmdh.mse(targets, gmdh.terms(x, y) @ fit) for fit in fits]
    np.testing.assert_allclose(moments.errors(fits), direct, rtol=1e-9)
    assert (moments.ridge(3)[:, 3:] == 0).all()
    best = np.linalg.lstsq(gmdh.terms(x, y), targets, rcond=None)[0]
    np.testing.assert_allclose(fits[0], best, rtol=1e-3)


def test_households_are_as_the_recipe_says() -> None:
    rows = data.households().rows
    assert rows.inputs.shape == (25_680, 51)
    assert rows.targets.min() > 0
    assert rows.targets.mean() == pytest.approx(6, abs=0.05)
    assert np.abs(rows.inputs).max() <= encrypted.INPUTS.largest
    held_out = rows.part(2 / 3, 1)
    assert len(held_out.targets) == 8_560
    assert 20 < gmdh.mape(held_out.targets, held_out.naive) < 24
    np.testing.assert_array_equal(rows.inputs[1:, 47], rows.targets[:-1])


def test_the_example_compares_four_ways(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = import_module("05_smart_grid")
    monkeypatch.setitem(example.SERIES, "households", lambda: data.households(days=16))
    monkeypatch.setitem(encrypted.SETS, "published", small_set)
    example.main(["--forecasts", "2"])
    shown = capsys.readouterr().out
    assert "all 2 encrypted results are the polynomials in the clear" in shown
    for name in ("naive", "linear", "GMDH in the clear", "GMDH in encoded numbers", "GMDH encrypted"):
        assert f"\n{name}" in shown


def test_cores_share_the_forecasts() -> None:
    """Two cores take two forecasts in less than 0.7 of the cycles of one; each is the polynomial in the clear."""
    example = import_module("05_smart_grid")
    primes = default_moduli([30] * 7, 1024, 1024)
    context = bfv.Context(1024, primes[3:6], [], T, auxiliary=[*primes[:3], primes[6]], allow_insecure=True)
    made = encrypted.program(context, NETWORK)
    rows = np.repeat(row(), 4, axis=0)
    cycles = []
    for cores in (1, 2):
        device = open_device("model", "heaws", {"n_max": 1024, "lanes": 4, "cores": cores})
        measured = example.measure(made, context, NETWORK, 385, rows, device)
        assert (measured.cores, measured.at_a_time) == (cores, 4)
        assert len(measured.forecasts) == 4
        cycles.append(measured.cycles)
    assert 0 < cycles[1] < 0.7 * cycles[0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--forecasts", "0"], "--forecasts 0: at least 1"),
        (["--on", "gpu"], "--on gpu: cpu, model:PRESET or rtl:PRESET"),
        (["--data", "mars"], "invalid choice: 'mars'"),
    ],
)
def test_bad_arguments_get_one_line(given: list[str], words: str) -> None:
    done = subprocess.run([sys.executable, SCRIPT, *given], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert words in done.stderr
