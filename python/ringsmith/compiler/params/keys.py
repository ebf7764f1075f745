# SPDX-License-Identifier: Apache-2.0
"""Evaluation keys of a circuit: how many, at which levels, and the bytes that a client sends."""

from __future__ import annotations

from dataclasses import dataclass

from ringsmith.compiler.params.bootstrapping import native
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.ir.circuit import RELINEARIZATIONS, ROW_SWAPS, Circuit


@dataclass(frozen=True)
class Keys:
    """Levels of the relinearisation key and of the `automorphisms` (rotations and the row swap); None: no such key.

    A key is cut to the highest level where it is used, as the engine's `required_keys` says. `public`: primes of the
    public key, under which an evaluator encrypts zeros; 0: none.
    """

    relinearization: int | None
    galois: int | None
    automorphisms: int
    public: int = 0
    #: Whether ciphertexts are refreshed.
    refreshes: bool = False

    @classmethod
    def of(cls, circuit: Circuit) -> Keys:
        """Return the keys of a circuit."""
        relinearized, turned = [], []
        for step in circuit.steps:
            if step.kind in RELINEARIZATIONS:
                # The key serves the product, which may have a prime more.
                relinearized.append(circuit.steps[step.args[0]].level)
            elif step.rotations or step.kind in ROW_SWAPS:
                turned.append(step.level)
        swaps = any(step.kind in ROW_SWAPS for step in circuit.steps)
        return cls(
            max(relinearized, default=None),
            max(turned, default=None),
            len(circuit.rotations()) + swaps,
            0,
            circuit.refreshes() > 0,
        )

    def relinearization_bytes(self, params: ParameterSet) -> int:
        """Return the bytes of the relinearisation key."""
        return key_bytes(params, self.relinearization)

    def galois_bytes(self, params: ParameterSet) -> int:
        """Return the bytes of the key of one rotation or of the row swap."""
        return key_bytes(params, self.galois)

    def nbytes(self, params: ParameterSet) -> int:
        """Return the bytes of all."""
        bits = sum(q.bit_length() for q in (*params.moduli, *params.special)[: self.public])
        public = params.n * bits // 8
        own = self.relinearization_bytes(params) + self.automorphisms * self.galois_bytes(params) + public
        return own + self.refresh_bytes(params)

    def refresh_bytes(self, params: ParameterSet) -> int:
        """Return the bytes of the keys that ciphertexts are refreshed with."""
        return native(params).key_bytes if self.refreshes else 0


def key_bytes(params: ParameterSet, level: int | None) -> int:
    """Return the bytes of one key of a level, 0 for None: a polynomial for each digit, the other one is a seed."""
    if level is None:
        return 0
    limbs = level + 1
    digits = -(-limbs // -(-len(params.moduli) // params.dnum))
    return digits * params.n * sum(q.bit_length() for q in (*params.moduli[:limbs], *params.special)) // 8
