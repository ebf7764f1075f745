# SPDX-License-Identifier: Apache-2.0
"""The engine's objects behind one face for both schemes: keys, encryption, operations by kind, decryption."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.errors import KeyMismatchError
from ringsmith.kernel.circuit import Circuit, Step
from ringsmith.kernel.numbers import residues
from ringsmith.kernel.slots import Kind
from ringsmith.params.noise import PUBLISH_BITS, PUBLISH_QUERIES
from ringsmith.params.sets import ParameterSet
from ringsmith.run.identity import Expected, Label, Versioned, check_count, check_order

Array = NDArray[Any]

# Ciphertexts encrypted at a time: enough for every core, few enough for the memory of plaintexts.
_CHUNK = 64


def workers() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def side_by_side(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Apply a function that releases the interpreter's lock to every item, on all cores; one alone takes no thread."""
    if len(items) <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(workers()) as pool:
        return list(pool.map(function, items))


def serialized(ciphertexts: Sequence[Any]) -> list[bytes]:
    """Return the bytes of each ciphertext."""
    return side_by_side(lambda ciphertext: ciphertext.to_bytes(), ciphertexts)


@dataclass(frozen=True)
class Keys(Versioned):
    """Evaluation keys as bytes: what a server needs and nothing more. `public` only if the program encrypts zeros."""

    label: Label
    relinearization: bytes
    galois: bytes
    rotations: tuple[int, ...]
    public: bytes

    def __repr__(self) -> str:
        """Return how many keys there are and their size, no bytes."""
        return f"<Keys: {len(self.rotations)} rotations, {self.nbytes} bytes>"

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return len(self.relinearization) + len(self.galois) + len(self.public)


def check_keys(circuit: Circuit, keys: LoadedKeys, key: str) -> None:
    """Fail unless the keys are of the secret key `key`, and all that a circuit needs, for the levels where it does."""
    needs = (
        ("relinearization", keys.relinearization, circuit.top_level(Kind.RELINEARIZE)),
        ("rotation", keys.galois, circuit.top_level(Kind.ROTATE)),
        ("public", keys.public, 0 if circuit.encrypts() else None),
    )
    for name, held, level in needs:
        if level is not None and held is None:
            raise KeyMismatchError(f"the evaluation keys hold no {name} key, which this program needs")
        if held is not None and held.key_id != key:
            raise KeyMismatchError(f"the {name} key is of key {held.key_id}, the evaluation keys are labelled {key}")
        serves = getattr(held, "level", level)
        if level is not None and serves is not None and serves < level:
            raise KeyMismatchError(
                f"the {name} key serves level {serves}, the program needs level {level}; "
                "generate keys with program.client()"
            )
    missing = keys.galois.missing(circuit.rotations()) if keys.galois is not None else ()
    if missing:
        raise KeyMismatchError(f"the evaluation keys lack rotation {missing[0]}; generate keys with program.client()")


@dataclass(frozen=True, eq=False)
class LoadedKeys:
    """Evaluation keys as the engine's objects; None where the program needs none."""

    relinearization: _native.RelinKey | None
    galois: _native.GaloisKeys | None
    public: _native.PublicKey | None


class Evaluator(Protocol):
    """Applies one operation to ciphertexts."""

    def apply(self, step: Step, args: Sequence[Any], plaintext: Any) -> Any:
        """Return the result of `step`; `plaintext` is its encoded plaintext or None."""

    def rotate_many(self, value: Any, steps: Sequence[int]) -> Sequence[Any]:
        """Rotate one ciphertext by several distances, with one decomposition."""


