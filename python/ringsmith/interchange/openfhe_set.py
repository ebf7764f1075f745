# SPDX-License-Identifier: Apache-2.0
"""Parameter sets of OpenFHE: what its tree of a context says, and the engine's context for it.

A set's bytes have the data primes and how keys are switched; the special primes follow from them: the largest below
2^auxiliary bits that are 1 modulo 2n and no data primes, until their bits are at least those of the largest
digit and four more. Keys have them as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ringsmith import _native
from ringsmith.errors import FormatError, InputError
from ringsmith.interchange.cereal import NAME
from ringsmith.interchange.openfhe_schema import SCHEMES
from ringsmith.interchange.ring import DEGREES, MOST_BITS, Context
from ringsmith.limits import MAX_DEGREE, VARIABLE, max_memory

LIBRARY = "OpenFHE"
#: Techniques of key switching.
BV, HYBRID = 1, 2
_TERNARY = 1
#: Bits that the special primes have more than the largest digit, at least.
_SPARE_BITS = 4
_WORD = (1 << 64) - 1


def failure(text: str) -> FormatError:
    """Return an error of OpenFHE's bytes."""
    return FormatError(f"{LIBRARY} bytes: {text}")


@dataclass(frozen=True)
class Set:
    """A parameter set: `special` is empty for key switching by digits alone (BV); `digits` of ⌈L/digits⌉ primes each.

    `plain_modulus` is 0 in CKKS, `scale` 0.0 in BFV; `slots` what a ciphertext of OpenFHE has.
    """

    scheme: str
    n: int
    data: tuple[int, ...]
    special: tuple[int, ...]
    digits: int
    plain_modulus: int
    scale: float

    def context(self, scale: float | None = None, **policy: Any) -> Context:
        """Return the engine's set.

        Raises:
            ParameterError: the set is not secure by the policy, or the engine has no such one.
        """
        if self.n > MAX_DEGREE:
            raise InputError(f"a set of degree {self.n}; at most {MAX_DEGREE} is read")
        needed = 2 * 64 * self.n * len(self.data + self.special)
        if needed > (limit := max_memory()):
            raise InputError(f"a set with {needed} bytes of tables; {limit} may be taken: raise {VARIABLE}")
        options = {"secret": "ternary", "error": "gaussian:3.2", "dnum": self.digits, **policy}
        if self.scheme == "bfv":
            if scale is not None:
                raise InputError("a scale goes with CKKS, and the parameters are of BFV")
            return _native.BfvContext(self.n, self.data, self.special, self.plain_modulus, **options)
        return _native.CkksContext(self.n, self.data, self.special, scale or self.scale, **options)


def set_of(tree: dict[str, Any], special: tuple[int, ...] | None = None) -> Set:
    """Return the set of a context's tree; `special`: the special primes of keys beside it.

    Raises:
        FormatError: it contradicts itself.
        InputError: a set that is not read.
    """
    scheme = SCHEMES[tree["cc"][NAME].removeprefix("lbcrypto::CryptoParameters")]
    residues = tree["cc"]["value0"]
    learning = residues["value0"]
    ring, encoding = learning["value0"]["elp"], learning["value0"]["enp"]
    n, data = ring["value0"]["rd"], moduli_of(ring)
    if not DEGREES[0] <= n <= DEGREES[1] or n & (n - 1) or ring["value0"]["co"] != 2 * n:
        raise failure(f"a ring of degree {n} and order {ring['value0']['co']}")
    if not data or len(set(data)) != len(data) or any(prime.bit_length() > MOST_BITS for prime in data):
        raise failure(
            f"data primes {', '.join(map(str, data[:4]))}; different ones of at most {MOST_BITS} bits are read"
        )
    _check_kind(learning, residues)
    digits = len(data) if residues["ks"] == BV else min(max(residues["dnum"], 1), len(data))
    if special is None:
        special = () if residues["ks"] == BV else special_primes(n, data, digits, residues["ab"])
    plain = encoding["m"]
    if not 2 <= plain <= (_WORD if scheme == "bfv" else 100):
        raise failure(f"a plaintext modulus or scale of {plain}")
    exact = scheme == "bfv"
    return Set(scheme, n, data, special, digits, plain if exact else 0, 0.0 if exact else 2.0**plain)


def _check_kind(learning: dict[str, Any], residues: dict[str, Any]) -> None:
    """Refuse sets that are made in another way. Raises InputError."""
    for name, found, wanted, what in (
        ("secret key distribution", learning["mo"], (_TERNARY,), "UNIFORM_TERNARY"),
        ("key switching technique", residues["ks"], (BV, HYBRID), "BV and HYBRID"),
        ("digit size", learning["rw"], (0,), "0, a digit for each prime,"),
        ("encryption technique", residues["encs"], (0,), "STANDARD"),
        ("composite degree", residues["cd"], (0, 1), "1"),
    ):
        if found not in wanted:
            raise InputError(f"{LIBRARY} bytes: {name} {found}; {what} is read")


