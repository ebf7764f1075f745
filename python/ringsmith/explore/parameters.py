# SPDX-License-Identifier: Apache-2.0
"""The parameter sets of a search: each compiles the kernel, or says why it cannot.

From the smallest set that the compiler finds (and the set that the kernel pins) follow others: longer primes, more or
narrower towers, larger degrees, more special primes with fewer digits. Security and tolerance are the compiler's to
judge: a set that it refuses is a point with the compiler's reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ringsmith.compiler.compile import compile_kernel
from ringsmith.compiler.compiled import Compiled
from ringsmith.compiler.params import primes
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.errors import InputError, KernelError, ParameterError, RingsmithError
from ringsmith.frontend.definition import KernelDefinition
from ringsmith.frontend.param_request import ParamRequest

#: The largest degree that a build holds (spec/build.yaml, n_max).
LARGEST_DEGREE = 32768
#: By how many bits longer than the shortest that do, CKKS scales and primes are tried.
LONGER = (0, 4, 8)
#: Lengths in bits that BFV's towers are cut to.
TOWERS = (30, 36, 46, 54, 60)
#: How many times the degree is doubled.
DOUBLINGS = 1

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Candidate:
    """A parameter set that compiles the kernel: its name in the search, and the program for it."""

    name: str
    compiled: Compiled

    @property
    def params(self) -> ParameterSet:
        """The set."""
        return self.compiled.params

    @property
    def error_bits(self) -> float:
        """CKKS: log2 of the bound on the error; BFV: minus the bits of noise budget left. Less is better."""
        bits = float(self.compiled.native.guarantee["bits"])
        return bits if self.params.scheme == "ckks" else -bits

    @property
    def traffic_bytes(self) -> int:
        """Bytes of residues that a run sends and receives; a seeded ciphertext sends one polynomial."""
        native = self.compiled.native
        seeded = native.encryption == "secret"
        sent = sum(self._bytes(one["level"], 1 if seeded else one["size"]) for one in native.inputs())
        return sent + sum(self._bytes(one["level"], one["size"]) for one in native.outputs())

    def _bytes(self, level: int, polynomials: int) -> int:
        bits = sum(q.bit_length() for q in self.params.moduli[: level + 1])
        return polynomials * bits * self.params.n // 8

    @property
    def word_bits(self) -> int:
        """Bits of the longest prime."""
        return max(self.params.moduli_bits)


@dataclass(frozen=True)
class Refused:
    """A parameter set that does not do, and the compiler's reason."""

    name: str
    reason: str


def candidates(kernel: KernelDefinition, shapes: Shapes, names: Sequence[str] = ()) -> list[Candidate | Refused]:
    """Return the sets for a kernel, each under a name of its own: those named, or those that a search tries.

    Raises:
        InputError: no set's name.
        KernelError, ParameterError: the kernel compiles for no set at all.
    """
    found: dict[str, Candidate | Refused] = {}
    free = kernel.options(params=None)
    tried = (_compiled(free, shapes, request_named(name)) for name in names) if names else _tried(kernel, shapes)
    for name, made in tried:
        found.setdefault(made.name if isinstance(made, Candidate) else name, made)
    return list(found.values())


def request_of(params: ParameterSet, **changes: Any) -> ParamRequest:
    """Return the request that gives a set again, some of it changed."""
    request = ParamRequest(
        n=params.n, moduli=params.moduli, special=params.special, dnum=params.dnum,
        log2_scale=params.log2_scale if params.scheme == "ckks" else None,
        plain_modulus=params.plain_modulus or None, secret=params.secret, error=params.error,
        name="explored", source="found by ringsmith explore",
    )  # fmt: skip
    return replace(request, **changes)


def name_of(n: int, data: Sequence[int], special: Sequence[int], dnum: int, log2_scale: float | None) -> str:
    """Return the name of a set in a search: degree, data primes and special primes in bits, digits, scale."""
    scale = "" if log2_scale is None else f"s{log2_scale:g}"
    return f"n{n}q{_runs(data)}p{_runs(special)}d{dnum}{scale}".replace(".", "_")


