# SPDX-License-Identifier: Apache-2.0
"""What stands in OpenFHE's bytes, with the names that its JSON has.

Every object but a set has its set inside, once: `cc`, with the tag of the keys, `kt`.
"""

from __future__ import annotations

from ringsmith.interchange.cereal import (
    Nothing,
    Number,
    Owned,
    Pointer,
    Record,
    Schema,
    Sequence,
    Shared,
    Table,
    Text,
    WordList,
)
from ringsmith.interchange.ring import DEGREES, MOST_PRIMES

#: The most polynomials of a ciphertext, and rotation keys of a tag.
MOST_PARTS, MOST_KEYS = 16, DEGREES[1]
#: The most key tags of a file of keys.
MOST_TAGS = 64

_BYTE, _INT, _LONG, _FLOAT, _DOUBLE = (Number(form) for form in "BIQfd")
_BIG = Record("big integer", 0, {"v": WordList(MOST_PRIMES), "m": _INT})
_NATIVE = Record("integer", 0, {"v": _LONG})


def _integers(*names: str) -> dict[str, Schema]:
    return dict.fromkeys(names, _INT)


def _parameters(kind: str, integer: Schema) -> Record:
    """Return the parameters of a ring: order, degree, modulus and root, and what is 0 where n is a power of two."""
    return Record(kind, 0, {"co": _INT, "rd": _INT, "cm": integer, "ru": integer, "bm": integer, "br": integer})


_LIMB_RING = Record("parameters of a limb", 0, {"value0": _parameters("parameters of one modulus", _NATIVE)})
_RING = Record(
    "parameters of a polynomial",
    0,
    {"value0": _parameters("parameters of several moduli", _BIG), "p": Sequence(Pointer(_LIMB_RING), MOST_PRIMES)},
)
_ENCODING = Record(
    "encoding parameters", 0, {"m": _LONG, "ru": _NATIVE, "bm": _NATIVE, "bru": _NATIVE, "g": _INT, "bs": _INT}
)
_BASE = Record("base of parameters", 0, {"elp": Pointer(_RING), "enp": Pointer(_ENCODING)})
_LEARNING_FIELDS: dict[str, Schema] = {
    **{"value0": _BASE, "dp": _FLOAT, "am": _FLOAT, "ns": _LONG, "rw": _INT, "nest": _DOUBLE},
    **_integers("muld", "addc", "kswc", "phops", "md", "mo", "pmo", "mmo", "exm", "dnm", "slv"),
    **{"fdp": _DOUBLE, "ss": _DOUBLE, "aq": _DOUBLE, "tp": _INT},
}
_LEARNING = Record("parameters of learning with errors", 0, _LEARNING_FIELDS)
_RESIDUES = Record(
    "parameters of residues",
    0,
    {"value0": _LEARNING} | _integers("ks", "rs", "encs", "muls", "dnum", "ab", "eb", "ccl", "cd", "rws", "cdt"),
)
_NO_BOOTSTRAPPING = Nothing("a context of OpenFHE's with the feature FHE or SCHEMESWITCH")
_SCHEME = Record("base of a scheme", 0, {"fhe": _NO_BOOTSTRAPPING, "schswitch": _NO_BOOTSTRAPPING, "enabled": _INT})
_SCHEME_RESIDUES = Record("scheme of residues", 0, {"value0": _SCHEME})


def _of_scheme(part: str, inner: Record) -> dict[str, Schema]:
    return {f"lbcrypto::{part.format(name)}": Record(part.format(name), 0, {"value0": inner}) for name in SCHEMES}


#: Schemes by their names in those of classes.
SCHEMES = {"CKKSRNS": "ckks", "BFVRNS": "bfv"}
CONTEXT = Record(
    "context",
    1,
    {
        "cc": Pointer(named=_of_scheme("CryptoParameters{}", _RESIDUES)),
        "kt": Pointer(named=_of_scheme("Scheme{}", _SCHEME_RESIDUES)),
        "si": _INT,
    },
)
_OBJECT = Record("object of a context", 0, {"cc": Pointer(CONTEXT), "kt": Text()})
_VECTOR = Record("vector", 0, {"v": WordList(DEGREES[1]), "m": _NATIVE})
_LIMB = Record("limb", 0, {"v": Owned(_VECTOR), "f": _INT, "p": Pointer(_LIMB_RING)})
POLYNOMIAL = Record("polynomial", 0, {"v": Sequence(_LIMB, MOST_PRIMES), "f": _INT, "p": Pointer(_RING)})
_CIPHERTEXT_FIELDS: dict[str, Schema] = {
    **{"value0": _OBJECT, "v": Sequence(POLYNOMIAL, MOST_PARTS)},
    **_integers("sl", "l", "t", "d"),
    **{"s": _DOUBLE, "si": _NATIVE, "e": _INT},
    "m": Shared(Table(Text(), Nothing("metadata of a ciphertext"), 0)),
}
CIPHERTEXT = Record("ciphertext", 1, _CIPHERTEXT_FIELDS)
KEY = Record("key", 0, {"value0": _OBJECT})
PUBLIC_KEY = Record("public key", 0, {"value0": KEY, "h": Sequence(POLYNOMIAL, 2)})
_EVALUATION_KEY = Record("evaluation key", 0, {"value0": KEY})
_DIGITS = Sequence(POLYNOMIAL, MOST_PRIMES)
_SWITCHING = Record("switching key", 0, {"value0": _EVALUATION_KEY, "ak": _DIGITS, "bk": _DIGITS})
SWITCHING_CLASS = "lbcrypto::EvalKeyRelinImpl<lbcrypto::DCRTPoly>"
_SWITCHING_KEY = Pointer(named={SWITCHING_CLASS: _SWITCHING})

#: What a file of each kind holds.
FILES: dict[str, Schema] = {
    "parameters": Pointer(CONTEXT),
    "ciphertext": Pointer(CIPHERTEXT),
    "public key": Pointer(PUBLIC_KEY),
    "relinearization key": Table(Text(), Sequence(_SWITCHING_KEY, MOST_PARTS), MOST_TAGS),
    "rotation keys": Table(Text(), Shared(Table(_INT, _SWITCHING_KEY, MOST_KEYS)), MOST_TAGS),
}
