# SPDX-License-Identifier: Apache-2.0
"""Parameter sets: the checked set, and the named sets of `spec/params/*.toml`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from ringsmith import _native, shipped
from ringsmith.compiler.params import primes
from ringsmith.errors import ParameterError
from ringsmith.files import read_toml
from ringsmith.frontend.param_request import Bootstrapping, ParamRequest
from ringsmith.ir.geometry import Slots, slots_of
from ringsmith.scalars import is_int, is_number, is_whole
from ringsmith.shown import Shown

#: Degrees a set may have; below 1024 nothing is secure.
DEGREES = tuple(1 << k for k in range(3, 18))


@dataclass(frozen=True, kw_only=True)
class Security:
    """Security of a set: estimated bits, the table it was judged by, and the largest log2 QP of the wanted level."""

    bits: float
    wanted: int
    table: str
    source: str
    limit: int | None

    @property
    def enough(self) -> bool:
        """Whether the set reaches the wanted level by the table."""
        return self.limit is not None and self.bits >= self.wanted


@dataclass(frozen=True, kw_only=True)
class ParameterSet(Shown):
    """A checked set. `moduli` are the data primes (first prime first), `special` those of key switching."""

    scheme: str
    n: int
    moduli: tuple[int, ...]
    special: tuple[int, ...]
    dnum: int
    log2_scale: float
    plain_modulus: int
    secret: str
    error: str
    security: Security
    name: str
    source: str
    bootstrapping: Bootstrapping | None = None

    def __repr__(self) -> str:
        """Return scheme, degree, primes and security in short."""
        secure = f"{self.security.bits:.0f} bits of security"
        return f"<ParameterSet {self.name}: {self.scheme}, n = {self.n}, {self.split} bits, {secure}>"

    def _facts(self) -> list[tuple[str, str]]:
        scale, t = ("scale", f"2^{self.log2_scale:g}"), ("plain_modulus", str(self.plain_modulus))
        own = self.bootstrapping
        refreshes = [("bootstrapping", repr(own))] if own else []
        return [
            *refreshes,
            ("moduli", ", ".join(map(str, self.moduli))),
            ("special", ", ".join(map(str, self.special)) or "none"),
            ("digits", str(self.dnum)),
            scale if self.scheme == "ckks" else t,
            ("security", self.security.source),
            ("source", self.source),
        ]

    @property
    def slots(self) -> int:
        """Values per ciphertext: n in BFV, as two rows of n/2; n/2 in CKKS."""
        return self.geometry.count

    @property
    def geometry(self) -> Slots:
        """Rows of slots and their width, a rotation's cycle."""
        return slots_of(self.scheme, self.n)

    @property
    def log2_q(self) -> float:
        """Size of the ciphertext modulus in bits."""
        return sum(math.log2(q) for q in self.moduli)

    @property
    def log2_p(self) -> float:
        """Size of the special modulus in bits."""
        return sum(math.log2(p) for p in self.special)

    @property
    def log2_qp(self) -> float:
        """Size of the whole modulus: what security is judged by."""
        return self.log2_q + self.log2_p

    @property
    def moduli_bits(self) -> tuple[int, ...]:
        """Bit lengths of all primes, the special ones last."""
        return tuple(q.bit_length() for q in (*self.moduli, *self.special))

    @property
    def split(self) -> str:
        """The primes in bits, as `109 = 36+36+37`."""
        bits = self.moduli_bits
        return f"{sum(bits)} = {'+'.join(map(str, bits))}"


def table_of(standard: str) -> str:
    """Return the security table's name for `2024` or `2018`."""
    return f"{standard}-classical"


def judge(
    n: int, log2_qp: float, wanted: int, standard: str, secret: str = "ternary", error: str = "binomial:21"
) -> Security:
    """Return how secure degree n and modulus size are by a table, for the weakest of what is drawn."""
    table = table_of(standard)
    known = _native.judge_security(n, log2_qp, wanted, table=table, secret=secret, error=error)
    bits, limit = known.estimated_bits, known.limit
    if limit is not None and log2_qp <= limit:
        bits = max(bits, float(wanted))
    elif limit is not None:
        bits = min(bits, wanted - 0.1)
    return Security(bits=bits, wanted=wanted, table=table, source=known.source, limit=limit)