class Scheme(ABC):
    """What both schemes share. A subclass knows its context, encoder and special operations."""

    context: Any
    encoder: Any
    evaluator_class: Any
    ciphertext_class: Any
    encryptor_class: Any
    decryptor_class: Any

    def generate_keys(
        self, circuit: Circuit, seed: bytes, label: Callable[[str], Label]
    ) -> tuple[_native.SecretKey, Keys]:
        """Return the secret key and the evaluation keys a circuit needs, cut to the levels where it uses them.

        `label` makes the keys' label of the secret key's public identity.
        """
        generator = _native.KeyGenerator(self.context, seed=seed)
        secret = generator.secret_key()
        rotations = circuit.rotations()
        relin = galois = b""
        if circuit.relinearizes():
            relin = generator.relin_key(secret, level=circuit.top_level(Kind.RELINEARIZE)).to_bytes()
        if rotations:
            galois = generator.galois_keys(secret, list(rotations), level=circuit.top_level(Kind.ROTATE)).to_bytes()
        public = generator.public_key(secret).to_bytes() if circuit.encrypts() else b""
        return secret, Keys(label(secret.key_id), relin, galois, rotations, public)

    def load(self, keys: Keys) -> LoadedKeys:
        """Return the engine's objects of serialized keys."""
        context = self.context
        return LoadedKeys(
            _native.RelinKey.from_bytes(context, keys.relinearization) if keys.relinearization else None,
            _native.GaloisKeys.from_bytes(context, keys.galois) if keys.galois else None,
            _native.PublicKey.from_bytes(context, keys.public) if keys.public else None,
        )

    def facts(self, ciphertext: Any) -> dict[str, Any]:
        """Return what a ciphertext says of itself without a key."""
        c = ciphertext
        return {"level": c.level, "size": c.size, "key": c.key_id, "seeded": c.seeded}

    def read(self, data: Sequence[bytes], sent: Sequence[bytes], expected: Sequence[Expected]) -> list[Any]:
        """Return the ciphertexts of a message whose parts had the checksums `sent`; each is what was expected there."""
        check_count(data, expected)
        ciphertexts = self.ciphertexts(data)
        check_order(data, sent, expected)
        for ciphertext, place in zip(ciphertexts, expected, strict=True):
            place.check(self.facts(ciphertext))
        return ciphertexts

    def secret_key(self, data: bytes) -> _native.SecretKey:
        """Return a secret key from its bytes."""
        return _native.SecretKey.from_bytes(self.context, data)

    def ciphertext(self, data: bytes) -> Any:
        """Return a ciphertext from its bytes."""
        return self.ciphertext_class.from_bytes(self.context, data)

    def ciphertexts(self, data: Sequence[bytes]) -> list[Any]:
        """Return ciphertexts from their bytes; each expands a seed, so cores share the work."""
        return side_by_side(self.ciphertext, data)

    @abstractmethod
    def encode(self, values: Array, level: int, scale: float) -> Any:
        """Return the plaintext of a vector of slots."""

    @abstractmethod
    def effect(self, values: Array, scale: float) -> float:
        """Return what a plaintext does to noise (`params.noise.Effects`)."""

    @abstractmethod
    def decode(self, plaintexts: Sequence[Any]) -> Array:
        """Return one row of slots for each plaintext."""

    def public_key(self, secret: _native.SecretKey, seed: bytes) -> _native.PublicKey:
        """Return the public key of a secret key."""
        return _native.KeyGenerator(self.context, seed=seed).public_key(secret)

    def load_public(self, data: bytes) -> _native.PublicKey:
        """Return a public key from its bytes."""
        return _native.PublicKey.from_bytes(self.context, data)

    def encrypt(self, rows: Sequence[Array], key: _native.SecretKey | _native.PublicKey, seed: bytes) -> list[bytes]:
        """Encrypt rows of slots at the top level, under the secret or the public key."""
        encryptor = self.encryptor_class(self.context, key, seed=seed)
        data: list[bytes] = []
        for start in range(0, len(rows), _CHUNK):
            plaintexts = self.encode_top(np.stack(rows[start : start + _CHUNK]))
            data.extend(serialized(encryptor.encrypt_batch(plaintexts)))
        return data

    @abstractmethod
    def encode_top(self, rows: Array) -> list[Any]:
        """Return the plaintexts of rows of slots at the top level and the set's own scale."""

    def decrypt(self, ciphertexts: Sequence[Any], secret: _native.SecretKey, flood: float | None, seed: bytes) -> Array:
        """Return the slots of each ciphertext; `flood`, for publication, is the program's noise figure."""
        decryptor = self.decryptor_class(self.context, secret)
        return self.decode(self.plaintexts(decryptor, ciphertexts, flood, seed))

    def plaintexts(self, decryptor: Any, ciphertexts: Sequence[Any], flood: float | None, seed: bytes) -> list[Any]:
        """Decrypt each ciphertext; with `flood`, for publication."""
        if flood is None:
            return list(decryptor.decrypt_batch(list(ciphertexts)))
        seeds = [hashlib.sha256(seed + number.to_bytes(8, "little")).digest() for number in range(len(ciphertexts))]
        bound = self.publication_bound(flood)
        return [
            decryptor.decrypt_for_publication(
                ciphertext, bound, security_bits=PUBLISH_BITS, queries=PUBLISH_QUERIES, seed=own
            )
            for ciphertext, own in zip(ciphertexts, seeds, strict=True)
        ]

    @abstractmethod
    def publication_bound(self, noise_bits: float) -> float:
        """Return what the engine's flooding goes by, from a program's noise figure."""

    def evaluator(self, keys: LoadedKeys, seed: bytes) -> Evaluator:
        """Return what applies operations."""
        return _Apply(self, self.evaluator_class(self.context), keys, seed)

    @abstractmethod
    def reduce(self, native: Any, kind: Kind, value: Any, level: int) -> Any:
        """Rescale, or drop primes down to `level`."""

    @abstractmethod
    def fresh_zero(self, encryptor: Any, step: Step) -> Any:
        """Encrypt zero at a step's level and scale."""


