# SPDX-License-Identifier: Apache-2.0
"""Several kernels compiled for one parameter set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ringsmith.compiler.compile import compile_kernel
from ringsmith.compiler.params.choose import DEGREES
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.errors import KernelError, ParameterError
from ringsmith.frontend.definition import KernelDefinition
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.runtime.program import Program

Shapes = Mapping[str, tuple[int, ...]]

#: By how many bits scales may exceed those of the kernels' own sets: what one's depth costs the other's precision.
_MORE_BITS = (0, 5, 10, 15)
_MOST_BITS = 60


def compile_for_one_set(kernels: Sequence[KernelDefinition], shapes: Sequence[Shapes]) -> list[Program]:
    """Compile kernels of one scheme for the smallest of their own sets that does for all, else for one with the depth,
    scale and plaintext modulus of the most demanding. `shapes` has an entry for every argument."""
    alone = [Program.of(compile_kernel(one, own)) for one, own in zip(kernels, shapes, strict=True)]
    if len({program.params for program in alone}) == 1:
        return alone
    reason = ""
    for request in _requests([program.params for program in alone]):
        try:
            return [_pinned(*each, request) for each in zip(kernels, shapes, alone, strict=True)]
        except (KernelError, ParameterError) as error:
            reason = str(error).splitlines()[0]
    own = "; ".join(f"{p.signature.name} takes n = {p.params.n}, {p.params.split}" for p in alone)
    raise ParameterError(f"these kernels share no parameters ({own}): {reason}")


def _pinned(kernel: KernelDefinition, shapes: Shapes, alone: Program, request: ParamRequest) -> Program:
    if kernel.params is not None and alone.params.moduli != request.moduli:
        raise ParameterError(f"kernel {kernel.name} pins its parameters (params=...)")
    return Program.of(compile_kernel(kernel.options(params=request, plain_modulus=None), shapes))


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
