# SPDX-License-Identifier: Apache-2.0
"""A network on encrypted numbers: encodings, parameter sets, the program, client and server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from smart_grid.gmdh import Network, Node
from smart_grid.nibnaf import Nibnaf, decode

from ringsmith import bfv
from ringsmith._native import Device, Program, ntt_primes
from ringsmith.runtime.polynomials import EncryptedPolynomial

Array = NDArray[np.float64]
Polynomial = NDArray[np.int64]

#: As published: window 950, 515 digits of inputs, 165 + 639 of coefficients.
INPUTS, COEFFICIENTS = Nibnaf(950, 515), Nibnaf(950, 165, 639)
#: Integer digits of a result: as published, for terms below b^385 = 10.5, or for terms below b^900 = 242 that cancel.
CUTS = (385, 900)
PLAIN_MODULUS = 33
#: Readings end at 23, forecasts mean 6: what a decoded forecast may differ by.
TOLERANCE = 0.01


def published_set() -> bfv.Context:
    """HEAWS's own: n = 4096, six primes of 30 bits, sigma = 102, no special prime. 77 bits secure today, not 128.

    Seven further primes of 30 bits are the second basis of products, so that a co-processor's conversions serve it.
    """
    primes = [1068564481, 1069219841, 1070727169, 1071513601, 1072496641, 1073479681]
    further = ntt_primes(4096, 30, 7, exclude=primes)
    return bfv.Context(4096, primes, [], PLAIN_MODULUS, error="gaussian:102", auxiliary=further, allow_insecure=True)


def secure_set(n: int, data_bits: Sequence[int], special_bits: Sequence[int] = ()) -> bfv.Context:
    """Return a set of 128 bits of security by the 2024 guidelines; one that has less is refused."""
    primes: list[int] = []
    for bits in (*data_bits, *special_bits):
        primes += ntt_primes(n, bits, 1, exclude=primes)
    return bfv.Context(n, primes[: len(data_bits)], primes[len(data_bits) :], PLAIN_MODULUS)


#: The published set, and those of 128 bits by degree and primes; `secure` is the fastest of them.
SETS: dict[str, Callable[[], bfv.Context]] = {
    "published": published_set,
    "secure": partial(secure_set, 4096, [21] * 5),
    "secure-3x58": partial(secure_set, 8192, [58] * 2, [58]),
    "secure-4x53": partial(secure_set, 8192, [54, 54, 53], [53]),
    "secure-5x30": partial(secure_set, 8192, [30] * 5),
}


def rounded(coefficients: Array) -> Array:
    """Return what the encodings of coefficients stand for; larger ones than there are digits for become the largest."""
    return COEFFICIENTS.rounded(np.clip(coefficients, -COEFFICIENTS.largest, COEFFICIENTS.largest))


def encoded(network: Network) -> Network:
    """Return the network with the coefficients that their encodings stand for."""
    layers = ((Node(n.first, n.second, rounded(n.coefficients)) for n in layer) for layer in network.layers)
    return Network(tuple(tuple(layer) for layer in layers))


class _Terms:
    """The plaintexts of a node; those that are 0 take no operation."""

    def __init__(self, circuit: bfv.PolynomialCircuit, node: Node, *, zeros: bool) -> None:
        self._circuit, self._zeros = circuit, zeros
        self._coefficients = [COEFFICIENTS.encode(float(a), circuit.context.n) for a in rounded(node.coefficients)]

    def times(self, index: int, x: EncryptedPolynomial) -> EncryptedPolynomial | None:
        """Return a coefficient times x."""
        a = self._coefficients[index]
        return x * self._circuit.plain(a) if a.any() or self._zeros else None

    def plus(self, index: int, x: EncryptedPolynomial) -> EncryptedPolynomial:
        """Return a coefficient and x."""
        a = self._coefficients[index]
        return x + self._circuit.plain(a) if a.any() or self._zeros else x


def _sum(*terms: EncryptedPolynomial | None) -> EncryptedPolynomial | None:
    there = [term for term in terms if term is not None]
    for index, term in enumerate(there[1:]):
        there[index + 1] = there[index] + term
    return there[-1] if there else None


def _published_node(
    circuit: bfv.PolynomialCircuit, node: Node, x: EncryptedPolynomial, y: EncryptedPolynomial
) -> EncryptedPolynomial:
    """Three products of ciphertexts, relinearised, five by a coefficient: as many as the paper counts."""
    terms, relin = _Terms(circuit, node, zeros=True), circuit.relinearize
    products = zip((1, 2, 3, 4, 5), (x, y, relin(x * y), relin(x * x), relin(y * y)), strict=True)
    total = _sum(*(terms.times(index, product) for index, product in products))
    return terms.plus(0, total or x)


def _factored_node(
    circuit: bfv.PolynomialCircuit, node: Node, x: EncryptedPolynomial, y: EncryptedPolynomial
) -> EncryptedPolynomial:
    """x (a1 + a3 y + a4 x) + y (a2 + a5 y) + a0: two products of ciphertexts, and the sum relinearised once."""
    terms = _Terms(circuit, node, zeros=False)
    sides = []
    for other, linear, inner in (
        (x, 1, _sum(terms.times(3, y), terms.times(4, x))),
        (y, 2, terms.times(5, y)),
    ):
        sides.append(terms.times(linear, other) if inner is None else terms.plus(linear, inner) * other)
    total = _sum(*sides)
    if total is None:
        raise ValueError("a node of the network is constant")
    return terms.plus(0, circuit.relinearize(total) if total.size == 3 else total)


CIRCUITS = {"factored": _factored_node, "published": _published_node}


def program(context: bfv.Context, network: Network, circuit: str = "factored") -> Program:
    """Return the program of a forecast; its inputs are the network's, in order."""
    made = bfv.PolynomialCircuit(context, inputs=len(network.inputs), name="forecast")
    values = dict(zip(network.inputs, made.inputs, strict=True))
    for layer in network.layers:
        outputs = [CIRCUITS[circuit](made, node, values[node.first], values[node.second]) for node in layer]
        values = dict(enumerate(outputs))
    return made.program(values[0])


