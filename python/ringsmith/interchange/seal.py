# SPDX-License-Identifier: Apache-2.0
"""SEAL's bytes as the engine's objects, and the other way.

Both libraries have the same order of slots, values of transforms and digits of keys, so residues are taken as they are:
only what is around them differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.interchange import seal_objects
from ringsmith.interchange.cursor import Words
from ringsmith.interchange.ring import Cipher, Context, Object, Ring, owner_of, ring_of
from ringsmith.interchange.seal_container import is_seal

__all__ = ["is_seal", "read", "write"]


def read(
    data: bytes, context: Context | None = None, *, owner: Any = None, scale: float | None = None, **policy: Any
) -> Object:
    """Return what SEAL's bytes hold: a context, a ciphertext, a public key, a relinearisation key or Galois keys.

    Args:
        data: What SEAL's `save` wrote, compressed or not, seeded or not.
        context: The set of every object but a set; `read` of the parameters gives it.
        owner: Whose key it belongs to, which SEAL's bytes do not say: a key or ciphertext of the same owner, or 16
            bytes. By default one identity stands for all keys of the set.
        scale: The default scale of a set of CKKS, which SEAL's parameters lack (default: that of the last data prime).
        policy: Judges a set: `security` (128 bits), `table`, `allow_insecure` (False).

    Raises:
        FormatError: the bytes are damaged, or those of another set.
        InputError: an object that is not read, such as a secret key.
        ParameterError: the set is not secure by the policy.
    """
    ring = None if context is None else ring_of(context)
    kind = seal_objects.kind_of(data, ring)
    if ring is None or context is None or kind == "parameters":
        return seal_objects.read_parameters(data).context(scale, **policy)
    if scale is not None or policy:
        raise InputError(f"a scale and a policy of security go with parameters; these bytes hold a {kind}")
    identity = ring.owner if owner is None else owner_of(owner)
    match kind:
        case "ciphertext":
            return _ciphertext(seal_objects.read_ciphertext(data, ring), context, identity)
        case "public key":
            return _native.PublicKey.from_halves(context, identity, seal_objects.read_public_key(data, ring))
        case "relinearization key":
            return _relin_key(seal_objects.read_switching_keys(data, ring), context, identity)
        case _:
            return _galois_keys(seal_objects.read_switching_keys(data, ring), context, identity)


def _ciphertext(found: seal_objects.Polys, context: Context, owner: bytes) -> Cipher:
    if isinstance(context, _native.CkksContext):
        if not found.evaluation:
            raise InputError("SEAL bytes: a CKKS ciphertext that is not in NTT form")
        return _native.CkksCiphertext.from_residues(context, owner, found.scale, found.residues)
    if found.evaluation:
        raise InputError("SEAL bytes: a BFV ciphertext in NTT form; call transform_from_ntt there before it is saved")
    return _native.BfvCiphertext.from_residues(context, owner, found.residues)


def _relin_key(keys: Mapping[int, Words], context: Context, owner: bytes) -> _native.RelinKey:
    if list(keys) != [0]:
        raise InputError(f"SEAL bytes: relinearisation keys of {len(keys)} powers of the secret; that of s² is read")
    return _native.RelinKey.from_halves(context, owner, keys[0])


def _galois_keys(keys: Mapping[int, Words], context: Context, owner: bytes) -> _native.GaloisKeys:
    if not keys:
        raise InputError("SEAL bytes: rotation keys without a key")
    made = [_native.GaloisKeys.from_halves(context, owner, 2 * place + 1, halves) for place, halves in keys.items()]
    while len(made) > 1:  # in pairs: each union copies
        made = [one.united(made[i + 1]) if i + 1 < len(made) else one for i, one in enumerate(made) if i % 2 == 0]
    return made[0]


def write(thing: Object, context: Context) -> bytes:
    """Return an object of the engine's, which belongs to `context`, as SEAL's bytes, not compressed.

    Raises:
        InputError: SEAL has no such parameters or no such object, such as a key for low levels alone.
    """
    ring = ring_of(context)
    match thing:
        case _native.BfvContext() | _native.CkksContext():
            return seal_objects.write_parameters(ring)
        case _native.BfvCiphertext():
            return seal_objects.write_ciphertext(seal_objects.Polys(thing.residues(), False, 1.0), ring)
        case _native.CkksCiphertext():
            _check_slots(thing, ring)
            return seal_objects.write_ciphertext(seal_objects.Polys(thing.residues(), True, thing.scale), ring)
        case _native.PublicKey():
            if ring.special and not thing.extended:
                raise InputError("a public key over Q; SEAL's is an extended one, over Q·P")
            return seal_objects.write_public_key(thing.halves(), ring)
        case _native.RelinKey() | _native.GaloisKeys():
            return _write_switching(thing, context, ring)
    raise InputError(f"a {type(thing).__name__}; SEAL's bytes are written of parameters, public keys and ciphertexts")


def _check_slots(ciphertext: _native.CkksCiphertext, ring: Ring) -> None:
    if ciphertext.slots != ring.n // 2:
        raise InputError(f"a ciphertext of {ciphertext.slots} slots; SEAL's have n/2 = {ring.n // 2}")


def _write_switching(keys: _native.RelinKey | _native.GaloisKeys, context: Context, ring: Ring) -> bytes:
    if keys.level != context.max_level or not ring.special:
        raise InputError(
            f"keys for level {keys.level} and below; SEAL's serve level {context.max_level}: leave level out"
        )
    if isinstance(keys, _native.RelinKey):
        return seal_objects.write_switching_keys({0: keys.halves()}, 1, ring)
    halves = {(element - 1) // 2: np.asarray(keys.halves(element)) for element in keys.elements}
    return seal_objects.write_switching_keys(halves, ring.n, ring)
