# SPDX-License-Identifier: Apache-2.0
"""The engine's objects behind one face for both schemes: keys, encryption, encoding, decryption."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.compiler.encoding import BfvEncoding, CkksEncoding, Encoding
from ringsmith.compiler.params.noise import PUBLISH_BITS, PUBLISH_QUERIES
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.errors import KeyMismatchError
from ringsmith.parallel import side_by_side
from ringsmith.runtime.identity import Expected, Label, check_count, check_order
from ringsmith.runtime.messages import Keys

Array = NDArray[Any]

# Ciphertexts encrypted at a time: enough for every core, few enough for the memory of plaintexts.
_CHUNK = 64


def serialized(ciphertexts: Sequence[Any]) -> list[bytes]:
    """Return the bytes of each ciphertext."""
    return side_by_side(lambda ciphertext: ciphertext.to_bytes(), ciphertexts)


def check_owner(keys: LoadedKeys, key: str) -> None:
    """Fail unless the keys are of the secret key `key`; whether they suffice is checked by what runs the program."""
    held = (
        ("relinearization", keys.relinearization), ("rotation", keys.galois), ("public", keys.public),
        ("bootstrapping", keys.bootstrapping),
    )  # fmt: skip
    for name, one in held:
        if one is not None and one.key_id != key:
            raise KeyMismatchError(f"the {name} key is of key {one.key_id}, the evaluation keys are labelled {key}")


@dataclass(frozen=True, eq=False)
class LoadedKeys:
    """Evaluation keys as the engine's objects; None where the program needs none."""

    relinearization: _native.RelinKey | None
    galois: _native.GaloisKeys | None
    public: _native.PublicKey | None
    bootstrapping: _native.BootstrapKeys | None = None


class Scheme(ABC):
    """Shared code of both schemes. A subclass knows its classes and special operations."""

    ciphertext_class: Any
    encryptor_class: Callable[..., Any]
    decryptor_class: Callable[..., Any]

    def __init__(self, encoding: Encoding) -> None:
        """Use an encoding and its context."""
        self.encoding, self.context, self.encoder = encoding, encoding.context, encoding.encoder

    def generate_keys(
        self,
        program: _native.Program,
        seed: bytes,
        label: Callable[[str], Label],
        secret: _native.SecretKey | None = None,
        required: Mapping[str, Any] | None = None,
    ) -> tuple[_native.SecretKey, Keys]:
        """Return the secret key, a new one if none is given, and the evaluation keys a program needs, cut to the levels
        where it uses them.

        `label` makes the keys' label of the secret key's public identity. `required`: other keys than all it needs.
        """
        generator = _native.KeyGenerator(self.context, seed=seed)
        secret = generator.secret_key() if secret is None else secret
        required = program.required_keys() if required is None else required
        rotations = tuple(required["rotations"])
        relin = galois = b""
        if required["relinearization"] is not None:
            relin = generator.relin_key(secret, level=required["relinearization"]).to_bytes()
        if required["galois"] is not None:
            galois = generator.galois_keys(
                secret, list(rotations), conjugate=required["swap_rows"], level=required["galois"]
            ).to_bytes()
        refreshes = b""
        if required["bootstrapping"] and program.bootstrapping is not None:
            refreshes = _native.BootstrapKeys.generate(program.bootstrapping, generator, secret).to_bytes()
        extended = program.encryption == "extended"
        public = generator.public_key(secret, extended=extended).to_bytes() if required["public"] else b""
        return secret, Keys(label(secret.key_id), relin, galois, rotations, public, refreshes)

    def load(
        self, keys: Keys, bootstrapping: _native.Bootstrapping | None = None, key_memory: int | None = None
    ) -> LoadedKeys:
        """Return the engine's objects of serialized keys, those of a program's bootstrapping for it, which take at most
        `key_memory` bytes."""
        context = self.context
        return LoadedKeys(
            _native.RelinKey.from_bytes(context, keys.relinearization) if keys.relinearization else None,
            _native.GaloisKeys.from_bytes(context, keys.galois) if keys.galois else None,
            _native.PublicKey.from_bytes(context, keys.public) if keys.public else None,
            _native.BootstrapKeys.from_bytes(bootstrapping, keys.bootstrapping, key_memory)
            if keys.bootstrapping and bootstrapping is not None
            else None,
        )

    def facts(self, ciphertext: Any) -> dict[str, Any]:
        """Return a ciphertext's metadata, without a key."""
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

    def public_key(self, secret: _native.SecretKey, seed: bytes, *, extended: bool) -> _native.PublicKey:
        """Return the public key of a secret key; an extended one is over Q·P."""
        return _native.KeyGenerator(self.context, seed=seed).public_key(secret, extended=extended)

    def load_public(self, data: bytes) -> _native.PublicKey:
        """Return a public key from its bytes."""
        return _native.PublicKey.from_bytes(self.context, data)

    def encrypt(self, rows: Sequence[Array], key: _native.SecretKey | _native.PublicKey, seed: bytes) -> list[bytes]:
        """Encrypt rows of slots at the top level, under the secret or the public key."""
        encryptor = self.encryptor_class(self.context, key, seed=seed)
        data: list[bytes] = []
        for start in range(0, len(rows), _CHUNK):
            plaintexts = self.encoding.encode_top(np.stack(rows[start : start + _CHUNK]))
            data.extend(serialized(encryptor.encrypt_batch(plaintexts)))
        return data

    def decrypt(self, ciphertexts: Sequence[Any], secret: _native.SecretKey, flood: float | None, seed: bytes) -> Array:
        """Return the slots of each ciphertext; `flood`, for publication, is the program's noise figure."""
        decryptor = self.decryptor_class(self.context, secret)
        return self.encoding.decode(self.plaintexts(decryptor, ciphertexts, flood, seed))

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


class CkksScheme(Scheme):
    """CKKS on the engine."""

    def __init__(self, params: ParameterSet, device: _native.Backend | None = None) -> None:
        """Build the context of a set; `device`: encrypts and decrypts."""
        super().__init__(CkksEncoding(params))
        self.encryptor_class = partial(_native.CkksEncryptor, device=device)
        self.decryptor_class = partial(_native.CkksDecryptor, device=device)
        self.ciphertext_class = _native.CkksCiphertext

    def facts(self, ciphertext: Any) -> dict[str, Any]:
        """Add the scale and the number of slots."""
        return super().facts(ciphertext) | {"scale": ciphertext.scale, "slots": ciphertext.slots}

    def publication_bound(self, noise_bits: float) -> float:
        """Return the bound on a slot's error."""
        return float(2.0**noise_bits)


class BfvScheme(Scheme):
    """BFV on the engine."""

    def __init__(self, params: ParameterSet, device: _native.Backend | None = None) -> None:
        """Build the context of a set; `device`: encrypts and decrypts."""
        super().__init__(BfvEncoding(params))
        self.encryptor_class = partial(_native.BfvEncryptor, device=device)
        self.decryptor_class = partial(_native.BfvDecryptor, device=device)
        self.ciphertext_class = _native.BfvCiphertext

    def publication_bound(self, noise_bits: float) -> float:
        """Return the noise budget every result is sure to keep."""
        return noise_bits


def open_scheme(params: ParameterSet, device: _native.Backend | None = None) -> Scheme:
    """Return the engine's objects for a set; on a `device` a client encrypts and decrypts."""
    return CkksScheme(params, device) if params.scheme == "ckks" else BfvScheme(params, device)
