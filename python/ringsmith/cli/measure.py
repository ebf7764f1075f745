# SPDX-License-Identifier: Apache-2.0
"""One measurement of `ringsmith simulate`: an instruction, an operation or a whole operation on a device."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.presets import CONVERSIONS, OPERATIONS
from ringsmith.runtime.devices import OpenDevice

# Conversions that are instructions where a build has moves.
MOVES = ("decomp",)

# Operations that bring their own parameter set, keys and ciphertexts; a key switch does so where a build has moves.
MULTIPLY, ROTATE, KEY_SWITCH = "multiply", "rotate", "key-switch"
# A product of ciphertexts, back to two parts and divided by its last prime.
RELINEARIZE = "relinearize-rescale"
ONE_AFTER_THE_OTHER = "relinearize-then-rescale"
WHOLE = (MULTIPLY, ROTATE, RELINEARIZE)
# Data primes of a key switch.
PRIMES = 2


@dataclass(frozen=True, kw_only=True)
class Whole:
    """Settings of a whole operation: policy, how many on all cores, data primes; of key switches the rest.

    Without `primes` a multiplication has one for each lane but one, a key switch `PRIMES`.
    """

    allow_insecure: bool = False
    batch: int = 1
    primes: int | None = None
    special: int = 1
    digit_primes: int = 1
    data_bits: int | None = None
    purpose: str = "rotation"
    count: int = 1
    digit_major: bool = False


_ONE = Whole()


def measure(device: OpenDevice, op: str, n: int, what: Whole = _ONE) -> dict[str, Any]:
    """Run one instruction or operation on random operands and return cycles, prediction, check and timelines."""
    native, bits = device.native, min(device.preset.lane_bits())
    if op == MULTIPLY:
        return native.simulate_multiplication(
            bits, n, primes=what.primes, allow_insecure=what.allow_insecure, batch=what.batch
        )
    if switches_keys(op, device.preset.moves):
        return native.simulate_key_switch(bits, n, **asdict(what) | {"primes": what.primes or PRIMES})
    moduli = _native.default_moduli(list(device.preset.lane_bits()), n, device.preset.n_max)
    if op in OPERATIONS:
        if op not in device.preset.operations:
            able = ", ".join(device.preset.operations)
            raise InputError(f"preset {device.preset.name} does not take {op}; it takes {able}")
        return device.native.simulate_operation(op, moduli, n, values=device.preset.values)
    # With moves the digit is an instruction.
    if op in CONVERSIONS and not (op in MOVES and device.preset.moves):
        return device.native.simulate_conversion(op, moduli, n)
    return device.native.simulate_instruction(op, moduli, n)


def is_key_switch(op: str, moves: int) -> bool:
    """Return whether an operation is a whole key switch; a build without moves measures the products of one."""
    return op == KEY_SWITCH and moves != 0


def switches_keys(op: str, moves: int) -> bool:
    """Return whether an operation takes special primes and digits."""
    return op in (ROTATE, RELINEARIZE) or is_key_switch(op, moves)


def is_whole(op: str, moves: int) -> bool:
    """Return whether an operation brings its own parameter set, keys and ciphertexts."""
    return op in WHOLE or is_key_switch(op, moves)