def _check_numbers(request: ParamRequest) -> None:
    """Refuse a value that is not a number: Python's True would pass as 1."""
    for name in (*_LISTS, "n", "dnum", "log2_scale", "plain_modulus"):
        value = getattr(request, name)
        items = value if name in _LISTS and isinstance(value, tuple | list) else [value]
        fits = is_number if name == "log2_scale" else is_whole
        if not all(fits(item) or (item is None and name not in (*_LISTS, "n")) for item in items):
            raise ParameterError(
                f"ParamRequest: {name}={value!r}; whole numbers are needed, log2_scale may have a fraction"
            )


def check(
    request: ParamRequest,
    scheme: str,
    *,
    security: int,
    standard: str,
    allow_insecure: bool,
    plain_modulus: int | None = None,
) -> ParameterSet:
    """Return the checked set, its primes found.

    Raises ParameterError for a wrong scheme, degree or prime, a missing scale or plaintext modulus, and for a set
    below the wanted security without the opt-in.
    """
    _check_numbers(request)
    if request.scheme not in (None, scheme):
        raise ParameterError(f"parameter set {request.name} is for {request.scheme}, the kernel is {scheme}")
    if request.n not in DEGREES:
        raise ParameterError(f"n = {request.n}: a power of two from {DEGREES[0]} to {DEGREES[-1]} is needed")
    moduli = request.moduli or _found(request)
    special = request.special or primes.of_sizes(request.n, request.special_bits, moduli)
    if not moduli:
        raise ParameterError(f"parameter set {request.name} has no data primes")
    t = plain_modulus or request.plain_modulus or 0
    if scheme == "bfv" and t < 2:
        raise ParameterError(f"parameter set {request.name} fixes no plaintext modulus; give plain_modulus=")
    if scheme == "ckks" and request.log2_scale is None:
        raise ParameterError(f"parameter set {request.name} fixes no scale; give log2_scale=")
    log2_qp = sum(math.log2(q) for q in (*moduli, *special))
    judged = judge(request.n, log2_qp, security, standard, request.secret, request.error)
    if not judged.enough and not allow_insecure:
        limit = "nothing for these" if judged.limit is None else f"log2 QP <= {judged.limit}"
        raise ParameterError(
            f"parameter set {request.name} (n = {request.n}, log2 QP = {log2_qp:.1f}, {request.secret} secret, "
            f"{request.error} error) has about {judged.bits:.0f} bits of security, {security} are wanted "
            f"({judged.source} allows {limit}); {_secure(request, log2_qp, judged)}, or opt in with "
            "allow_insecure=True (--allow-insecure)"
        )
    return ParameterSet(
        scheme=scheme, n=request.n, moduli=tuple(moduli), special=tuple(special),
        dnum=request.dnum or len(moduli), log2_scale=request.log2_scale or 0.0, plain_modulus=t,
        secret=request.secret, error=request.error, security=judged, name=request.name, source=request.source,
        bootstrapping=_bootstrapping(request, scheme),
    )  # fmt: skip


def _found(request: ParamRequest) -> tuple[int, ...]:
    """Return the data primes of a set that names their lengths."""
    if request.bootstrapping is None or request.log2_scale is None:
        return primes.of_sizes(request.n, request.data_bits)
    return primes.refreshed_chain(request.n, request.data_bits, request.log2_scale)


