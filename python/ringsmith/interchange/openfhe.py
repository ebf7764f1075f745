# SPDX-License-Identifier: Apache-2.0
"""OpenFHE's bytes as the engine's objects, and the other way: its binary and its JSON serialisation.

Both libraries have the same values of transforms, digits and special primes behind the data primes, so residues of
ciphertexts, public and relinearisation keys are taken as they are. OpenFHE's key of an element g switches c1 before
its image is taken, ours afterwards: one is the image under x -> x^g of the other.
"""

from __future__ import annotations

import re
import struct
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.interchange.cereal import DECLARED, FIRST, NAME, BinarySource, JsonSource, JsonTarget, Source, Target
from ringsmith.interchange.cursor import Words
from ringsmith.interchange.openfhe_schema import FILES, SWITCHING_CLASS
from ringsmith.interchange.openfhe_set import LIBRARY, Set, context_tree, failure, moduli_of, ring_tree, set_of
from ringsmith.interchange.ring import MOST_BITS, Cipher, Context, Object, owner_of

__all__ = ["SERIALISATIONS", "is_openfhe", "read", "read_set", "write"]

SERIALISATIONS = ("binary", "json")
#: Bytes at the front in which a class of the library is named.
_FRONT = 1 << 14
_EVALUATION = 0
_PACKED, _CKKS_PACKED = 2, 4


def is_openfhe(data: bytes) -> bool:
    """Whether bytes start as OpenFHE's do, in either serialisation."""
    front = bytes(data[:_FRONT])
    return (front[:1] == b"\x01" or front[:1] == b"{") and b"lbcrypto::" in front


def _is_json(data: bytes) -> bool:
    return data[:1] == b"{"


def _kind(data: bytes) -> str:
    """Return what bytes hold, by how they begin. Raises InputError for a secret key or a plaintext."""
    if _is_json(data):
        return _kind_of_json(data)
    polymorphic, number = struct.unpack("<II", bytes(data[1:9]).ljust(8, b"\0"))
    if (polymorphic, number) != (DECLARED, FIRST | 1):
        # A map: the tag of the keys, then a list of pointers to classes that are named, or a pointer to a map.
        place = 17 + int.from_bytes(data[9:17], "little")
        (first,) = struct.unpack("<I", bytes(data[place : place + 4]).ljust(4, b"\0"))
        return "rotation keys" if first & FIRST else "relinearization key"
    versions = struct.unpack("<3I", bytes(data[9:21]).ljust(12, b"\0"))
    if versions[0] == 1:
        return "ciphertext" if versions[1] == 0 else "parameters"
    return "public key"


def _kind_of_json(data: bytes) -> str:
    text = re.sub(rb"\s+", b"", bytes(data[:_FRONT]))
    if text.startswith(b'{"value0":['):
        return "relinearization key" if text.partition(b'"value":')[2][:1] == b"[" else "rotation keys"
    first = text.partition(b'"data":{')[2]
    if first.startswith(b'"cereal_class_version":1,"cc"'):
        return "parameters"
    return "ciphertext" if first.startswith(b'"cereal_class_version":1,') else "public key"


def _tree(data: bytes) -> tuple[str, Any]:
    """Return the kind of an object and its tree. Raises FormatError for damaged bytes."""
    kind = _kind(data)
    source: Source = JsonSource(data, LIBRARY) if _is_json(data) else BinarySource(data, LIBRARY)
    tree = FILES[kind].read(source, "value0")
    source.finish()
    return kind, tree


def _owner_tree(kind: str, tree: Any) -> dict[str, Any]:
    """Return what an object says of its context and keys: `cc` and `kt`."""
    match kind:
        case "ciphertext":
            inner = tree["value0"]
        case "public key":
            inner = tree["value0"]["value0"]
        case _:
            inner = _first_key(tree)["value0"]["value0"]["value0"]
    found: dict[str, Any] = inner
    return found


def _first_key(tree: Any) -> dict[str, Any]:
    keys = next(iter(tree.values()), None)
    keys = list(keys.values()) if isinstance(keys, dict) else keys
    if not keys or len(tree) != 1:
        raise InputError(f"{LIBRARY} bytes: keys of {len(tree)} key tags; those of one are read")
    found: dict[str, Any] = keys[0]
    return found


