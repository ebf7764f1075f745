# SPDX-License-Identifier: Apache-2.0
"""SEAL's parameters, ciphertexts and keys as bytes, by their residues.

A set's bytes: scheme, n, number of primes, primes, plaintext modulus, each modulus an object. A ciphertext's: hash of
the set, NTT flag, polynomials, n, primes, scale, from version 4 a correction factor, an array as an object; a seeded
one has half the array and a generator's seed as an object. A public key is a ciphertext over all primes; key-switching
keys are the hash of the set and a list for each key of public keys, one a digit.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ringsmith.errors import InputError
from ringsmith.interchange.cursor import Cursor, Words
from ringsmith.interchange.ring import DEGREES, MOST_BITS, MOST_PRIMES, Ring
from ringsmith.interchange.seal_container import nested, opened, sealed
from ringsmith.interchange.seal_random import GENERATORS, SEED, uniform

_SCHEMES = {1: "bfv", 2: "ckks"}
_HASH = 32
#: Bytes of a ciphertext before its array.
_META = _HASH + 1 + 4 * 8
#: The most polynomials of a ciphertext.
_MOST_PARTS = 16


@dataclass(frozen=True)
class Polys:
    """A ciphertext or public key: residues of shape (polynomials, primes, n), whether they are in evaluation form."""

    residues: Words
    evaluation: bool
    scale: float


def read_parameters(data: bytes) -> Ring:
    """Return a parameter set. Raises FormatError for damaged bytes, InputError for BGV."""
    cursor = opened(data)
    scheme = cursor.ranged("the scheme", 0, 3, 1)
    if scheme not in _SCHEMES:
        raise InputError(
            f"SEAL bytes: parameters of {('no scheme', 'BGV')[scheme > 0]}; those of BFV and CKKS are read"
        )
    n = cursor.ranged("the degree", *DEGREES)
    count = cursor.ranged("the number of primes", 1, MOST_PRIMES)
    moduli = tuple(_modulus(cursor) for _ in range(count))
    plain = _modulus(cursor)
    cursor.finish()
    if n & (n - 1) or (plain > 0) != (_SCHEMES[scheme] == "bfv"):
        raise cursor.fail(f"no set of {_SCHEMES[scheme].upper()}: degree {n}, plaintext modulus {plain}")
    return Ring(_SCHEMES[scheme], n, moduli, plain)


def _modulus(cursor: Cursor) -> int:
    inner = nested(cursor)
    value = inner.ranged("a modulus", 0, (1 << MOST_BITS) - 1)
    inner.finish()
    return value


def write_parameters(ring: Ring) -> bytes:
    """Return a parameter set as SEAL's bytes."""
    code = {name: code for code, name in _SCHEMES.items()}[ring.scheme]
    moduli = (sealed(modulus.to_bytes(8, "little")) for modulus in (*ring.moduli, ring.plain_modulus))
    return sealed(struct.pack("<BQQ", code, ring.n, len(ring.moduli)) + b"".join(moduli))


def kind_of(data: bytes, ring: Ring | None) -> str:
    """Return which object bytes hold: parameters, ciphertext, public key, relinearization key or rotation keys.

    Raises:
        FormatError: damaged bytes, or an object of another set.
        InputError: a plaintext or secret key, or there is no set to look the object's up in.
    """
    cursor = opened(data)
    body = bytes(cursor.data[: _META + 8])
    if len(body) >= 17 and len(cursor.data) == 17 + 24 * (int.from_bytes(body[9:17], "little") + 1):
        return "parameters"
    if ring is None:
        raise InputError("an object of SEAL's says nothing of its parameters: name their file as parameters")
    level = _level(cursor, ring)
    if len(body) < _META:
        raise cursor.fail(f"an object of {len(body)} bytes")
    if int.from_bytes(body[41:49], "little") == ring.n and 2 <= int.from_bytes(body[33:41], "little") <= _MOST_PARTS:
        return "public key" if level == len(ring.moduli) > len(ring.data) else "ciphertext"
    rows, first = struct.unpack("<QQ", body[_HASH : _HASH + 16])
    if 1 <= rows <= ring.n and first <= len(ring.data):
        return "relinearization key" if first else "rotation keys"
    raise InputError("a plaintext or secret key of SEAL's, which stays there; keys of others and ciphertexts are read")


def _level(cursor: Cursor, ring: Ring) -> int:
    """Return the number of primes of the set whose hash comes next. Raises FormatError for another set's."""
    found = bytes(cursor.take(_HASH, "the hash of the parameters"))
    if found == bytes(_HASH):
        raise InputError("a plaintext of SEAL's; keys and ciphertexts are read")
    if found not in ring.ids:
        raise cursor.fail(
            f"an object of other parameters: their hash is {found[:6].hex()}, not {ring.ids[-1][:6].hex()}"
        )
    return ring.ids.index(found) + 1


