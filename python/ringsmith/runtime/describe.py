# SPDX-License-Identifier: Apache-2.0
"""Contents of a ringsmith file, as facts: for people and scripts, never with a secret."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ringsmith import _native
from ringsmith.errors import FormatError, InputError
from ringsmith.interchange.objects import object_bytes
from ringsmith.runtime.identity import Role
from ringsmith.runtime.messages import opened
from ringsmith.runtime.program import Program
from ringsmith.runtime.rounds import Rounds
from ringsmith.runtime.trust import check_producer, taken_on_trust

Facts = dict[str, Any]


def describe(path: Path, *, listing: bool = False, producers: Sequence[Path] = ()) -> tuple[Facts, str]:
    """Return the facts about a file, and a program's listing if it is asked for.

    Parameters that are not secure are shown all the same: nothing is computed with them. What a program says of the
    results that it takes is compared with the `producers`, the files of programs that made them.

    Raises:
        InputError: the file is no such program, or what it says is false.
    """
    data = object_bytes(path)
    envelope = _native.object_kind(data)
    kind = envelope["kind"]
    if kind == "program":
        program = Program.from_bytes(data, allow_insecure=True)
        for producer in producers:
            check_producer(program, Program.from_bytes(object_bytes(producer), allow_insecure=True))
        return facts(program), program.native.listing() if listing else ""
    if producers:
        raise InputError(f"{path}: a {kind}; --made-by goes with a program")
    if kind == "message":
        return _message(data), ""
    return {"kind": kind, **_parameters(envelope), "bytes": envelope["bytes"]}, ""


def _parameters(envelope: Facts) -> Facts:
    return {} if envelope["kind"].endswith("parameters") else {"parameters": envelope["parameters"]}


def _secrecy(program: Program, name: str, *, encrypted: bool) -> str:
    made = program.signature.producers.get(name)
    if made is not None:
        return f"the result of {made[0]}"
    return "encrypted" if encrypted else "plain"


def facts(program: Program) -> Facts:
    """Return what there is to say of a program."""
    native, params = program.native, program.params
    arguments = [
        f"{name}: {_secrecy(program, name, encrypted=encrypted)} {tuple(shape)} in [{low:.6g}, {high:.6g}]"
        for name, shape, encrypted, low, high in native.arguments
    ]
    promised = native.guarantee
    if params.scheme == "ckks":
        guarantee = f"error below 2^{promised['bits']:.1f}, tolerance {promised['tolerance']:.3g}"
    else:
        guarantee = f"{promised['bits']:.1f} bits of noise budget left"
    judged = params.security
    return {
        "kind": "program",
        "name": native.name,
        "variant": native.variant,
        "hash": native.hash().hex(),
        "scheme": params.scheme,
        "n": params.n,
        "modulus": f"{params.split} bits, log2 QP {params.log2_qp:.1f}",
        "security": f"{judged.bits:.0f} bits" if judged.enough else f"INSECURE, about {judged.bits:.0f} bits",
        "arguments": arguments,
        "result": f"{tuple(native.result_shape)} in {len(native.outputs())} ciphertexts{_reading(native)}",
        "ciphertexts_in": len(native.inputs()),
        "inputs_under": f"the {native.encryption} {'public ' * (native.encryption == 'extended')}key",
        "operations": program.counts,
        "rotation_keys": program.rotation_keys,
        "guarantee": f"{promised['strength']}: {guarantee}, failing below 2^-{promised['failure_bits']}",
        "taken_on_trust": taken_on_trust(program),
        "publishable": promised["publish"],
        "bytes": len(native.to_bytes()),
    }


def _reading(native: _native.Program) -> str:
    if native.complex:
        return ", real and imaginary parts along the first axis"
    return f", to be divided by {native.divisor}" if native.divisor > 1 else ""


def facts_of(made: Program | Rounds) -> Facts:
    """Return what there is to say of a program, client-aided or not."""
    return facts(made) if isinstance(made, Program) else _rounds(made, len(made.to_bytes()))


def _rounds(rounds: Rounds, size: int) -> Facts:
    functions = (applied.function.name for one in rounds.plan.rounds for applied in one.applied)
    deepest = facts(rounds.deepest)
    return {
        "kind": str(Role.ROUNDS),
        "name": rounds.signature.name,
        "rounds": [f"program {program.native.hash().hex()}" for program in rounds.programs],
        "functions": [name for name in dict.fromkeys(functions) if name],
        **{name: deepest[name] for name in ("scheme", "n", "modulus", "security")},
        "operations": rounds.counts,
        "bytes": size,
    }


def _message(data: bytes) -> Facts:
    label, parts = opened(data)
    if label.role is Role.ROUNDS:
        return _rounds(Rounds.of_parts(parts, allow_insecure=True), len(data))
    shown: Facts = {
        "kind": f"message: {label.role}",
        "of_program": label.program.digest.hex(),
        "key": label.key,
    }
    if label.role is Role.CLIENT:
        return {**shown, "holds": "a secret key: keep it to yourself", "bytes": len(data)}
    objects = []
    for part in parts:
        try:
            objects.append(f"{_native.object_kind(part)['kind']}, {len(part)} bytes")
        except FormatError:
            if part:
                objects.append(f"{len(part)} bytes")
    return {**shown, "objects": objects, "bytes": len(data)}
