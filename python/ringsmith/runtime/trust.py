# SPDX-License-Identifier: Apache-2.0
"""What a program's guarantee takes on trust: promises of its author, and what it says of another program's results."""

from __future__ import annotations

import math

from ringsmith.errors import InputError
from ringsmith.runtime.program_data import ProgramData

#: Two programs computed the same noise if it differs by less, in bits.
_SAME_BITS = 1e-6


def taken_on_trust(program: ProgramData) -> list[str]:
    """Return a line for each thing that the guarantee rests on and no server can check.

    Promises that the compiler proved are left out where it ran; a file only says that they are promises.
    """
    native = program.native
    lines = []
    for place, bound, error in native.promises():
        if (place, bound) not in program.proven:
            lines.append(f"values at {place} stay within {bound:.6g} (rs.within)")
        if math.isfinite(error):
            lines.append(f"errors at {place} stay within {error:.6g} (rs.within)")
    # A loop makes its promise in every turn.
    lines = list(dict.fromkeys(lines))
    for name, own in program.signature.producers.items():
        for output, _, _, noise in native.handed(name):
            lines.append(f"{name}: output {output} of {own[0]} {_said(program, noise)}")
    return lines


def _said(program: ProgramData, noise: tuple[float, float, float]) -> str:
    first, second, _ = noise
    if program.params.scheme == "ckks":
        return f"is off by 2^{first:.1f} at most, and at most {second:.6g}"
    return f"has noise of 2^{first / 2:.1f}, with {second:.0f} factors of the secret"


def check_producer(program: ProgramData, producer: ProgramData) -> None:
    """Compare what a program says of another's results with that other program.

    Raises:
        InputError: it takes no result of it, or says of one that it is more exact, smaller, or of another level or
            scale than that program guarantees.
    """
    names = [name for name, own in program.signature.producers.items() if own[1] == producer.identity.digest]
    if not names:
        raise InputError(f"{program.signature.name} takes no result of {producer.signature.name}")
    outputs, promised = producer.native.outputs(), producer.native.results()
    for name in names:
        for output, level, scale, noise in program.native.handed(name):
            where = f"{program.signature.name}: argument {name}, output {output} of {producer.signature.name}"
            if output >= len(outputs):
                raise InputError(f"{where}: there are {len(outputs)} outputs")
            own = outputs[output]
            if (own["level"], own["scale"]) != (level, scale):
                told = f"level {level}, scale 2^{math.log2(scale):.4f}"
                raise InputError(f"{where}: {told} claimed, {own['level']}, 2^{math.log2(own['scale']):.4f} is right")
            _check_noise(where, noise, promised[output])


def _check_noise(where: str, claimed: tuple[float, float, float], right: tuple[float, float, float]) -> None:
    if claimed[0] < right[0] - _SAME_BITS:
        raise InputError(f"{where}: noise of 2^{claimed[0]:.2f} claimed, that program guarantees 2^{right[0]:.2f}")
    if any(own < true * (1 - _SAME_BITS) for own, true in zip(claimed[1:], right[1:], strict=True)):
        raise InputError(f"{where}: at most {claimed[1]:.6g} claimed, that program guarantees {right[1]:.6g}")