class _Apply:
    """Applies operations with an engine's evaluator and loaded keys."""

    def __init__(self, scheme: Scheme, native: Any, keys: LoadedKeys, seed: bytes) -> None:
        self.scheme = scheme
        self.native = native
        self.keys = keys
        self.zeros = scheme.encryptor_class(scheme.context, keys.public, seed=seed) if keys.public else None

    def apply(self, step: Step, args: Sequence[Any], plaintext: Any) -> Any:
        kind = step.kind
        match kind:
            case Kind.WITHIN:
                return args[0]
            case Kind.RELINEARIZE:
                return self.native.relinearize(args[0], self._key(self.keys.relinearization, "relinearization"))
            case Kind.ROTATE:
                return self.native.rotate(args[0], step.steps, self._key(self.keys.galois, "rotation"))
            case Kind.RESCALE | Kind.MOD_DROP:
                return self.scheme.reduce(self.native, kind, args[0], step.level)
            case Kind.ENCRYPT_ZERO:
                return self.scheme.fresh_zero(self._key(self.zeros, "public"), step)
        operands = (*args, plaintext) if plaintext is not None else tuple(args)
        return getattr(self.native, kind.value)(*operands)

    def rotate_many(self, value: Any, steps: Sequence[int]) -> Sequence[Any]:
        rotated: Sequence[Any] = self.native.rotate_hoisted(value, list(steps), self._key(self.keys.galois, "rotation"))
        return rotated

    @staticmethod
    def _key(key: Any, name: str) -> Any:
        if key is None:
            raise KeyMismatchError(f"the evaluation keys hold no {name} key, which this program needs")
        return key


