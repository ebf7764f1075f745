# SPDX-License-Identifier: Apache-2.0
"""Several kernels under one parameter set, so that one secret key serves them all."""

from __future__ import annotations

from collections.abc import Sequence

from ringsmith.compiler.together import Shapes, compile_together
from ringsmith.errors import InputError, ParameterError
from ringsmith.progress import Told, telling
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.program import Program


def compile(
    kernels: Sequence[Kernel], shapes: Sequence[Shapes] | None = None, *, progress: Told | None = None
) -> list[Program]:
    """Compile kernels of one scheme for one parameter set: `client.for_program` then serves them with one secret key.

    `shapes`: for each kernel those of its arguments with open extents. The set is the smallest under which the
    bounds of all of them hold.
    `progress` is told in words what is done.
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
    with telling(progress):
        made = compile_together(kernels, given, lambda one: Program.of(one).identity.digest)
        return [Program.of(one) for one in made]