def _set(kind: str, tree: Any) -> tuple[Set, dict[str, Any]]:
    """Return the set of an object and its context's tree; keys say their special primes themselves."""
    if kind == "parameters":
        return set_of(tree), tree
    context = _owner_tree(kind, tree)["cc"]
    special = None
    if kind in ("relinearization key", "rotation keys") and (digits := _first_key(tree)["ak"]):
        data, moduli = set_of(context, ()).data, moduli_of(digits[0]["p"])
        if moduli[: len(data)] != data:
            raise failure("a key over other data primes than its set has")
        special = moduli[len(data) :]
    return set_of(context, special), context


def read_set(data: bytes, scale: float | None = None, **policy: Any) -> Context:
    """Return the set of any of OpenFHE's objects. Raises as `read`."""
    kind, tree = _tree(data)
    return _set(kind, tree)[0].context(scale, **policy)


def read(
    data: bytes, context: Context | None = None, *, owner: Any = None, scale: float | None = None, **policy: Any
) -> Object:
    """Return what OpenFHE's bytes hold: a context, a ciphertext, a public, a relinearisation key or rotation keys.

    Args:
        data: What `Serialize` or the context's `SerializeEval…Key` wrote, BINARY or JSON.
        context: The set of every object but a set; `read_set` of any of them gives it, that of keys in any release.
        owner: Whose key it belongs to: a key or ciphertext of the same owner, or 16 bytes (default: the key tag).
        scale: The default scale of a set of CKKS (default: that of the set).
        policy: Judges a set: `security` (128 bits), `table`, `allow_insecure` (False).

    Raises:
        FormatError: the bytes are damaged, or those of another set.
        InputError: an object that is not read, such as a secret key.
        ParameterError: the set is not secure by the policy.
    """
    kind, tree = _tree(data)
    if kind == "parameters":
        return _set(kind, tree)[0].context(scale, **policy)
    if context is None:
        raise InputError(f"a {kind} of OpenFHE's: name the file of its context, or of its keys, as parameters")
    if scale is not None or policy:
        raise InputError(f"a scale and a policy of security go with parameters; these bytes hold a {kind}")
    found, _ = _set(kind, tree)
    _check_same(found, context)
    identity = _identity(_owner_tree(kind, tree)["kt"]) if owner is None else owner_of(owner)
    match kind:
        case "ciphertext":
            return _ciphertext(tree, found, context, identity)
        case "public key":
            return _native.PublicKey.from_halves(context, identity, _words(tree["h"], found.n, found.data))
        case "relinearization key":
            (keys,) = tree.values()
            if len(keys) != 1:
                raise InputError(f"OpenFHE bytes: keys of {len(keys)} powers of the secret; that of s² is read")
            return _native.RelinKey.from_halves(context, identity, _switching(keys[0], found))
        case _:
            return _galois_keys(next(iter(tree.values())), found, context, identity)


def _identity(tag: str) -> bytes:
    if not re.fullmatch(r"[0-9a-f]{32}", tag):
        raise InputError(f"OpenFHE bytes: the key tag {tag[:40]!r}, not 32 hexadecimal digits: name an owner")
    return bytes.fromhex(tag)


def _facts(context: Context) -> tuple[Any, ...]:
    plain = 0 if isinstance(context, _native.CkksContext) else context.plain_modulus
    return context.n, tuple(context.moduli), plain, context.dnum


def _check_same(found: Set, context: Context) -> None:
    if (found.n, found.data, found.plain_modulus, found.digits) != _facts(context):
        raise failure("an object of other parameters than those named")


def _words(polys: list[dict[str, Any]], n: int, moduli: tuple[int, ...], form: int = _EVALUATION) -> Words:
    """Return residues of shape (polynomials, primes, n) of polynomials in one form. Raises FormatError."""
    if not polys:
        raise failure("no polynomials")
    rows = []
    for poly in polys:
        if moduli_of(poly["p"]) != moduli or len(poly["v"]) != len(moduli):
            raise failure("a polynomial of other primes than its set has")
        for limb, modulus in zip(poly["v"], moduli, strict=True):
            words, said = limb["v"]["v"], limb["v"]["m"]["v"]
            if (limb["f"], poly["f"]) != (form, form):
                raise failure(f"a polynomial in forms {limb['f']} and {poly['f']}; {form} is due")
            if len(words) != n or said != modulus:
                raise failure(f"{len(words)} residues modulo {said}; {n} modulo {modulus} are due")
            if words.max() >= modulus:
                raise failure(f"a residue that is not below its prime, {modulus}")
            rows.append(words)
    return np.stack(rows).reshape(len(polys), len(moduli), n)