def read_ciphertext(data: bytes, ring: Ring) -> Polys:
    """Return a ciphertext, a seeded one with what its seed gives. Raises FormatError."""
    found, level = _polys(opened(data), ring)
    if level > len(ring.data):
        raise InputError("SEAL bytes: a ciphertext over the prime of key switching, such as a public key")
    return found


def read_public_key(data: bytes, ring: Ring) -> Words:
    """Return both halves of a public key, over all primes. Raises FormatError."""
    return _halves(opened(data), ring)


def _halves(cursor: Cursor, ring: Ring) -> Words:
    found, level = _polys(cursor, ring)
    if level != len(ring.moduli) or len(found.residues) != 2 or not found.evaluation:
        raise cursor.fail(f"a key of {len(found.residues)} polynomials over {level} primes; all primes are needed")
    return found.residues


def _polys(cursor: Cursor, ring: Ring) -> tuple[Polys, int]:
    level = _level(cursor, ring)
    evaluation = cursor.ranged("the NTT flag", 0, 1, 1) == 1
    size = cursor.ranged("the number of polynomials", 2, _MOST_PARTS)
    cursor.ranged("the degree", ring.n, ring.n)
    cursor.ranged("the number of primes", level, level)
    (scale,) = cursor.unpack("d", "the scale")
    if not (math.isfinite(scale) and scale > 0):
        raise cursor.fail(f"the scale is {scale}")
    if cursor.version >= (4, 0):
        cursor.ranged("the correction factor", 1, 1)
    array = nested(cursor)
    one = ring.n * level
    count = array.number("the number of words")
    seeded = size == 2 and count == one
    if not seeded and count != size * one:
        raise cursor.fail(f"{count} words; {size} polynomials have {size * one}")
    words = array.words(count, "the residues").reshape(-1, level, ring.n)
    array.finish()
    if seeded:
        words = np.concatenate([words, _grown(cursor, ring, level)[None]])
    cursor.finish()
    _check_reduced(cursor, words, ring)
    return Polys(words, evaluation, float(scale)), level


def _check_reduced(cursor: Cursor, words: Words, ring: Ring) -> None:
    for i in range(words.shape[1]):
        if words[:, i].max() >= ring.moduli[i]:
            raise cursor.fail(f"a residue that is not below its prime, {ring.moduli[i]}")


def _grown(cursor: Cursor, ring: Ring, level: int) -> Words:
    info = nested(cursor)
    kind = info.ranged("the generator", min(GENERATORS), max(GENERATORS), 1)
    seed = bytes(info.take(SEED, "the seed"))
    info.finish()
    return uniform(kind, seed, ring.moduli[:level], ring.n)


def write_ciphertext(found: Polys, ring: Ring) -> bytes:
    """Return a ciphertext as SEAL's bytes."""
    size, level, n = found.residues.shape
    words = found.residues.astype("<u8", copy=False).tobytes()
    meta = struct.pack("<32sBQQQd", ring.ids[level - 1], found.evaluation, size, n, level, found.scale)
    return sealed(meta + sealed((size * level * n).to_bytes(8, "little") + words))


def write_public_key(halves: Words, ring: Ring) -> bytes:
    """Return both halves of a public key over all primes as SEAL's bytes."""
    return write_ciphertext(Polys(halves, True, 1.0), ring)


def read_switching_keys(data: bytes, ring: Ring) -> dict[int, Words]:
    """Return key-switching keys by their place in SEAL's list, halves of shape (digits, 2, primes, n).

    The key of place 0 in a file of relinearisation keys is that of s², of place (g - 1)/2 in one of Galois keys that of
    the element g.

    Raises:
        FormatError: damaged bytes, another set.
    """
    cursor = opened(data)
    if _level(cursor, ring) != len(ring.moduli) or not ring.special:
        raise cursor.fail("switching keys are over all primes of a set with a special one")
    rows = cursor.ranged("the number of keys", 1, ring.n)
    found = {}
    for place in range(rows):
        digits = cursor.ranged("the number of digits", 0, len(ring.data))
        if digits:
            if digits != len(ring.data):
                raise cursor.fail(f"a key of {digits} digits; the set has {len(ring.data)}")
            found[place] = np.stack([_halves(nested(cursor), ring) for _ in range(digits)])
    cursor.finish()
    return found


def write_switching_keys(keys: Mapping[int, Words], rows: int, ring: Ring) -> bytes:
    """Return the keys of `read_switching_keys` in a list of `rows` places as SEAL's bytes."""
    parts: list[bytes] = [ring.ids[-1], rows.to_bytes(8, "little")]
    for place in range(rows):
        digits: Words | Sequence[Words] = keys.get(place, ())
        parts.append(len(digits).to_bytes(8, "little"))
        parts.extend(write_public_key(pair, ring) for pair in digits)
    return sealed(b"".join(parts))
