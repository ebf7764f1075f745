# SPDX-License-Identifier: Apache-2.0
"""A compiled program and its two sides: the client with the secret key, the server with evaluation keys only.

All of these pickle (a packing function that does more than place elements must be importable by name); ciphertexts and
keys travel as the bytes of the engine's documented format, and each object says what it is (`identity`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, KeyMismatchError, SeedError
from ringsmith.kernel.circuit import Circuit
from ringsmith.kernel.declare import Argument, Encrypted, Plain
from ringsmith.kernel.numbers import as_array
from ringsmith.kernel.trace import packed_rows
from ringsmith.params.choose import Rejected
from ringsmith.params.sets import ParameterSet
from ringsmith.run import plaintexts
from ringsmith.run.execute import Execution, execute, plain_values
from ringsmith.run.identity import (
    Identity,
    Label,
    Role,
    Versioned,
    check_distinct,
    checksums,
    expected_arguments,
    expected_results,
    identity,
    received,
)
from ringsmith.run.randomness import Randomness, Seed, derive_seed
from ringsmith.run.scheme import Keys, Scheme, check_keys, open_scheme, serialized, workers

Array = NDArray[Any]


@dataclass(frozen=True)
class Signature:
    """What a program keeps of its kernel: name, variant, scheme, tolerance; shape, secrecy and range of arguments."""

    name: str
    variant: str
    scheme: str
    tolerance: float
    arguments: Mapping[str, tuple[tuple[int, ...], bool, float, float]]
    publish: bool = False

    def argument(self, name: str) -> Argument:
        """Return an argument's declaration again."""
        shape, encrypted, low, high = self.arguments[name]
        return (Encrypted if encrypted else Plain)(*shape, low=low, high=high)

    def names(self, *, encrypted: bool) -> list[str]:
        """Return the names of the encrypted or of the plain arguments."""
        return [name for name, entry in self.arguments.items() if entry[1] is encrypted]

    def check(self, given: Mapping[str, Any], *, encrypted: bool) -> dict[str, Array]:
        """Return checked arrays for exactly the encrypted or the plain arguments."""
        wanted = self.names(encrypted=encrypted)
        if sorted(given) != sorted(wanted):
            kind = "encrypted" if encrypted else "plain"
            have, got = ", ".join(wanted) or "(none)", ", ".join(given) or "(none)"
            raise InputError(f"{self.name} takes the {kind} arguments {have}, not {got}")
        checked = {}
        for name in wanted:
            argument = self.argument(name)
            argument.fix(name, as_array(given[name], f"argument {name}").shape)
            checked[name] = argument.check(name, given[name], exact=self.scheme == "bfv")
        return checked


@dataclass(frozen=True)
class Encryptions(Versioned):
    """Ciphertexts on their way, as bytes; `checksums` holds what each ended with when it was sent."""

    label: Label
    ciphertexts: tuple[bytes, ...]
    checksums: tuple[bytes, ...]

    @classmethod
    def of(cls, label: Label, ciphertexts: Sequence[bytes]) -> Encryptions:
        """Return a message to send."""
        return cls(label, tuple(ciphertexts), checksums(ciphertexts))

    def __repr__(self) -> str:
        """Return what it is and its size, no bytes."""
        return f"<Encryptions: {len(self.ciphertexts)} ciphertexts, {self.nbytes} bytes>"

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return sum(map(len, self.ciphertexts))

    def digest(self) -> str:
        """SHA-256 of all ciphertext bytes, in hexadecimal."""
        return hashlib.sha256(b"".join(self.ciphertexts)).hexdigest()


@dataclass(frozen=True)
class PublicKey(Versioned):
    """A public encryption key as bytes."""

    label: Label
    data: bytes

    def __repr__(self) -> str:
        """Return what it is and its size, no bytes."""
        return f"<PublicKey: {self.nbytes} bytes>"

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return len(self.data)


