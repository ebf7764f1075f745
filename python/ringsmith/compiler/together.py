# SPDX-License-Identifier: Apache-2.0
"""Several kernels compiled for one parameter set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from ringsmith.compiler.compile import compile_kernel, default_encryption, layouts_of, requirements_of
from ringsmith.compiler.compiled import Compiled
from ringsmith.compiler.lowering.lower import LayoutSearch
from ringsmith.compiler.params import choose, joint
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.errors import KernelError, ParameterError
from ringsmith.frontend.definition import KernelDefinition
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.ir.geometry import Slots

Shapes = Mapping[str, tuple[int, ...]]

#: By how many bits scales, and the base beyond them, may exceed those of the kernels' own where nothing is searched.
_MORE_BITS = (0, 5, 10, 15)
_MOST_BITS = 60
#: How often a larger degree is tried because a kernel does not compile for the set that all bounds allow.
_TRIALS = 3


def compile_together(kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes]) -> list[Compiled]:
    """Compile kernels of one scheme for the smallest set under which the bounds of all of them hold.

    `shapes` has an entry for every argument. With manual kernels or pinned parameters among them it is the smallest of
    their own sets that does for all, else one with the depth, scale and plaintext modulus of the most demanding.
    """
    if len(kernels) == 1:
        return [compile_kernel(kernels[0], shapes[0])]
    if any(one.manual or one.params is not None for one in kernels):
        return _for_own_set(kernels, shapes)
    searches = [layouts_of(one, own) for one, own in zip(kernels, shapes, strict=True)]
    wishes = joint.joint([_wish(*each) for each in zip(kernels, searches, strict=True)], [one.name for one in kernels])
    reason = ""
    for _ in range(_TRIALS):
        params = _searched(wishes, searches, kernels, shapes)
        try:
            made = zip(kernels, shapes, searches, strict=True)
            return [_pinned(one, own, search, _request(params)) for one, own, search in made]
        except (KernelError, ParameterError) as error:
            # Keys beyond their limit or contrived constants make more noise than the search reckoned with.
            reason, wishes = str(error).splitlines()[0], replace(wishes, least_degree=2 * params.n)
    raise _nothing_common(kernels, shapes, reason)


def _wish(kernel: KernelDefinition, search: LayoutSearch) -> choose.Requirements:
    encryption = kernel.encryption or default_encryption(kernel.scheme)
    wish = requirements_of(kernel, search.graph.output.bound, encryption)
    return replace(wish, least_depth=search.graph.least_depth())


def _searched(
    wishes: joint.Joint, searches: Sequence[LayoutSearch], kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes]
) -> ParameterSet:
    """Return the smallest set for all kernels."""

    def lower(slots: Slots) -> joint.Programs:
        return tuple(search(slots) for search in searches)

    try:
        return choose.fewer_digits(choose.smallest(wishes, lower), wishes).params
    except ParameterError as error:
        raise _nothing_common(kernels, shapes, str(error)) from None


def _nothing_common(kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes], reason: str) -> ParameterError:
    """Return the error that says what each kernel takes by itself."""
    alone = []
    for one, own in zip(kernels, shapes, strict=True):
        try:
            params = compile_kernel(one, own).params
        except ParameterError as error:
            return ParameterError(f"{one.name} has no parameters even by itself: {error}")
        alone.append(f"{one.name} takes n = {params.n}, {params.split}")
    return ParameterError(f"these kernels share no parameters ({'; '.join(alone)}): {reason}")


def _request(params: ParameterSet) -> ParamRequest:
    return ParamRequest(
        n=params.n, moduli=params.moduli, special=params.special, dnum=params.dnum,
        plain_modulus=params.plain_modulus or None, log2_scale=params.log2_scale or None, secret=params.secret,
        error=params.error, scheme=params.scheme, name="common", source="chosen for several kernels",
    )  # fmt: skip


def _pinned(kernel: KernelDefinition, shapes: Shapes, search: LayoutSearch | None, request: ParamRequest) -> Compiled:
    modulus = kernel.plain_modulus
    if modulus is not None and modulus != request.plain_modulus:
        raise ParameterError(
            f"kernel {kernel.name} computes modulo {modulus}, another needs plain_modulus {request.plain_modulus}"
        )
    return compile_kernel(kernel.options(params=request), shapes, search=search)


# ---------------------------------------------------------------------- Manual kernels, pinned parameters


def _for_own_set(kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes]) -> list[Compiled]:
    alone = [compile_kernel(one, own) for one, own in zip(kernels, shapes, strict=True)]
    if len({program.params for program in alone}) == 1:
        return alone
    reason = ""
    for request in _requests([program.params for program in alone]):
        try:
            made = zip(kernels, shapes, alone, strict=True)
            return [_pinned_too(one, own, program, request) for one, own, program in made]
        except (KernelError, ParameterError) as error:
            reason = str(error).splitlines()[0]
    raise _nothing_common(kernels, shapes, reason)


def _pinned_too(kernel: KernelDefinition, shapes: Shapes, alone: Compiled, request: ParamRequest) -> Compiled:
    if kernel.params is not None and alone.params.moduli != request.moduli:
        raise ParameterError(f"kernel {kernel.name} pins its parameters (params=...)")
    return _pinned(kernel, shapes, None, request)


def _requests(sets: Sequence[ParameterSet]) -> Iterator[ParamRequest]:
    """Yield sets to try: the kernels' own from the smallest, then what demands most of each."""
    modulus = max(own.plain_modulus for own in sets) or None
    for own in sorted(sets, key=lambda own: (own.n, own.log2_qp)):
        if (own.plain_modulus or None) == modulus:
            yield _request(own)
    most = max(sets, key=lambda own: len(own.moduli))
    base = max(own.moduli[0].bit_length() for own in sets)
    least = max(round(own.log2_scale) for own in sets)
    step = max([least, *(q.bit_length() for q in most.moduli[1:])])
    for n in (n for n in choose.DEGREES if n >= max(own.n for own in sets)):
        for more, room in product(_MORE_BITS if least else (0,), _MORE_BITS):
            first = min(base + more + room, _MOST_BITS)
            data = (first, *([min(step + more, _MOST_BITS)] * (len(most.moduli) - 1)))
            yield ParamRequest(
                n=n, data_bits=data, special_bits=(max(data),), log2_scale=data[-1] if least else None,
                plain_modulus=modulus, name="common", source="chosen for several kernels",
            )  # fmt: skip
