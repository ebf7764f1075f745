# SPDX-License-Identifier: Apache-2.0
"""The range of a manual BFV kernel's results: its operations' magnitudes, from the declared ones on."""

from __future__ import annotations

from ringsmith.ir.circuit import Circuit, Step
from ringsmith.ir.kinds import Kind

# Larger than every plaintext modulus.
_CAP = 1 << 80


def largest_result(circuit: Circuit) -> int:
    """Return the largest magnitude that a slot of a result can have."""
    names = [name for name, packing in circuit.inputs.items() for _ in packing.gather]
    values: list[int] = []
    for step in circuit.steps:
        if step.kind is Kind.INPUT:
            values.append(int(circuit.bounds[names[len(values)]]))
        else:
            values.append(min(_CAP, _magnitude(circuit, step, [values[arg] for arg in step.args])))
    return max(values[number] for number in circuit.outputs)


def _magnitude(circuit: Circuit, step: Step, args: list[int]) -> int:
    plain = int(circuit.plains[step.plain].bound) if step.plain >= 0 else 0
    match step.kind:
        case Kind.ADD | Kind.SUB:
            return args[0] + args[1]
        case Kind.ADD_PLAIN | Kind.SUB_PLAIN:
            return args[0] + plain
        case Kind.MULTIPLY:
            return args[0] * args[1]
        case Kind.SQUARE:
            return args[0] ** 2
        case Kind.MULTIPLY_PLAIN:
            return args[0] * plain
        case Kind.WITHIN:
            return min(args[0], int(step.bound))
        case Kind.ENCRYPT_ZERO:
            return 0
    return args[0]