def _ciphertext(tree: dict[str, Any], found: Set, context: Context, owner: bytes) -> Cipher:
    parts = tree["v"]
    limbs = len(parts[0]["v"]) if parts else 0
    form = parts[0]["f"] if parts else _EVALUATION
    words = _words(parts, found.n, found.data[:limbs], form)
    if isinstance(context, _native.CkksContext):
        if form != _EVALUATION:
            raise failure("a CKKS ciphertext by coefficients")
        return _native.CkksCiphertext.from_residues(context, owner, tree["s"], words)
    if limbs != len(found.data):
        raise InputError(f"OpenFHE bytes: a BFV ciphertext of {limbs} of {len(found.data)} primes")
    return _native.BfvCiphertext.from_residues(context, owner, words, evaluation=form == _EVALUATION)


def _switching(key: dict[str, Any], found: Set) -> Words:
    """Return both halves of a key: of shape (digits, 2, primes, n), b before a."""
    moduli = found.data + found.special
    a, b = (_words(key[half], found.n, moduli) for half in ("ak", "bk"))
    if len(a) != len(b):
        raise failure(f"a key of {len(a)} and {len(b)} digits")
    return np.stack([b, a], axis=1)


def _galois_keys(keys: dict[int, Any], found: Set, context: Context, owner: bytes) -> _native.GaloisKeys:
    made = []
    for element, key in keys.items():
        if not (element % 2 and element < 2 * found.n):
            raise failure(f"a key of element {element}; odd numbers below {2 * found.n} are those of automorphisms")
        halves = _switching(key, found)[..., images(found.n, element)]
        made.append(_native.GaloisKeys.from_halves(context, owner, element, halves))
    while len(made) > 1:  # in pairs: each union copies
        made = [one.united(made[i + 1]) if i + 1 < len(made) else one for i, one in enumerate(made) if i % 2 == 0]
    return made[0]