@dataclass(frozen=True)
class Result:
    """A forecast and the polynomial that it was decoded from."""

    forecast: float
    polynomial: Polynomial
    noise_budget: float


class Client:
    """A meter and its owner: encrypts readings, each once, and reads forecasts."""

    def __init__(self, context: bfv.Context, cut: int) -> None:
        """Make keys; results have `cut` integer digits."""
        self._cut = cut
        keys = bfv.KeyGenerator(context)
        self._secret = keys.secret_key()
        self.relin_key = keys.relin_key(self._secret)
        self._context = context
        self._encryptor = bfv.Encryptor(context, keys.public_key(self._secret))
        self._decryptor = bfv.Decryptor(context, self._secret)

    def encrypt(self, values: Sequence[float]) -> list[bfv.Ciphertext]:
        """Encrypt numbers."""
        plain = [bfv.Plaintext.from_coefficients(self._context, encode(value, self._context.n)) for value in values]
        return self._encryptor.encrypt_batch(plain)

    def decrypt(self, ciphertext: bfv.Ciphertext) -> Result:
        """Decrypt and decode a forecast."""
        polynomial: Any = self._decryptor.decrypt(ciphertext).coefficients()
        return Result(decode(INPUTS, polynomial, self._cut), polynomial, self._decryptor.noise_budget(ciphertext))


def encode(value: float, n: int) -> list[int]:
    """Return the coefficients of an input."""
    return INPUTS.encode(value, n).tolist()


def server(
    made: Program, context: bfv.Context, key: bfv.RelinKey, device: Device | None = None
) -> bfv.PolynomialServer:
    """Return a server of forecasts."""
    return bfv.PolynomialServer(made, context, key, device=device)


def clear(network: Network, values: Sequence[float], n: int) -> Polynomial:
    """Return the polynomial modulo (X^n + 1, t), centred, that a network makes of the encodings of its inputs.

    Products are convolutions of values at the odd powers of a 2n-th root of unity, in doubles: sums of n products of
    numbers up to t/2, so exact after rounding.
    """
    twist = np.exp(1j * np.pi * np.arange(n) / n)

    def centred(p: Polynomial) -> Polynomial:
        return (p + PLAIN_MODULUS // 2) % PLAIN_MODULUS - PLAIN_MODULUS // 2

    def product(p: Polynomial, q: Polynomial) -> Polynomial:
        both = np.fft.fft(p * twist) * np.fft.fft(q * twist)
        return centred(np.rint((np.fft.ifft(both) / twist).real).astype(np.int64))

    outputs = dict(zip(network.inputs, [INPUTS.encode(value, n) for value in values], strict=True))
    for layer in network.layers:
        made = []
        for node in layer:
            x, y = outputs[node.first], outputs[node.second]
            a = [COEFFICIENTS.encode(float(one), n) for one in rounded(node.coefficients)]
            by_x, by_y = a[1] + product(a[3], y) + product(a[4], x), a[2] + product(a[5], y)
            made.append(centred(a[0] + product(by_x, x) + product(by_y, y)))
        outputs = dict(enumerate(made))
    return outputs[0]


def survives(network: Network, inputs: Array, n: int, cut: int) -> bool:
    """Whether forecasts of rows decode to what the numbers give: no exponent and no coefficient left its range."""
    wanted = network.predict(INPUTS.rounded(inputs))
    decoded = [decode(INPUTS, clear(network, row, n), cut) for row in inputs[:, network.inputs]]
    return bool(np.abs(np.array(decoded) - wanted).max() < TOLERANCE)
