# SPDX-License-Identifier: Apache-2.0
"""Programs on polynomials, held to products of Python's integers, on the processor and on a co-processor."""

from __future__ import annotations

import numpy as np
import pytest

from ringsmith import _native, bfv
from ringsmith.errors import InputError, ParameterError
from ringsmith.runtime.devices import open_device
from ringsmith.runtime.polynomials import PolynomialCircuit, PolynomialServer

N, T = 256, 33
Poly = np.ndarray


def context(t: int = T) -> bfv.Context:
    """HEAWS's shape in a small ring: no special primes, the second basis given."""
    primes = _native.default_moduli([30] * 7, N, N)
    return bfv.Context(N, primes[3:6], [], t, auxiliary=[*primes[:3], primes[6]], allow_insecure=True)


def product(a: Poly, b: Poly) -> Poly:
    """The product modulo (X^n + 1, t), centred, with Python's integers."""
    full = [0] * (2 * N)
    for i, x in enumerate(a.tolist()):
        for j, y in enumerate(b.tolist()):
            full[i + j] += x * y
    return centred([low - high for low, high in zip(full[:N], full[N:], strict=True)])


def centred(values: object) -> Poly:
    return (np.asarray(values) + T // 2) % T - T // 2


def node(circuit: PolynomialCircuit, coefficients: list[Poly]) -> _native.Program:
    """a0 + a1 x + a2 y + a3 x y + a4 x^2 + a5 y^2, one product after another."""
    x, y = circuit.inputs
    a = [circuit.plain(one) for one in coefficients]
    relin = circuit.relinearize
    linear = x * a[1] + y * a[2]
    return circuit.program(linear + relin(x * y) * a[3] + relin(x * x) * a[4] + relin(y * y) * a[5] + a[0], linear)


def drawn() -> tuple[list[Poly], list[Poly]]:
    """Inputs and coefficients: dense ones, a term, and zero."""
    rng = np.random.default_rng(5)
    inputs = [rng.integers(-(T // 2), T // 2 + 1, N) for _ in range(2)]
    coefficients = [rng.integers(-1, 2, N) for _ in range(6)]
    coefficients[3] = np.zeros(N, np.int64)
    coefficients[3][N - 7] = -1
    coefficients[5] = np.zeros(N, np.int64)
    return inputs, coefficients


def expected(x: Poly, y: Poly, a: list[Poly]) -> list[Poly]:
    linear = product(a[1], x) + product(a[2], y)
    squares = product(a[4], product(x, x)) + product(a[5], product(y, y))
    return [centred(a[0] + linear + product(a[3], product(x, y)) + squares), centred(linear)]


@pytest.mark.parametrize("device", [None, "model"])
def test_a_node_is_the_exact_polynomial(device: str | None) -> None:
    made = context()
    keys = bfv.KeyGenerator(made)
    secret = keys.secret_key()
    (x, y), a = drawn()
    program = node(PolynomialCircuit(made, inputs=2), a)
    assert program.guarantee["bits"] > 0
    overrides = {"n_max": N, "lanes": 4}
    opened = open_device(device, "heaws", overrides).native if device else None
    server = PolynomialServer(program, made, keys.relin_key(secret), device=opened)
    encryptor, decryptor = bfv.Encryptor(made, keys.public_key(secret)), bfv.Decryptor(made, secret)
    sent = [encryptor.encrypt(bfv.Plaintext.from_coefficients(made, p.tolist())) for p in (x, y)]
    results = server.evaluate(sent)
    for result, wanted in zip(results, expected(x, y, a), strict=True):
        assert decryptor.noise_budget(result) >= program.guarantee["bits"] - 1
        np.testing.assert_array_equal(decryptor.decrypt(result).coefficients(), wanted)
    clear = program.clear([x, y], [])
    np.testing.assert_array_equal(np.stack(clear), np.stack(expected(x, y, a)))
    if opened is not None:
        assert opened.take_usage()["host_operations"] == 0


@pytest.mark.parametrize("cores", [0, 1, 2])
def test_many_sets_of_inputs_share_the_cores(cores: int) -> None:
    """In order, whatever is worked on at a time; all cycles of all cores are told."""
    made = context()
    keys = bfv.KeyGenerator(made)
    secret = keys.secret_key()
    circuit = PolynomialCircuit(made, inputs=2)
    program = circuit.program(circuit.relinearize(circuit.inputs[0] * circuit.inputs[1]))
    opened = open_device("model", "heaws", {"n_max": N, "lanes": 4, "cores": cores}).native if cores else None
    server = PolynomialServer(program, made, keys.relin_key(secret), device=opened)
    assert (server.batch_size > 1) == (cores > 0)
    encryptor, decryptor = bfv.Encryptor(made, keys.public_key(secret)), bfv.Decryptor(made, secret)
    rng = np.random.default_rng(6)
    many = [rng.integers(-(T // 2), T // 2 + 1, (2, N)) for _ in range(5)]
    sent = ([encryptor.encrypt(bfv.Plaintext.from_coefficients(made, p.tolist())) for p in pair] for pair in many)
    for (x, y), (result,) in zip(many, server.evaluate_many(sent), strict=True):
        np.testing.assert_array_equal(decryptor.decrypt(result).coefficients(), product(x, y))
    if opened is not None:
        shift, used = opened.take_shift(), opened.take_usage()
        assert len(shift["cores"]) == cores
        assert shift["cycles"] <= used["cycles"] <= cores * shift["cycles"]
        assert opened.take_shift()["cycles"] == 0


def test_a_program_survives_its_bytes() -> None:
    (x, y), a = drawn()
    program = node(PolynomialCircuit(context(), inputs=2), a)
    again = _native.Program.from_bytes(program.to_bytes(), allow_insecure=True)
    assert again == program
    np.testing.assert_array_equal(again.clear([x, y], [])[1], expected(x, y, a)[1])


def test_a_term_costs_less_noise_than_a_dense_plaintext() -> None:
    def budget(coefficients: Poly) -> float:
        circuit = PolynomialCircuit(context(), inputs=1)
        return float(circuit.program(circuit.inputs[0] * circuit.plain(coefficients)).guarantee["bits"])

    term = np.zeros(N, np.int64)
    term[9] = -1
    fresh = PolynomialCircuit(context(), inputs=1)
    assert budget(term) == pytest.approx(fresh.program(*fresh.inputs).guarantee["bits"])
    assert budget(np.ones(N, np.int64)) < budget(term) - 3


def test_what_is_no_polynomial_is_refused() -> None:
    circuit = PolynomialCircuit(context(), inputs=1)
    with pytest.raises(InputError, match="coefficient 17 of a plaintext: at most 16"):
        circuit.plain([0, 17])
    with pytest.raises(InputError, match="up to 256 integers are needed"):
        circuit.plain([0.5])
    with pytest.raises(InputError, match="another circuit"):
        circuit.inputs[0] + PolynomialCircuit(context(), inputs=1).inputs[0]
    with pytest.raises(InputError, match="0 inputs"):
        PolynomialCircuit(context(), inputs=0)
    with pytest.raises(ParameterError, match="plaintext modulus 7681 has slots"):
        PolynomialCircuit(context(7681), inputs=1)
