# SPDX-License-Identifier: Apache-2.0
"""The engine's context and encoder of a parameter set, behind one face for both schemes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.ir.numbers import residues

Array = NDArray[Any]


class Encoding(ABC):
    """Vectors of slots as plaintexts and back."""

    context: Any
    encoder: Any

    @abstractmethod
    def encode(self, values: Array, level: int, scale: float) -> Any:
        """Return the plaintext of a vector of slots."""

    @abstractmethod
    def effect(self, values: Array, scale: float) -> float:
        """Return the noise effect of a plaintext (`compiler.params.noise.Effects`)."""

    @abstractmethod
    def encode_top(self, rows: Array) -> list[Any]:
        """Return the plaintexts of rows of slots at the top level and the set's own scale."""

    @abstractmethod
    def decode(self, plaintexts: Sequence[Any]) -> Array:
        """Return one row of slots for each plaintext."""


class CkksEncoding(Encoding):
    """Reals."""

    def __init__(self, params: ParameterSet) -> None:
        """Build the context of a set."""
        self.context = _native.CkksContext(
            params.n, list(params.moduli), list(params.special), 2.0**params.log2_scale,
            dnum=params.dnum, secret=params.secret, error=params.error, **_security(params),
        )  # fmt: skip
        self.encoder = _native.CkksEncoder(self.context)

    def encode(self, values: Array, level: int, scale: float) -> Any:
        """Encode reals."""
        return self.encoder.encode(np.ascontiguousarray(values, dtype=np.float64), level=level, scale=scale)

    def effect(self, values: Array, scale: float) -> float:
        """Return the largest change of a slot by rounding, times the scale."""
        return float(self.encoder.rounding(np.ascontiguousarray(values, dtype=np.float64), scale))

    def encode_top(self, rows: Array) -> list[Any]:
        """Encode at the top level and the set's scale."""
        return list(self.encoder.encode_batch(np.ascontiguousarray(rows, dtype=np.float64)))

    def decode(self, plaintexts: Sequence[Any]) -> Array:
        """Decode reals."""
        return np.asarray(self.encoder.decode_real_batch(list(plaintexts)))


class BfvEncoding(Encoding):
    """Integers modulo t."""

    def __init__(self, params: ParameterSet) -> None:
        """Build the context of a set."""
        self.plain_modulus = params.plain_modulus
        self.context = _native.BfvContext(
            params.n, list(params.moduli), list(params.special), params.plain_modulus,
            dnum=params.dnum, secret=params.secret, error=params.error, **_security(params),
        )  # fmt: skip
        self.encoder = _native.BfvEncoder(self.context)

    def encode(self, values: Array, level: int, scale: float) -> Any:
        """Encode integers modulo t."""
        return self.encoder.encode(self._residues(values))

    def effect(self, values: Array, scale: float) -> float:
        """Return log2 of the gain."""
        return float(self.encode(values, 0, scale).log2_gain)

    def encode_top(self, rows: Array) -> list[Any]:
        """Encode integers modulo t."""
        return list(self.encoder.encode_batch(self._residues(rows)))

    def _residues(self, values: Array) -> Array:
        """Return the values modulo t, centred."""
        return np.ascontiguousarray(residues(values, self.plain_modulus), dtype=np.int64)

    def decode(self, plaintexts: Sequence[Any]) -> Array:
        """Decode integers modulo t, centred."""
        return np.stack([np.asarray(self.encoder.decode(plaintext)) for plaintext in plaintexts])


def _security(params: ParameterSet) -> dict[str, Any]:
    """The engine judges the set again; insecure sets were opted into when the set was checked."""
    judged = params.security
    return {"security": judged.wanted, "table": judged.table, "allow_insecure": not judged.enough}


def open_encoding(params: ParameterSet) -> Encoding:
    """Return the engine's context and encoder for a set."""
    return CkksEncoding(params) if params.scheme == "ckks" else BfvEncoding(params)