@dataclass(frozen=True, eq=False)
class Program(Versioned):
    """A kernel compiled for one parameter set. `noise_bits`: CKKS log2 of the error bound, BFV noise budget left."""

    signature: Signature
    params: ParameterSet
    circuit: Circuit
    noise_bits: float
    rejected: tuple[Rejected, ...] = ()
    encryption: str = "secret"
    engine: Any = field(default=None, compare=False)

    def __repr__(self) -> str:
        """Return the name and the parameters in short."""
        params, name = self.params, self.signature.name
        return (
            f"<Program {name}: {params.scheme}, n = {params.n}, {params.split} bits, {len(self.circuit.steps)} steps>"
        )

    @property
    def counts(self) -> dict[str, int]:
        """Operations by name."""
        return self.circuit.counts()

    def box(self) -> str:
        """Return the parameter box as text."""
        from ringsmith.params.box import box

        return box(self)

    @cached_property
    def identity(self) -> Identity:
        """The hash of all that ciphertexts and keys of this program must agree on."""
        return identity(self.signature, self.params, self.circuit, self.encryption)

    def label(self, role: Role, key: str) -> Label:
        """Return the label of an object of this program and of the secret key with the public identity `key`."""
        return Label(role, self.identity, key)

    def check_own(self, role: Role, given: Any, receiver: str) -> None:
        """Fail unless a label is of this program and role, whosever key it names."""
        self.label(role, getattr(given, "key", "")).check(given, receiver)

    def client(self, seed: Seed = None, **options: bool) -> Client:
        """Generate keys; with a seed all the client does is reproducible to the byte. `options`: those of `Client`."""
        return Client(self, seed, **options)

    def encryptor(self, public_key: PublicKey, seed: Seed = None, **options: bool) -> Encryptor:
        """Return a side that only encrypts, for the client whose public key this is. `options`: see `Encryptor`."""
        return Encryptor(self, public_key, seed, **options)

    def server(self, evaluation_keys: Keys) -> Server:
        """Return the side that evaluates; it never sees the secret key."""
        return Server(self, evaluation_keys)

    def open(self) -> Scheme:
        """Return the engine's objects for this program's parameters."""
        return open_scheme(self.params, self.engine)

    def __getstate__(self) -> dict[str, Any]:
        """Return a picklable state; an opened engine stays behind."""
        return {**super().__getstate__(), "engine": None}


class Encryptor:
    """Encrypts arguments under a public key; it can decrypt nothing.

    With a seed it is reproducible to the byte: for tests. Two encryptors under one key and seed repeat each other.
    """

    def __init__(
        self, program: Program, public_key: PublicKey, seed: Seed = None, *, sample_data: bool = False
    ) -> None:
        """Check that the key belongs to the program and that its noise was reckoned with.

        `sample_data`: what it will encrypt is made up, so a seed needs no `SeedWarning`.
        """
        receiver = f"an encryptor of {program.signature.name}"
        received(public_key, PublicKey, Role.PUBLIC_KEY, receiver)
        program.check_own(Role.PUBLIC_KEY, public_key.label, receiver)
        if program.encryption != "public":
            raise InputError(
                f"{program.signature.name} reckons with encryption under the secret key; "
                'make the kernel with encryption="public"'
            )
        self.program = program
        self._randomness = Randomness(seed, program.identity.digest, "encryptor", sample_data=sample_data)
        self._scheme = program.open()
        self._key = self._scheme.load_public(public_key.data)
        program.label(Role.PUBLIC_KEY, self._key.key_id).check(public_key.label, "its bytes")

    def encrypt(self, **arguments: Any) -> Encryptions:
        """Encrypt the encrypted arguments, all of them. A copy of an encryptor with a seed raises `SeedError`."""
        self._randomness.warn()
        return _encrypted(self.program, self._scheme, self._key, self._randomness.take("encrypt"), arguments)

    def reseed(self, seed: Seed = None) -> None:
        """Draw from a new seed from now on, or from the operating system."""
        self._randomness.reseed(seed)