class CkksScheme(Scheme):
    """CKKS on the engine."""

    def __init__(self, params: ParameterSet, engine: Any = None) -> None:
        """Build the context of a set."""
        more = {} if engine is None else {"engine": engine}
        self.context = _native.CkksContext(
            params.n, list(params.moduli), list(params.special), 2.0**params.log2_scale,
            dnum=params.dnum, secret=params.secret, error=params.error, **_security(params), **more,
        )  # fmt: skip
        self.encoder = _native.CkksEncoder(self.context)
        self.encryptor_class = _native.CkksEncryptor
        self.decryptor_class = _native.CkksDecryptor
        self.evaluator_class = _native.CkksEvaluator
        self.ciphertext_class = _native.CkksCiphertext

    def encode(self, values: Array, level: int, scale: float) -> Any:
        """Encode reals."""
        return self.encoder.encode(np.ascontiguousarray(values, dtype=np.float64), level=level, scale=scale)

    def effect(self, values: Array, scale: float) -> float:
        """Return the largest change of a slot by rounding, times the scale."""
        return float(self.encoder.rounding(np.ascontiguousarray(values, dtype=np.float64), scale))

    def encode_top(self, rows: Array) -> list[Any]:
        """Encode at the top level and the set's scale."""
        return list(self.encoder.encode_batch(np.ascontiguousarray(rows, dtype=np.float64)))

    def facts(self, ciphertext: Any) -> dict[str, Any]:
        """Add the scale and the number of slots."""
        return super().facts(ciphertext) | {"scale": ciphertext.scale, "slots": ciphertext.slots}

    def decode(self, plaintexts: Sequence[Any]) -> Array:
        """Decode reals."""
        return np.asarray(self.encoder.decode_real_batch(list(plaintexts)))

    def publication_bound(self, noise_bits: float) -> float:
        """Return the bound on a slot's error."""
        return float(2.0**noise_bits)

    def reduce(self, native: Any, kind: Kind, value: Any, level: int) -> Any:
        """Rescale or drop."""
        return native.rescale(value) if kind is Kind.RESCALE else native.drop_to(value, level)

    def fresh_zero(self, encryptor: Any, step: Step) -> Any:
        """Encrypt zero."""
        return encryptor.encrypt_zero(level=step.level, scale=step.scale)


class BfvScheme(Scheme):
    """BFV on the engine. A program's n/2 slots stand in both rows alike: a constant stays a constant polynomial."""

    def __init__(self, params: ParameterSet, engine: Any = None) -> None:
        """Build the context of a set."""
        more = {} if engine is None else {"engine": engine}
        self.slots = params.slots
        self.plain_modulus = params.plain_modulus
        self.context = _native.BfvContext(
            params.n, list(params.moduli), list(params.special), params.plain_modulus,
            dnum=params.dnum, secret=params.secret, error=params.error, **_security(params), **more,
        )  # fmt: skip
        self.encoder = _native.BfvEncoder(self.context)
        self.encryptor_class = _native.BfvEncryptor
        self.decryptor_class = _native.BfvDecryptor
        self.evaluator_class = _native.BfvEvaluator
        self.ciphertext_class = _native.BfvCiphertext

    def encode(self, values: Array, level: int, scale: float) -> Any:
        """Encode integers modulo t."""
        return self.encoder.encode(self._both_rows(values))

    def effect(self, values: Array, scale: float) -> float:
        """Return log2 of the gain."""
        return float(self.encode(values, 0, scale).log2_gain)

    def encode_top(self, rows: Array) -> list[Any]:
        """Encode integers modulo t."""
        return list(self.encoder.encode_batch(self._both_rows(rows)))

    def _both_rows(self, values: Array) -> Array:
        """Return the values modulo t, centred, for both rows of a plaintext."""
        centred = residues(values, self.plain_modulus)
        return np.ascontiguousarray(np.concatenate([centred, centred], axis=-1), dtype=np.int64)

    def decode(self, plaintexts: Sequence[Any]) -> Array:
        """Decode the first row."""
        return np.stack([np.asarray(self.encoder.decode(plaintext))[: self.slots] for plaintext in plaintexts])

    def publication_bound(self, noise_bits: float) -> float:
        """Return the noise budget every result is sure to keep."""
        return noise_bits

    def reduce(self, native: Any, kind: Kind, value: Any, level: int) -> Any:
        """Switch down to a level."""
        while value.level > level:
            value = native.mod_switch(value)
        return value

    def fresh_zero(self, encryptor: Any, step: Step) -> Any:
        """Encrypt zero."""
        return encryptor.encrypt_zero()


def _security(params: ParameterSet) -> dict[str, Any]:
    """The engine judges the set again; insecure sets were opted into when the set was checked."""
    judged = params.security
    return {"security": judged.wanted, "table": judged.table, "allow_insecure": not judged.enough}


def open_scheme(params: ParameterSet, engine: Any = None) -> Scheme:
    """Return the engine's objects for a set."""
    return CkksScheme(params, engine) if params.scheme == "ckks" else BfvScheme(params, engine)
