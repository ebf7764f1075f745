# SPDX-License-Identifier: Apache-2.0
"""CKKS encryption in the ring of degree 8, its transforms on an accelerator: the study's experiment.

INSECURE by its size, whatever the modulus: four slots, a lattice of dimension 8. It shows how host and fabric share the
work; `ringsmith.ckks` is the scheme to use. One prime, no evaluation: encode, encrypt, decrypt, decode.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, ParameterError
from ringsmith.ntt8.ring import N, Ring

Transforms = Callable[[Sequence[Sequence[int]]], list[list[int]]]
SLOTS = N // 2
ETA = 21  # of the centred binomial error: sigma 3.24


def roots() -> NDArray[np.complex128]:
    """The embedding's points, one of each conjugate pair: exp(i pi 5^j / 8)."""
    exponents = np.array([pow(5, j, 2 * N) for j in range(SLOTS)])
    return np.asarray(np.exp(1j * np.pi * exponents / N), dtype=np.complex128)


def encode(values: Sequence[complex], scale: float, modulus: int) -> list[int]:
    """Integer polynomial whose values at the roots are `scale * values`, as residues.

    Raises:
        InputError: not four finite values, or too large for the modulus.
    """
    slots = np.asarray(values, dtype=np.complex128)
    if slots.shape != (SLOTS,) or not np.isfinite(slots).all():
        raise InputError(f"the ring of degree {N} takes {SLOTS} finite values, got {list(values)}")
    powers = roots()[:, None] ** np.arange(N)
    coefficients = 2 / N * (powers.conj().T @ slots).real * scale
    largest = float(np.abs(coefficients).max())
    if largest >= modulus / 4:
        raise InputError(f"values of up to {np.abs(slots).max():g} at scale {scale:g} overflow the modulus {modulus}")
    return [int(c) % modulus for c in np.rint(coefficients)]


def decode(residues: Sequence[int], scale: float, modulus: int) -> NDArray[np.complex128]:
    """The slots of a decrypted polynomial."""
    centred = np.array([r - modulus if r > modulus // 2 else r for r in residues], dtype=np.float64)
    return np.asarray((roots()[:, None] ** np.arange(N)) @ centred / scale, dtype=np.complex128)


@dataclass(frozen=True)
class Keys:
    """Secret and public key, in evaluation form."""

    secret: tuple[int, ...]
    public: tuple[tuple[int, ...], tuple[int, ...]]


class Client:
    """A client whose transforms are done by `forward` and `inverse`; the rest is this host's."""

    def __init__(
        self,
        ring: Ring,
        *,
        scale: float,
        seed: int,
        forward: Transforms,
        inverse: Transforms,
        allow_insecure: bool = False,
    ) -> None:
        """Take the ring and the two transforms; ParameterError unless `allow_insecure` says that this is a toy."""
        if not allow_insecure:
            raise ParameterError(f"a ring of degree {N} has no security: pass allow_insecure=True to run it as a toy")
        self.ring, self.scale = ring, scale
        self._forward, self._inverse = forward, inverse
        self._random = random.Random(seed)

    def keygen(self) -> Keys:
        """A ternary secret s and the public key (-(a s + e), a)."""
        m = self.ring.modulus
        secret, error = self._forward([self._ternary(), self._error()])
        a = [self._random.randrange(m) for _ in range(N)]
        b = [-(x * s + e) % m for x, s, e in zip(a, secret, error, strict=True)]
        return Keys(tuple(secret), (tuple(b), tuple(a)))

    def encrypt(self, values: Sequence[complex], keys: Keys) -> tuple[list[int], list[int]]:
        """(b u + e0 + m, a u + e1) in evaluation form: three transforms, the rest pointwise."""
        m = self.ring.modulus
        message = encode(values, self.scale, m)
        first = [(x + e) % m for x, e in zip(message, self._error(), strict=True)]
        u, with_message, e1 = self._forward([self._ternary(), first, self._error()])
        c0 = [(b * x + y) % m for b, x, y in zip(keys.public[0], u, with_message, strict=True)]
        c1 = [(a * x + y) % m for a, x, y in zip(keys.public[1], u, e1, strict=True)]
        return c0, c1

    def decrypt(self, ciphertext: tuple[Sequence[int], Sequence[int]], keys: Keys) -> NDArray[np.complex128]:
        """Slots of c0 + c1 s: one inverse transform."""
        m = self.ring.modulus
        phase = [(c0 + c1 * s) % m for c0, c1, s in zip(*ciphertext, keys.secret, strict=True)]
        return decode(self._inverse([phase])[0], self.scale, m)

    def _ternary(self) -> list[int]:
        return [self._random.choice((-1, 0, 1)) % self.ring.modulus for _ in range(N)]

    def _error(self) -> list[int]:
        draws = (
            self._random.getrandbits(ETA).bit_count() - self._random.getrandbits(ETA).bit_count() for _ in range(N)
        )
        return [draw % self.ring.modulus for draw in draws]
