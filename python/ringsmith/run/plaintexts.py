# SPDX-License-Identifier: Apache-2.0
"""Plaintexts measured: whether a program's noise guarantee holds for the very values it is to compute with.

The guarantee takes most plaintexts to be ordinary (`params.noise`). Values made to that end spread noise further, or
lose more when they are rounded: they are found here, before anything is computed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.kernel.circuit import Circuit
from ringsmith.kernel.graph import Node, Op
from ringsmith.params import noise
from ringsmith.params.sets import ParameterSet
from ringsmith.run.execute import plain_values
from ringsmith.run.scheme import Scheme, open_scheme, side_by_side

if TYPE_CHECKING:
    from ringsmith.run.program import Program

Array = NDArray[Any]
# What rounding in the walks' own doubles can change.
_SLACK = 1e-9


def measure(circuit: Circuit, scheme: Scheme, values: Sequence[Array], *, constants: bool = False) -> noise.Effects:
    """Return what the plaintexts do to the noise: all of them, or the constants."""
    encodings = noise.encodings(circuit)
    keys = [key for key, step in encodings.items() if not constants or circuit.plains[step.plain].constant]
    return dict(zip(keys, side_by_side(lambda key: scheme.effect(values[key[0]], key[1]), keys), strict=True))


def constants_are_ordinary(circuit: Circuit, params: ParameterSet) -> bool:
    """Tell whether no constant of a circuit is contrived."""
    known = [plain.constant for plain in circuit.plains]
    if not any(known[number] for number, _ in noise.encodings(circuit)):
        return True
    # Plaintexts of arguments have no values yet; a constant stands in for them.
    some = circuit.plains[known.index(True)]
    plains = tuple(plain if plain.constant else some for plain in circuit.plains)
    values = plain_values(replace(circuit, plains=plains), {})
    effects = measure(circuit, open_scheme(params), values, constants=True)
    return max(effects.values(), default=-math.inf) <= noise.ordinary_effect(params)


def check(program: Program, scheme: Scheme, values: Sequence[Array]) -> None:
    """Refuse plaintexts under which the program's noise guarantee would not hold."""
    circuit, params = program.circuit, program.params
    if not _matter(program):
        return
    effects = measure(circuit, scheme, values)
    ordinary = noise.ordinary_effect(params)
    if max(effects.values()) <= ordinary or _holds(program, noise.Plaintexts(measured=effects)):
        return
    worst = max(effects, key=lambda key: effects[key])
    raise InputError(_refusal(program, circuit.plains[worst[0]].node, effects[worst], ordinary))


@lru_cache(maxsize=8)
def _matter(program: Program) -> bool:
    """Tell whether some plaintexts could break the guarantee."""
    return bool(noise.encodings(program.circuit)) and not _holds(program, noise.WORST)


def _holds(program: Program, plaintexts: noise.Plaintexts) -> bool:
    """Tell whether the guarantee holds for plaintexts."""
    bits = noise.failure_bits_of(publish=program.signature.publish)
    more: Mapping[str, Any] = {"encryption": program.encryption, "plaintexts": plaintexts, "failure_bits": bits}
    if program.params.scheme == "bfv":
        return noise.bfv(program.circuit, program.params, **more)[0] >= program.noise_bits - _SLACK
    return noise.ckks(program.circuit, program.params, **more).log2_error <= program.noise_bits + _SLACK


def _refusal(program: Program, node: Node, effect: float, ordinary: float) -> str:
    names = ", ".join(sorted(_arguments(node))) or "a constant"
    if program.params.scheme == "bfv":
        harm = f"multiply noise by up to 2^{effect / 2:.1f}, ordinary values by at most 2^{ordinary / 2:.1f}"
        promise = f"the result might decrypt wrongly ({program.noise_bits:.1f} bits of noise budget are promised)"
    else:
        harm = f"lose up to {effect:.3g} units of their scale in rounding, ordinary values at most {ordinary:.3g}"
        promise = f"the error might exceed {noise.power_of_two(program.noise_bits)}, which is promised"
    return (
        f"{program.signature.name}: the values of {names} {harm}: {promise}; "
        "make the kernel with worst_case=True, which makes room for any values"
    )


def _arguments(node: Node) -> set[str]:
    """Return the arguments that have part in a plaintext."""
    names, seen, pending = set(), {id(node)}, [node]
    while pending:
        current = pending.pop()
        if current.op is Op.INPUT:
            names.add(current.attributes["name"])
        pending.extend(arg for arg in current.args if id(arg) not in seen)
        seen.update(map(id, current.args))
    return names