def moduli_of(ring: dict[str, Any]) -> tuple[int, ...]:
    """Return the primes of a polynomial's parameters."""
    return tuple(int(limb["value0"]["cm"]["v"]) for limb in ring["p"])


def special_primes(n: int, data: Sequence[int], digits: int, bits: int) -> tuple[int, ...]:
    """Return the special primes of a set. Raises InputError for auxiliary primes of other sizes."""
    if not 20 <= bits <= MOST_BITS:
        raise InputError(f"{LIBRARY} bytes: auxiliary primes of {bits} bits; 20 to {MOST_BITS} are read")
    each = -(-len(data) // digits)
    largest = max(prod(data[i : i + each]).bit_length() for i in range(0, len(data), each))
    count = -(-(largest + _SPARE_BITS) // bits)
    known = _native.ntt_primes(n, bits, count + len(data))
    return tuple(prime for prime in known if prime not in data)[:count]


def ring_tree(n: int, moduli: Sequence[int], limbs: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Return the parameters of a polynomial; `limbs` keeps those of each modulus."""
    product = prod(moduli)
    words = [product >> shift & _WORD for shift in range(0, product.bit_length(), 64)]
    nothing = {"v": np.zeros(1, np.uint64), "m": 0}
    whole = {"v": np.array(words, np.uint64), "m": product.bit_length()}
    for modulus in moduli:
        if modulus not in limbs:
            numbers = {"cm": modulus, "ru": _root(n, modulus), "bm": 0, "br": 0}
            ring = {"co": 2 * n, "rd": n} | {name: {"v": value} for name, value in numbers.items()}
            limbs[modulus] = {"value0": ring}
    return {
        "value0": {"co": 2 * n, "rd": n, "cm": whole, "ru": nothing, "bm": nothing, "br": nothing},
        "p": [limbs[modulus] for modulus in moduli],
    }


def _root(n: int, q: int) -> int:
    """Return the smallest 2n-th root of unity modulo a prime."""
    root = next(z for g in range(2, q) if pow(z := pow(g, (q - 1) // (2 * n), q), n, q) == q - 1)
    square, power, least = root * root % q, root, root
    for _ in range(n - 1):
        power = power * square % q
        least = min(least, power)
    return least


def context_tree(one: Set) -> dict[str, Any]:
    """Return the tree of a context with OpenFHE's own choice of what a set does not say.

    Raises:
        InputError: OpenFHE derives other special primes than the set has.
    """
    technique = HYBRID if one.special else BV
    derived = special_primes(one.n, one.data, one.digits, MOST_BITS) if one.special else ()
    if one.special != derived:
        raise InputError(
            f"special primes {', '.join(map(str, one.special))}; OpenFHE derives {', '.join(map(str, derived))}: read "
            "a set that OpenFHE wrote, or make one with these"
        )
    ckks = one.scheme == "ckks"
    name = {scheme: name for name, scheme in SCHEMES.items()}[one.scheme]
    zero = {"v": 0}
    encoding = {"m": round(np.log2(one.scale)) if ckks else one.plain_modulus, "ru": zero, "bm": zero, "bru": zero}
    learning = {
        "value0": {
            "elp": ring_tree(one.n, one.data, {}),
            "enp": encoding | {"g": 0, "bs": one.n // 2 if ckks else one.n},
        },
        **{"dp": float(np.float32(3.19)), "am": 36.0, "ns": 1, "rw": 0, "nest": 0.0, "muld": max(len(one.data) - 1, 1)},
        **{"addc": 0, "kswc": 0, "phops": 0, "md": 2, "mo": _TERNARY, "pmo": 0, "mmo": 1, "exm": 0, "dnm": 0},
        **{"slv": 6, "fdp": 0.0, "ss": 30.0 if ckks else 0.0, "aq": float(ckks), "tp": 1},
    }
    residues = {
        "value0": learning,
        **{"ks": technique, "rs": 0 if ckks else 6, "encs": 0, "muls": 1 if ckks else 3, "dnum": one.digits},
        **{"ab": MOST_BITS, "eb": 0, "ccl": 3, "cd": 1, "rws": 64, "cdt": 0},
    }
    scheme = {"value0": {"value0": {"fhe": None, "schswitch": None, "enabled": 11}}}
    return {
        "cc": {NAME: f"lbcrypto::CryptoParameters{name}", "value0": residues},
        "kt": {NAME: f"lbcrypto::Scheme{name}", **scheme},
        "si": 1 if ckks else 2,
    }
