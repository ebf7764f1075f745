# SPDX-License-Identifier: Apache-2.0
"""What every library says of a parameter set, and the engine's context for it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.limits import MAX_DEGREE, VARIABLE, max_memory

Context = _native.BfvContext | _native.CkksContext
Cipher = _native.BfvCiphertext | _native.CkksCiphertext
Key = _native.PublicKey | _native.RelinKey | _native.GaloisKeys
Object = Context | Cipher | Key

#: The most bits of a prime that SEAL and OpenFHE have, and the degrees.
MOST_BITS = 60
DEGREES = (2, 1 << 17)
MOST_PRIMES = 256


@dataclass(frozen=True)
class Ring:
    """A set of SEAL's form: the last prime is the special one, unless it is the only one; a digit for each prime.

    `scheme` is bfv or ckks, `plain_modulus` 0 in CKKS.
    """

    scheme: str
    n: int
    moduli: tuple[int, ...]
    plain_modulus: int

    @property
    def data(self) -> tuple[int, ...]:
        """The primes of fresh ciphertexts."""
        return self.moduli[:-1] or self.moduli

    @property
    def special(self) -> tuple[int, ...]:
        """The prime of key switching, if there is one."""
        return self.moduli[len(self.data) :]

    @cached_property
    def ids(self) -> tuple[bytes, ...]:
        """SEAL's hash of the set with each number of primes, from 1 to all of them."""
        return tuple(self._hash(self.moduli[:count]) for count in range(1, len(self.moduli) + 1))

    def _hash(self, moduli: tuple[int, ...]) -> bytes:
        words = ({"bfv": 1, "ckks": 2}[self.scheme], self.n, *moduli, self.plain_modulus)
        return hashlib.blake2b(b"".join(word.to_bytes(8, "little") for word in words), digest_size=32).digest()

    @property
    def owner(self) -> bytes:
        """The key identity of objects that name none: one for all keys of the set."""
        return hashlib.sha256(b"ringsmith.seal" + self.ids[-1]).digest()[:16]

    def context(self, scale: float | None = None, **policy: Any) -> Context:
        """Return the engine's set; `scale` is that of CKKS, by default that of the last data prime.

        Raises:
            ParameterError: the set is not secure by the policy, or the engine has no such one.
        """
        self._check_limits()
        options = {"secret": "ternary", "error": "binomial:21", **policy}
        if self.scheme == "bfv":
            if scale is not None:
                raise InputError("a scale goes with CKKS, and the parameters are of BFV")
            return _native.BfvContext(self.n, self.data, self.special, self.plain_modulus, **options)
        default = 2.0 ** self.data[-1].bit_length()
        return _native.CkksContext(self.n, self.data, self.special, scale or default, **options)

    def _check_limits(self) -> None:
        """Refuse what would take too much memory before any is taken."""
        if self.n > MAX_DEGREE:
            raise InputError(f"a set of degree {self.n}; at most {MAX_DEGREE} is read")
        # Tables of transforms, and in BFV those of as many primes more.
        needed = 2 * 64 * self.n * len(self.moduli)
        if needed > (limit := max_memory()):
            raise InputError(f"a set with {needed} bytes of tables; {limit} may be taken: raise {VARIABLE}")


def ring_of(context: Context) -> Ring:
    """Return a set of the engine's in SEAL's form.

    Raises:
        InputError: it has another number of special primes or digits, or too large primes.
    """
    if isinstance(context, _native.CkksContext):
        scheme, plain = "ckks", 0
    else:
        scheme, plain = "bfv", context.plain_modulus
    data, special = tuple(context.moduli), tuple(context.special)
    if len(special) != (len(data) > 1 or bool(special)):
        raise InputError(f"a set with {len(special)} special primes; SEAL's have one")
    if context.dnum != len(data):
        raise InputError(f"key switching in {context.dnum} digits of {len(data)} primes; SEAL's has one prime a digit")
    if largest := [prime for prime in data + special if prime.bit_length() > MOST_BITS]:
        raise InputError(f"a prime of {largest[0].bit_length()} bits; SEAL's have at most {MOST_BITS}")
    return Ring(scheme, context.n, data + special, plain)


def owner_of(thing: Any) -> bytes:
    """Return the 16 bytes that name whose key an object of the engine belongs to; bytes are taken as they are."""
    if isinstance(thing, bytes):
        return thing
    kinds = (_native.SecretKey, _native.PublicKey, _native.RelinKey, _native.GaloisKeys)
    if not isinstance(thing, (*kinds, _native.BfvCiphertext, _native.CkksCiphertext)):
        raise InputError(
            f"owner: a {type(thing).__name__}; a key, a ciphertext or the 16 bytes of an identity are taken"
        )
    # The first field of the payload, which stands behind 32 bytes of envelope.
    return thing.to_bytes()[32:48]