def images(n: int, element: int) -> NDArray[np.int64]:
    """Return which place of the values moves to each place: values stand at odd powers of a root, bit-reversed."""
    bits = n.bit_length() - 1
    places = np.zeros(1, np.int64)
    for bit in range(bits):
        places = np.concatenate([places, places + (1 << (bits - 1 - bit))])
    powers = (2 * places + 1) * element % (2 * n)
    found: NDArray[np.int64] = places[(powers - 1) // 2]
    return found


def write(thing: Object, context: Context, like: bytes | None = None, serialisation: str = "binary") -> bytes:
    """Return an object of the engine's, which belongs to `context`, as OpenFHE's bytes.

    Args:
        thing: A context, a ciphertext, a public, a relinearisation key or rotation keys.
        context: Its set.
        like: Any object of OpenFHE's of the same set: its context is written as it is there, which OpenFHE asks of
            objects that it takes together. Without it, OpenFHE's own choice of what a set does not say.
        serialisation: binary or json.

    Raises:
        InputError: OpenFHE has no such parameters or no such object, such as a key for low levels alone.
    """
    if serialisation not in SERIALISATIONS:
        raise InputError(f"serialisation {serialisation!r}: {', '.join(SERIALISATIONS)}")
    one = _set_of_context(context)
    kind, tree = _written(thing, context, one, _context_like(like, one, context))
    target = JsonTarget() if serialisation == "json" else Target()
    FILES[kind].write(target, "value0", tree)
    return target.finish()


def _set_of_context(context: Context) -> Set:
    n, data, plain, digits = _facts(context)
    special = tuple(context.special)
    if largest := [prime for prime in data + special if prime.bit_length() > MOST_BITS]:
        raise InputError(f"a prime of {largest[0].bit_length()} bits; OpenFHE's have at most {MOST_BITS}")
    if isinstance(context, _native.CkksContext):
        return Set("ckks", n, data, special, digits, 0, context.scale)
    return Set("bfv", n, data, special, digits, plain, 0.0)


def _context_like(like: bytes | None, one: Set, context: Context) -> dict[str, Any]:
    if like is None:
        return context_tree(one)
    found, tree = _set(*_tree(like))
    _check_same(found, context)
    return tree


def _written(thing: Object, context: Context, one: Set, cc: dict[str, Any]) -> tuple[str, Any]:
    """Return the kind of an object and its tree."""
    if isinstance(thing, (_native.BfvContext, _native.CkksContext)):
        return "parameters", cc
    tag = {"cc": cc, "kt": owner_of(thing).hex()}
    rings = _Rings(cc["cc"]["value0"]["value0"]["value0"]["elp"], one)
    match thing:
        case _native.BfvCiphertext() | _native.CkksCiphertext():
            return "ciphertext", _ciphertext_tree(thing, one, tag, rings)
        case _native.PublicKey():
            if thing.extended:
                raise InputError("a public key over Q·P; OpenFHE's is over Q: leave extended out")
            return "public key", {"value0": {"value0": tag}, "h": rings.polys(thing.halves(), one.data)}
        case _native.RelinKey() | _native.GaloisKeys():
            if thing.level != context.max_level:
                raise InputError(
                    f"keys for level {thing.level} and below; OpenFHE's serve level {context.max_level}: "
                    "leave level out"
                )
    if isinstance(thing, _native.RelinKey):
        return "relinearization key", {tag["kt"]: [_key_tree(thing.halves(), one, tag, rings)]}
    if isinstance(thing, _native.GaloisKeys):
        keys = {}
        for element in thing.elements:
            back = images(one.n, pow(element, -1, 2 * one.n))
            keys[element] = _key_tree(thing.halves(element)[..., back], one, tag, rings)
        return "rotation keys", {tag["kt"]: keys}
    raise InputError(f"a {type(thing).__name__}; OpenFHE's bytes are written of parameters, keys and ciphertexts")


class _Rings:
    """Polynomials as trees, which share the parameters of their rings."""

    def __init__(self, ring: dict[str, Any], one: Set) -> None:
        self._n = one.n
        self._limbs: dict[int, dict[str, Any]] = dict(zip(one.data, ring["p"], strict=True))
        self._rings: dict[tuple[int, ...], dict[str, Any]] = {one.data: ring}

    def polys(self, words: Words, moduli: tuple[int, ...]) -> list[dict[str, Any]]:
        """Return polynomials of residues of shape (polynomials, primes, n)."""
        if moduli not in self._rings:
            self._rings[moduli] = ring_tree(self._n, moduli, self._limbs)
        ring = self._rings[moduli]
        return [
            {
                "v": [
                    {"v": {"v": row, "m": {"v": modulus}}, "f": _EVALUATION, "p": self._limbs[modulus]}
                    for row, modulus in zip(poly, moduli, strict=True)
                ],
                "f": _EVALUATION,
                "p": ring,
            }
            for poly in words
        ]


def _ciphertext_tree(thing: Cipher, one: Set, tag: dict[str, Any], rings: _Rings) -> dict[str, Any]:
    exact = isinstance(thing, _native.BfvCiphertext)
    words = thing.residues(evaluation=True) if isinstance(thing, _native.BfvCiphertext) else thing.residues()
    scale = 1.0 if isinstance(thing, _native.BfvCiphertext) else thing.scale
    limbs = words.shape[1]
    return {
        "value0": tag,
        "v": rings.polys(words, one.data[:limbs]),
        "sl": 0 if exact else one.n // 2,
        "l": len(one.data) - limbs,
        "t": 0,
        "d": 1 if exact else max(round(log2(scale) / log2(one.scale)), 1),
        "s": scale,
        "si": {"v": 1},
        "e": _PACKED if exact else _CKKS_PACKED,
        "m": {},
    }


def _key_tree(halves: Words, one: Set, tag: dict[str, Any], rings: _Rings) -> dict[str, Any]:
    moduli = one.data + one.special
    return {
        NAME: SWITCHING_CLASS,
        "value0": {"value0": {"value0": tag}},
        "ak": rings.polys(halves[:, 1], moduli),
        "bk": rings.polys(halves[:, 0], moduli),
    }
