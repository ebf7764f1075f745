# SPDX-License-Identifier: Apache-2.0
"""Several kernels compiled for one parameter set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from ringsmith.compiler import links
from ringsmith.compiler.compile import UnboundedError, compile_kernel, degree
from ringsmith.compiler.compiled import Compiled
from ringsmith.compiler.lowering.lower import LayoutSearch
from ringsmith.compiler.params import choose, joint
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.errors import KernelError, ParameterError, RingsmithError
from ringsmith.frontend.definition import PROBABLE, KernelDefinition
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.ir.geometry import Slots
from ringsmith.ir.handed import Source

Shapes = Mapping[str, tuple[int, ...]]

#: By how many bits scales, and the base beyond them, may exceed those of the kernels' own where nothing is searched.
_MORE_BITS = (0, 5, 10, 15)
_MOST_BITS = 60
#: How often a larger degree is tried because a kernel does not compile for the set that all bounds allow.
_TRIALS = 3


#: Tells the identity of a program that the compiler made, which labels of its results carry.
IdentityOf = Callable[[Compiled], bytes]


def compile_together(
    kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes], identity: IdentityOf | None = None
) -> list[Compiled]:
    """Compile kernels of one scheme for the smallest set under which the bounds of all of them hold.

    `shapes` of each kernel's arguments with open extents. With manual kernels or pinned parameters among them it is the
    smallest of their own sets that does for all, else one with the depth, scale and plaintext modulus of the most
    demanding. `identity` is asked of programs whose results others take.
    """
    if any(getattr(argument, "of", None) is not None for one in kernels for argument in one.arguments.values()):
        return _chained(links.linked(kernels, shapes), identity)
    own = [one.shapes(**given) for one, given in zip(kernels, shapes, strict=True)]
    if len(kernels) == 1:
        return [compile_kernel(kernels[0], own[0])]
    if any(one.manual or one.params is not None for one in kernels):
        return _for_own_set(kernels, own)
    try:
        linked = [links.Linked.alone(*each) for each in zip(kernels, own, strict=True)]
    except UnboundedError:
        for each in zip(kernels, own, strict=True):
            compile_kernel(*each)
        raise
    return _chained(linked, identity)


def _chained(linked: Sequence[links.Linked], identity: IdentityOf | None) -> list[Compiled]:
    """Compile automatic kernels, some of which may take the results of others."""
    names = [one.kernel.name for one in linked]
    taken = {by for one in linked for by, _ in one.takes.values()}
    members = [replace(one.wish(), keep=number in taken) for number, one in enumerate(linked)]
    wishes = joint.joint(members, names, [{name: by for name, (by, _) in one.takes.items()} for one in linked])
    reason = ""
    for _ in range(_TRIALS):
        params = _searched(wishes, linked)
        try:
            return _made(linked, wishes, params, identity)
        except (KernelError, ParameterError) as error:
            # Keys beyond their limit or contrived constants make more noise than the search reckoned with.
            reason, wishes = str(error).splitlines()[0], replace(wishes, least_degree=2 * params.n)
    raise _nothing_common([one.kernel for one in linked], [one.shapes for one in linked], reason)


def _made(
    linked: Sequence[links.Linked], wishes: joint.Joint, params: ParameterSet, identity: IdentityOf | None
) -> list[Compiled]:
    """Compile the kernels in their order for a set, each with what is known of the results it takes."""
    made: list[Compiled] = []
    sources: dict[int, Source] = {}
    for number, (one, wish) in enumerate(zip(linked, wishes.members, strict=True)):
        own = {name: sources[by] for name, (by, _) in one.takes.items()}
        made.append(_pinned(one.kernel, one.shapes, one.search, _request(params), own, keep=wish.keep))
        if wish.keep and identity is not None:
            found = made[-1]
            noise = wish.of_results(found.circuit, found.params, found.native.guarantee["bits"])
            sources[number] = Source(one.kernel.name, identity(found), noise)
    return made


def _searched(wishes: joint.Joint, linked: Sequence[links.Linked]) -> ParameterSet:
    """Return the smallest set for all kernels."""

    def lower(slots: Slots) -> joint.Programs:
        return tuple(one.search(slots) for one in linked)

    try:
        return choose.fewer_digits(choose.smallest(wishes, lower), wishes).params
    except ParameterError as error:
        raise _nothing_common([one.kernel for one in linked], [one.shapes for one in linked], str(error)) from None


def _nothing_common(kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes], reason: str) -> ParameterError:
    """Return the error that says what each kernel takes by itself."""
    alone = []
    for one, own in zip(kernels, shapes, strict=True):
        try:
            params = compile_kernel(one, own).params
        except ParameterError as error:
            return ParameterError(f"{one.name} has no parameters even by itself: {error}")
        alone.append(f"{one.name} takes n = {params.n}, {params.split}")
    told = f"these kernels share no parameters ({'; '.join(alone)}): {reason}; {_probably(kernels, shapes)}"
    return ParameterError(told + "compile them apart, each with a key of its own")


def _probably(kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes]) -> str:
    """Return the remedy of a weaker guarantee for all kernels, if it serves."""
    open_ones = not any(one.manual or one.params is not None or one.publish for one in kernels)
    if not open_ones or all(one.guarantee == PROBABLE for one in kernels):
        return ""
    try:
        n = degree([replace(one, guarantee=PROBABLE) for one in kernels], shapes)
    except RingsmithError:
        return ""
    return f'guarantee="{PROBABLE}" for all compiles at n = {n}; '


def _request(params: ParameterSet) -> ParamRequest:
    return ParamRequest(
        n=params.n, moduli=params.moduli, special=params.special, dnum=params.dnum,
        plain_modulus=params.plain_modulus or None, log2_scale=params.log2_scale or None, secret=params.secret,
        error=params.error, scheme=params.scheme, name="common", source="chosen for several kernels",
    )  # fmt: skip


def _pinned(
    kernel: KernelDefinition, shapes: Shapes, search: LayoutSearch | None, request: ParamRequest,
    sources: Mapping[str, Source] | None = None, *, keep: bool = False,
) -> Compiled:  # fmt: skip
    modulus = kernel.plain_modulus
    if modulus is not None and modulus != request.plain_modulus:
        raise ParameterError(
            f"kernel {kernel.name} computes modulo {modulus}, another needs plain_modulus {request.plain_modulus}"
        )
    return compile_kernel(
        kernel.options(params=request), shapes, None, choose.CPU_TOWER_BITS, search, sources, keep=keep, advise=False
    )


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