def _bootstrapping(request: ParamRequest, scheme: str) -> Bootstrapping | None:
    """Return the bootstrapping of a set, its numbers numbers; the engine checks that they fit."""
    own = request.bootstrapping
    if own is None:
        return None
    if not isinstance(own, Bootstrapping) or scheme != "ckks":
        raise ParameterError(f"ParamRequest: bootstrapping={own!r}; an rs.Bootstrapping is needed, and CKKS")
    for name, kind in (("bound", is_number), ("log2_ratio", is_number), ("log2_failure", is_number)):
        if getattr(own, name) is not None and not kind(getattr(own, name)):
            raise ParameterError(f"Bootstrapping: {name}={getattr(own, name)!r}; a finite number is needed")
    for name in ("slots_to_coeffs", "coeffs_to_slots", "weight", "degree", "doublings", "arcsine", "passes"):
        value = getattr(own, name)
        if not is_int(value) or not 0 <= value < 1 << 16:
            raise ParameterError(f"Bootstrapping: {name}={value!r}; a whole number below 65536 is needed")
    if own.key_bytes is not None and not (is_int(own.key_bytes) and 0 <= own.key_bytes < 1 << 63):
        raise ParameterError(f"Bootstrapping: key_bytes={own.key_bytes!r}; a number of bytes is needed, or None")
    return own


def _secure(request: ParamRequest, log2_qp: float, judged: Security) -> str:
    """Return what makes primes of these sizes as secure as wanted, in words: another secret or error where the table
    knows none as given, a larger degree."""
    standard = judged.table.partition("-")[0]
    usual: tuple[dict[str, str], ...] = ({}, {"secret": "ternary"}, {"error": "binomial:21"})
    for drawn in (*usual, usual[1] | usual[2]):
        given = {"secret": request.secret, "error": request.error, **drawn}
        for n in DEGREES[DEGREES.index(request.n) :]:
            if judge(n, log2_qp, judged.wanted, standard, **given).enough:
                changes = [f'{name}="{value}"' for name, value in drawn.items()]
                return " and ".join([*[f"n = {n}"] * (n > request.n), *changes]) + " would do for primes of these sizes"
    return "take fewer or smaller primes"


def spec_directory() -> Path:
    """Return the folder of the named sets."""
    return shipped.spec() / "params"


def _whole(value: Any) -> bool:
    return is_int(value) and 0 < value < 1 << 128


def _size(value: Any) -> bool:
    return _whole(value) and value <= 127


def _real(value: Any) -> bool:
    return (is_int(value) or isinstance(value, float)) and abs(value) < 1 << 16


def _line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def _fields(value: Any) -> bool:
    return isinstance(value, dict) and set(value) <= {one.name for one in fields(Bootstrapping)}


_LISTS = ("data_bits", "special_bits", "moduli", "special")
# Type of each key of a set's file, or of its list's items.
_HOLDS: dict[str, Callable[[Any], bool]] = {
    "n": _whole, "data_bits": _size, "special_bits": _size, "moduli": _whole, "special": _whole, "dnum": _size,
    "log2_scale": _real, "plain_modulus": _whole, "secret": _line, "error": _line, "scheme": _line, "source": _line,
    "bootstrapping": _fields,
}  # fmt: skip


@cache
def named_sets() -> dict[str, ParamRequest]:
    """Return every named set (`security.toml` holds tables, not sets)."""
    found: dict[str, ParamRequest] = {}
    for path in sorted(spec_directory().glob("*.toml")):
        if path.name == "security.toml":
            continue
        for name, entry in read_toml(path).items():
            found[name] = _request(f"{path}: set {name}", name, entry)
    return found


def _request(what: str, name: str, entry: Any) -> ParamRequest:
    """Return a set as a file writes it; ParameterError for a key that no set has and a value of another kind."""
    if not isinstance(entry, dict):
        raise ParameterError(f"{what} is no table")
    for key, value in entry.items():
        if key not in _HOLDS:
            raise ParameterError(f"{what} has the unknown key {key!r}")
        items = value if isinstance(value, list) and key in _LISTS else [value]
        if (isinstance(value, list) != (key in _LISTS)) or not all(map(_HOLDS[key], items)):
            raise ParameterError(f"{what} has a {key} of another kind than it needs")
    if "n" not in entry:
        raise ParameterError(f"{what} has no n")
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
    if "bootstrapping" in values:
        values["bootstrapping"] = Bootstrapping(**values["bootstrapping"])
    return ParamRequest(**values, name=name)


def find(name: str) -> ParamRequest:
    """Return the set of that name."""
    sets = named_sets()
    if name not in sets:
        raise ParameterError(f"no parameter set {name!r}; there are {', '.join(sorted(sets))}")
    return sets[name]