class Client:
    """Holds the secret key: encrypts arguments and decrypts results.

    With a seed its keys and ciphertexts are reproducible to the byte: for tests, never for real data, and `encrypt`
    says so once (`SeedWarning`). The seed serves this object in this process. Forks, pickles and deep copies keep the
    keys and decrypt; to encrypt they must `reseed`, or two of them would hide two messages with the same randomness.
    """

    def __init__(
        self, program: Program, seed: Seed = None, *, sample_data: bool = False, allow_seeded_publish: bool = False
    ) -> None:
        """Generate the keys that the program needs.

        `sample_data`: what it will encrypt is made up, so a seed needs no warning. `allow_seeded_publish`: `decrypt`
        may publish although whoever knows the seed can take the noise off again.
        """
        self.program = program
        self._randomness = Randomness(seed, program.identity.digest, "client", sample_data=sample_data)
        self._allow_seeded_publish = allow_seeded_publish
        self._scheme = program.open()
        label = partial(program.label, Role.EVALUATION_KEYS)
        secret, keys = self._scheme.generate_keys(program.circuit, self._randomness.take("keys"), label)
        self._secret = secret
        self._public = self._scheme.public_key(secret, self._randomness.take("public key"))
        self.evaluation_keys = keys

    @property
    def secret_key(self) -> bytes:
        """The secret key, serialized."""
        return bytes(self._secret.to_bytes())

    @property
    def public_key(self) -> PublicKey:
        """The key that lets others encrypt for this client: `program.encryptor(key)`."""
        return PublicKey(self.program.label(Role.PUBLIC_KEY, self._secret.key_id), bytes(self._public.to_bytes()))

    def encrypt(self, **arguments: Any) -> Encryptions:
        """Encrypt the encrypted arguments, all of them. A copy of a client with a seed raises `SeedError`."""
        self._randomness.warn()
        key = self._public if self.program.encryption == "public" else self._secret
        return _encrypted(self.program, self._scheme, key, self._randomness.take("encrypt"), arguments)

    def reseed(self, seed: Seed = None) -> None:
        """Draw from a new seed from now on, or from the operating system; the keys stay."""
        self._randomness.reseed(seed)

    def _publish_seed(self) -> bytes:
        if self._randomness.seeded and not self._allow_seeded_publish:
            raise SeedError(
                "a client with a seed does not publish: whoever knows the seed takes the noise off again. Make the "
                "client without a seed, or with allow_seeded_publish=True in a test"
            )
        return self._randomness.take("publish")

    def decrypt(self, result: Encryptions, *, publish: bool = False) -> Array:
        """Decrypt a result. `publish` adds noise so that the numbers may be shown to others (IND-CPA-D).

        Every published result has noise of its own; a client with a seed refuses to publish (`SeedError`) unless told.
        """
        program = self.program
        receiver = f"this client of {program.signature.name}"
        received(result, Encryptions, Role.RESULT, receiver)
        key = self._secret.key_id
        program.label(Role.RESULT, key).check(result.label, receiver)
        if publish and not program.signature.publish:
            raise InputError(f"{program.signature.name} has no room for publication; make the kernel with publish=True")
        flood = program.noise_bits if publish else None
        seed = self._publish_seed() if publish else b""
        expected = expected_results(program.circuit, key)
        ciphertexts = self._scheme.read(result.ciphertexts, result.checksums, expected)
        rows = self._scheme.decrypt(ciphertexts, self._secret, flood, seed)
        return unpack(program.circuit, rows)

    def __getstate__(self) -> dict[str, Any]:
        """Return a picklable state: the secret key as bytes. Keep it as you would keep the key."""
        return {
            "program": self.program,
            "randomness": self._randomness,
            "allow_seeded_publish": self._allow_seeded_publish,
            "secret": self.secret_key,
            "public": self.public_key,
            "keys": self.evaluation_keys,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the keys."""
        self.program, self._randomness = state["program"], state["randomness"]
        self._allow_seeded_publish = state["allow_seeded_publish"]
        self._scheme = self.program.open()
        self._secret = self._scheme.secret_key(state["secret"])
        self._public = self._scheme.load_public(state["public"].data)
        self.evaluation_keys = state["keys"]


def _encrypted(program: Program, scheme: Scheme, key: Any, seed: bytes, arguments: Mapping[str, Any]) -> Encryptions:
    """Pack and encrypt checked arguments."""
    arrays = program.signature.check(arguments, encrypted=True)
    rows = [row for name in program.circuit.inputs for row in _packed(program.circuit, name, arrays[name])]
    return Encryptions.of(program.label(Role.ARGUMENTS, key.key_id), scheme.encrypt(rows, key, seed))


def _packed(circuit: Circuit, name: str, values: Array) -> Array:
    """Return one row of slots for each ciphertext of an argument."""
    packing = circuit.inputs[name]
    if packing.pack is not None:
        return packed_rows(name, packing.pack, values, circuit.slots, circuit.bounds[name])
    return np.where(packing.gather >= 0, values.reshape(-1)[packing.gather], 0)


class Server:
    """Evaluates a program on ciphertexts with evaluation keys only."""

    def __init__(self, program: Program, keys: Keys) -> None:
        """Check that the keys belong to the program and are complete."""
        receiver = f"a server of {program.signature.name}"
        received(keys, Keys, Role.EVALUATION_KEYS, receiver)
        program.check_own(Role.EVALUATION_KEYS, keys.label, receiver)
        missing = sorted(set(program.circuit.rotations()) - set(keys.rotations))
        if missing:
            raise KeyMismatchError(
                f"the evaluation keys lack rotation {missing[0]}; generate keys with program.client()"
            )
        self.program = program
        self.keys = keys
        self._scheme = program.open()
        self._loaded = self._scheme.load(keys)
        check_keys(program.circuit, self._loaded, keys.label.key)

    def evaluate(self, sent: Encryptions, *, seed: Seed = None, **plain: Any) -> Encryptions:
        """Evaluate on the encrypted arguments `sent` and the plain arguments. `seed`: what zeros are encrypted with."""
        return self.run(sent, plain, seed).result

    def run(self, sent: Encryptions, plain: Mapping[str, Any], seed: Seed = None) -> Execution:
        """Evaluate and return the result with the time each kind of operation took."""
        program = self.program
        receiver, key = f"this server of {program.signature.name}", self.keys.label.key
        received(sent, Encryptions, Role.ARGUMENTS, receiver)
        program.label(Role.ARGUMENTS, key).check(sent.label, receiver)
        arrays = program.signature.check(plain, encrypted=False)
        expected = expected_arguments(program.circuit, program.encryption, key)
        start = time.perf_counter()
        threads = workers() if program.engine is None else 1
        ciphertexts = self._scheme.read(sent.ciphertexts, sent.checksums, expected)
        check_distinct(sent.checksums, expected)
        values = plain_values(program.circuit, arrays)
        plaintexts.check(program, self._scheme, values)
        read = time.perf_counter() - start
        about = b"".join(sent.ciphertexts) if seed is not None and program.circuit.encrypts() else b""
        zeros = derive_seed(seed, program.identity.digest, "server", about=about)
        outputs, seconds = execute(program.circuit, self._scheme, self._loaded, ciphertexts, values, zeros, threads)
        start = time.perf_counter()
        data = tuple(serialized(outputs))
        seconds |= {"read": read, "write": time.perf_counter() - start}
        return Execution(Encryptions.of(program.label(Role.RESULT, key), data), seconds)

    def __getstate__(self) -> dict[str, Any]:
        """Return a picklable state."""
        return {"program": self.program, "keys": self.keys}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the engine's objects."""
        self.__init__(state["program"], state["keys"])  # type: ignore[misc]


def unpack(circuit: Circuit, rows: Array) -> Array:
    """Return the result from the slots of the output ciphertexts."""
    output = circuit.output
    if output.unpack is not None:
        return np.asarray(output.unpack(rows)).reshape(output.shape)
    return np.asarray(rows[output.ct, output.slot])
