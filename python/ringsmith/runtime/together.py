# SPDX-License-Identifier: Apache-2.0
"""Several kernels under one parameter set, so that one secret key serves them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ringsmith.compiler.params.choose import DEGREES
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.errors import InputError, KernelError, ParameterError
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.program import Program

Shapes = Mapping[str, tuple[int, ...]]

#: By how many bits scales may exceed those of the kernels' own sets: what one's depth costs the other's precision.
_MORE_BITS = (0, 5, 10, 15)
_MOST_BITS = 60


def compile(kernels: Sequence[Kernel], shapes: Sequence[Shapes] | None = None) -> list[Program]:
    """Compile kernels of one scheme for one parameter set: `client.for_program` then serves them with one secret key.

    `shapes`: for each kernel those of its arguments with open extents. The smallest of the kernels' own sets that does
    for all is taken, else one with the depth, scale and plaintext modulus of the most demanding.
    """
    kernels = list(kernels) if isinstance(kernels, Sequence) else [kernels]
    if not kernels or not all(isinstance(one, Kernel) for one in kernels):
        raise InputError("compile takes a list of kernels: rs.compile([f, g])")
    given = [{} for _ in kernels] if shapes is None else list(shapes)
    if len(given) != len(kernels):
        raise InputError(f"compile: {len(given)} shapes for {len(kernels)} kernels; give one mapping for each")
    schemes = {one.scheme for one in kernels}
    if len(schemes) > 1:
        named = ", ".join(f"{one.name} is {one.scheme}" for one in kernels)
        raise ParameterError(f"kernels of two schemes share no parameters: {named}")
    alone = [one.compile(**own) for one, own in zip(kernels, given, strict=True)]
    reason = ""
    for request in _requests([program.params for program in alone]):
        try:
            return [_pinned(one, own, request) for one, own in zip(kernels, given, strict=True)]
        except (KernelError, ParameterError) as error:
            reason = str(error).splitlines()[0]
    own = "; ".join(f"{p.signature.name} takes n = {p.params.n}, {p.params.split}" for p in alone)
    raise ParameterError(f"these kernels share no parameters ({own}): {reason}")


def _pinned(kernel: Kernel, shapes: Shapes, request: ParamRequest) -> Program:
    if kernel.params is not None and kernel.compile(**shapes).params.moduli != request.moduli:
        raise ParameterError(f"kernel {kernel.name} pins its parameters (params=...)")
    return kernel.options(params=request, plain_modulus=None).compile(**shapes)


def _requests(sets: Sequence[ParameterSet]) -> Iterator[ParamRequest]:
    """Yield sets to try: the kernels' own from the smallest, then what demands most of each."""
    modulus = max(own.plain_modulus for own in sets) or None
    for own in sorted(sets, key=lambda own: (own.n, own.log2_qp)):
        if (own.plain_modulus or None) == modulus:
            yield ParamRequest(
                n=own.n, moduli=own.moduli, special=own.special, dnum=own.dnum, plain_modulus=modulus,
                log2_scale=own.log2_scale or None, secret=own.secret, error=own.error, scheme=own.scheme,
                name="common", source="chosen for several kernels",
            )  # fmt: skip
    most = max(sets, key=lambda own: len(own.moduli))
    base = max(own.moduli[0].bit_length() for own in sets)
    least = max(round(own.log2_scale) for own in sets)
    step = max([least, *(q.bit_length() for q in most.moduli[1:])])
    for n in (n for n in DEGREES if n >= max(own.n for own in sets)):
        for more in _MORE_BITS if least else (0,):
            data = (min(base + more, _MOST_BITS), *([min(step + more, _MOST_BITS)] * (len(most.moduli) - 1)))
            yield ParamRequest(
                n=n, data_bits=data, special_bits=(max(data),), log2_scale=data[-1] if least else None,
                plain_modulus=modulus, name="common", source="chosen for several kernels",
            )  # fmt: skip