def request_named(name: str) -> ParamRequest:
    """Return the request for a set of such a name, its primes the largest of their lengths.

    Raises:
        InputError: no set's name.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise InputError(
            f"{name!r} is no set's name: degree, data primes and special ones in bits, digits, CKKS: log2 of the "
            "scale, as in n8192q50-40x2p50d3s40"
        )
    n, data, special, dnum, scale = match.groups()
    return ParamRequest(
        n=int(n), data_bits=_sizes(data), special_bits=_sizes(special), dnum=int(dnum),
        log2_scale=None if scale is None else float(scale.replace("_", ".")),
        name="explored", source="named for ringsmith explore",
    )  # fmt: skip


_RUN = r"\d{1,3}(?:x\d{1,2})?"
_NAME = re.compile(rf"n(\d{{1,6}})q({_RUN}(?:-{_RUN})*)p({_RUN}(?:-{_RUN})*)d(\d{{1,2}})(?:s(\d{{1,3}}(?:_\d+)?))?")


def _sizes(runs: str) -> tuple[int, ...]:
    """Return the sizes of runs: the inverse of `_runs`."""
    pairs = (run.partition("x") for run in runs.split("-"))
    return tuple(int(bits) for bits, _, count in pairs for _ in range(int(count or 1)) if int(bits))


def _runs(sizes: Sequence[int]) -> str:
    """Return sizes in bits, equal neighbours together: `50-40x3`; 0 for none."""
    runs = [(bits, len(list(same))) for bits, same in groupby(sizes)]
    return "-".join(f"{bits}x{count}" if count > 1 else str(bits) for bits, count in runs) or "0"


def _tried(kernel: KernelDefinition, shapes: Shapes) -> Iterator[tuple[str, Candidate | Refused]]:
    roots = []
    if kernel.params is not None:
        roots.append(_candidate(compile_kernel(kernel, shapes)))
        yield roots[0].name, roots[0]
    free = kernel.options(params=None)
    chosen: list[Compiled] = []
    failed: dict[str, Exception] = {}
    for bits in _towers(kernel):
        try:
            chosen.append(compile_kernel(free, shapes, None, bits))
        except (KernelError, ParameterError) as error:
            failed[f"towers{bits}"] = error
    if failed and not chosen and not roots:
        raise next(iter(failed.values()))
    for name, reason in failed.items():
        yield name, Refused(name, _line(reason))
    for degree in chosen[0].rejected if chosen else ():
        yield f"n{degree.n}", Refused(f"n{degree.n}", degree.reason.removeprefix(f"n = {degree.n}: "))
    for made in chosen:
        roots.append(_candidate(made))
        yield roots[-1].name, roots[-1]
    for root in roots:
        for request in _variants(root.params):
            yield _compiled(free, shapes, request)


def _towers(kernel: KernelDefinition) -> tuple[int, ...]:
    """Return the lengths that towers are cut to: CKKS primes are as long as their scale."""
    return TOWERS if kernel.scheme == "bfv" else TOWERS[2:3]


def _variants(params: ParameterSet) -> Iterator[ParamRequest]:
    for doubling in range(DOUBLINGS + 1):
        n = params.n << doubling
        if n > LARGEST_DEGREE:
            return
        for more in LONGER if params.scheme == "ckks" else (0,):
            for specials in range(1, len(params.moduli) + 1) if params.special else (0,):
                if (doubling, more, specials) != (0, 0, len(params.special)):
                    yield _longer(params, n, more, specials)


def _longer(params: ParameterSet, n: int, more: int, specials: int) -> ParamRequest:
    """Return a set of the same shape over another degree: `specials` special primes, all `more` bits longer."""
    data = tuple(min(60, q.bit_length() + more) for q in params.moduli)
    dnum = -(-len(data) // specials) if specials else len(data)
    t = params.plain_modulus
    if t and t % (2 * n) != 1:
        t = primes.plain_modulus(n, t)
    return request_of(
        params, n=n, moduli=(), special=(), data_bits=data, special_bits=(max(data),) * specials, dnum=dnum,
        log2_scale=params.log2_scale + more if params.scheme == "ckks" else None, plain_modulus=t or None,
    )  # fmt: skip


def _compiled(kernel: KernelDefinition, shapes: Shapes, request: ParamRequest) -> tuple[str, Candidate | Refused]:
    name = name_of(request.n, request.data_bits, request.special_bits, request.dnum or 0, request.log2_scale)
    try:
        return name, _candidate(compile_kernel(kernel.options(params=request), shapes, advise=False))
    except RingsmithError as error:
        return name, Refused(name, _line(error))


def _candidate(compiled: Compiled) -> Candidate:
    params = compiled.params
    bits = [[q.bit_length() for q in part] for part in (params.moduli, params.special)]
    scale = params.log2_scale if params.scheme == "ckks" else None
    return Candidate(name_of(params.n, bits[0], bits[1], params.dnum, scale), compiled)


def _line(error: Exception) -> str:
    return str(error.message if isinstance(error, KernelError) else error).splitlines()[0]
