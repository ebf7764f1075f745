# SPDX-License-Identifier: Apache-2.0
"""The sides that encrypt: a client with the secret key, an encryptor with the public key only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.errors import FormatError, InputError, KeyMismatchError, SeedError
from ringsmith.files import replacing
from ringsmith.runtime.identity import Role, expected_results, received
from ringsmith.runtime.joined import beyond
from ringsmith.runtime.messages import Encryptions, Keys, PublicKey, opened
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.randomness import Randomness, Seed
from ringsmith.runtime.scheme import Scheme
from ringsmith.shown import Shown

Array = NDArray[Any]


class Encryptor(Shown):
    """Encrypts arguments under a public key; it can decrypt nothing.

    With a seed it is reproducible to the byte: for tests. Two encryptors under one key and seed repeat each other.
    """

    def __init__(
        self, program: ProgramData, public_key: PublicKey, seed: Seed = None, *, sample_data: bool = False
    ) -> None:
        """Check that the key belongs to the program and that its noise was reckoned with.

        `sample_data`: what it will encrypt is made up, so a seed needs no `SeedWarning`.
        """
        receiver = f"an encryptor of {program.signature.name}"
        received(public_key, PublicKey, Role.PUBLIC_KEY, receiver)
        program.check_own(Role.PUBLIC_KEY, public_key.label, receiver)
        if program.encryption == "secret":
            raise InputError(
                f"{program.signature.name} reckons with encryption under the secret key; "
                'make the kernel with encryption="public"'
            )
        self.program = program
        self._randomness = Randomness(seed, program.identity.digest, "encryptor", sample_data=sample_data)
        self._scheme = program.open()
        self._key = self._scheme.load_public(public_key.data)
        program.label(Role.PUBLIC_KEY, self._key.key_id).check(public_key.label, "its bytes")
        _check_kind(self._key, program, receiver)

    def __repr__(self) -> str:
        """Return whose it is; no key."""
        return f"<Encryptor of {self.program.signature.name}>"

    def encrypt(self, **arguments: Any) -> Encryptions:
        """Encrypt the encrypted arguments, all but results of other programs. A copy of an encryptor with a seed raises
        `SeedError`."""
        self._randomness.warn()
        return _encrypted(self.program, self._scheme, self._key, self._randomness.take("encrypt"), arguments)

    def encrypt_part(self, **arguments: Any) -> Encryptions:
        """Encrypt some of the encrypted arguments; others come from others under the same key: `program.joined`."""
        self._randomness.warn()
        seed = self._randomness.take("encrypt")
        return _encrypted(self.program, self._scheme, self._key, seed, arguments, part=True)

    def reseed(self, seed: Seed = None) -> None:
        """Draw from a new seed from now on, or from the operating system."""
        self._randomness.reseed(seed)


class Client(Shown):
    """Holds the secret key: encrypts arguments and decrypts results.

    With a seed its keys and ciphertexts are reproducible to the byte: for tests, never for real data, and `encrypt`
    says so once (`SeedWarning`). The seed serves this object in this process. Forks, pickles and deep copies keep the
    keys and decrypt; to encrypt they must `reseed`, or two of them would hide two messages with the same randomness.
    """

    def __init__(
        self, program: ProgramData, seed: Seed = None, *, sample_data: bool = False, allow_seeded_publish: bool = False
    ) -> None:
        """Generate the keys that the program needs.

        `sample_data`: what it will encrypt is made up, so a seed needs no warning. `allow_seeded_publish`: `decrypt`
        may publish although anyone who knows the seed can remove the noise.
        """
        self.program = program
        self._randomness = Randomness(seed, program.identity.digest, "client", sample_data=sample_data)
        self._allow_seeded_publish = allow_seeded_publish
        self._scheme = program.open()
        label = partial(program.label, Role.EVALUATION_KEYS)
        secret, keys = self._scheme.generate_keys(program.native, self._randomness.take("keys"), label)
        self._secret = secret
        seed_of_public = self._randomness.take("public key")
        self._public = self._scheme.public_key(secret, seed_of_public, extended=program.encryption == "extended")
        self.evaluation_keys = keys

    def __repr__(self) -> str:
        """Return whose it is; no key."""
        return f"<Client of {self.program.signature.name}>"

    def for_program(
        self, program: ProgramData, seed: Seed = None, *, sample_data: bool = False, held: Keys | Sequence[Keys] = ()
    ) -> Client:
        """Return a client of another program with the same parameters and the same secret key, and its evaluation keys.

        `rs.compile([f, g])` compiles kernels for one set. What the servers hold of both tells nothing more about the
        secret. `held`: evaluation keys that the server has already; then only what is missing is made, and the server
        is given both: `program.server([held, other.evaluation_keys])`. `seed` and `sample_data` as in `Client`.
        """
        scheme = program.open()
        if scheme.context != self._scheme.context:
            raise KeyMismatchError(
                f"{program.signature.name} has other parameters than {self.program.signature.name}, whose key this is; "
                "compile both kernels together: rs.compile([f, g])"
            )
        made = type(self).__new__(type(self))
        made.program, made._scheme = program, scheme
        made._randomness = Randomness(seed, program.identity.digest, "client", sample_data=sample_data)
        made._allow_seeded_publish = self._allow_seeded_publish
        made._secret = scheme.secret_key(self.secret_key)
        label = partial(program.label, Role.EVALUATION_KEYS)
        # Seeds of this key and use alone: keys with one uniform part would give away a difference of their secrets.
        key = made._secret.key_id
        drawn = made._randomness.take(f"further keys of {key}")
        sets = [held] if isinstance(held, Keys) else list(held)
        strange = [own.label.key for own in sets if isinstance(own, Keys) and own.label.key != key]
        if strange:
            raise KeyMismatchError(f"the keys held are of secret key {strange[0]}, this client has {key}")
        required = beyond(program, scheme, sets)
        _, made.evaluation_keys = scheme.generate_keys(program.native, drawn, label, made._secret, required)
        seed_of_public = made._randomness.take(f"further public key of {key}")
        made._public = scheme.public_key(made._secret, seed_of_public, extended=program.encryption == "extended")
        return made

    @property
    def secret_key(self) -> bytes:
        """The secret key, serialized."""
        return bytes(self._secret.to_bytes())

    @property
    def public_key(self) -> PublicKey:
        """The key that lets others encrypt for this client: `program.encryptor(key)`."""
        return PublicKey(self.program.label(Role.PUBLIC_KEY, self._secret.key_id), bytes(self._public.to_bytes()))

    def encrypt(self, **arguments: Any) -> Encryptions:
        """Encrypt the encrypted arguments, all but results of other programs. A copy of a client with a seed raises
        `SeedError`."""
        self._randomness.warn()
        key = self._secret if self.program.encryption == "secret" else self._public
        return _encrypted(self.program, self._scheme, key, self._randomness.take("encrypt"), arguments)

    def encrypt_part(self, **arguments: Any) -> Encryptions:
        """Encrypt some of the encrypted arguments; others come from others under the public key: `program.joined`."""
        self._randomness.warn()
        key = self._secret if self.program.encryption == "secret" else self._public
        return _encrypted(self.program, self._scheme, key, self._randomness.take("encrypt"), arguments, part=True)

    def reseed(self, seed: Seed = None) -> None:
        """Draw from a new seed from now on, or from the operating system; the keys stay."""
        self._randomness.reseed(seed)

    def _publish_seed(self) -> bytes:
        if self._randomness.seeded and not self._allow_seeded_publish:
            raise SeedError(
                "a client with a seed does not publish: anyone who knows the seed can remove the noise. Make the "
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
        expected = expected_results(program.native, key)
        ciphertexts = self._scheme.read(result.ciphertexts, result.checksums, expected)
        return program.unpacked(self._scheme.decrypt(ciphertexts, self._secret, flood, seed))

    def to_bytes(self) -> bytes:
        """Return program and keys as bytes, the secret key among them: keep them as you would keep the key.

        A seed stays behind: who reads the bytes encrypts with randomness of the operating system.
        """
        label = self.program.label(Role.CLIENT, self._secret.key_id)
        judged = self.program.params.security
        policy = f"{judged.wanted} {judged.table.split('-')[0]} {int(not judged.enough)}".encode()
        parts = (
            self.program.to_bytes(), policy, self.secret_key, bytes(self._public.to_bytes()),
            self.evaluation_keys.to_bytes(),
        )  # fmt: skip
        return bytes(_native.message_to_bytes(label.role.name, list(label.program.sections), label.key, parts))

    @classmethod
    def from_bytes(cls, data: bytes, kind: type[ProgramData] = ProgramData) -> Client:
        """Read `to_bytes`; its program is of class `kind` (`ringsmith.load` gives one that makes servers)."""
        label, parts = opened(data)
        if label.role is not Role.CLIENT:
            raise InputError(f"this is {label.role}, not {Role.CLIENT}")
        if len(parts) != _CLIENT_PARTS:
            raise FormatError(f"{len(parts)} objects; a client has {_CLIENT_PARTS}")
        security, standard, insecure = _policy(parts[1])
        program = kind.from_bytes(parts[0], security=security, standard=standard, allow_insecure=insecure)
        client = cls.__new__(cls)
        client.program = program
        client._randomness = Randomness(None, program.identity.digest, "client")
        client._allow_seeded_publish = False
        client._scheme = program.open()
        client._secret = client._scheme.secret_key(parts[2])
        client._public = client._scheme.load_public(parts[3])
        client.evaluation_keys = Keys.from_bytes(parts[4])
        key = client._secret.key_id
        program.label(Role.CLIENT, key).check(label, "this client")
        program.label(Role.EVALUATION_KEYS, key).check(client.evaluation_keys.label, "this client")
        if client._public.key_id != key:
            raise FormatError("the public key of this client is of another secret key")
        _check_kind(client._public, program, "this client")
        return client

    def save(self, path: str | Path) -> None:
        """Write the bytes, secret key included, to a file that only its owner reads."""
        data = self.to_bytes()
        with replacing(Path(path), private=True) as file:
            file.write(data)

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


# Program, policy of its parameters, secret key, public key, evaluation keys.
_CLIENT_PARTS = 5


def _policy(data: bytes) -> tuple[int, str, bool]:
    """Return the security that a client's parameters were judged by: its owner opted in when it was made."""
    words = data.decode("ascii", errors="replace").split(" ")
    if len(words) != 3 or words[0] not in ("128", "192", "256") or words[1] not in ("2024", "2018"):
        raise FormatError("a client whose security policy cannot be read")
    return int(words[0]), words[1], words[2] == "1"


def _check_kind(key: _native.PublicKey, program: ProgramData, receiver: str) -> None:
    """Fail unless a public key is of the kind that a program's noise guarantee reckons with."""
    if key.extended != (program.encryption == "extended"):
        kinds = ("public key", "extended public key")
        raise KeyMismatchError(f"{receiver} takes the {kinds[not key.extended]}, this is the {kinds[key.extended]}")


def _encrypted(
    program: ProgramData, scheme: Scheme, key: Any, seed: bytes, arguments: Mapping[str, Any], *, part: bool = False
) -> Encryptions:
    """Pack and encrypt checked arguments; the places of what is handed over, in a part of all others, stay empty."""
    arrays = program.signature.check(arguments, encrypted=True, part=part, sent=True)
    rows = [row for name, array in arrays.items() for row in program.packed(name, array)]
    made = iter(scheme.encrypt(rows, key, seed))
    counts = {
        name: len(program.native.packing(name)) // program.native.slots
        for name in program.signature.parts(encrypted=True)
    }
    data = [next(made) if name in arrays else b"" for name, count in counts.items() for _ in range(count)]
    return Encryptions.of_parts(program.label(Role.ARGUMENTS, key.key_id), data)
